#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Compiles a command into bin, static and with its version stamped in.
#
#   hack/build.sh ./cmd/fairlead-controller
#   hack/build.sh ./hack/demo fairlead-demo    under another name than its directory's
#   hack/build.sh ./cmd/kubectl-fairlead       a command that is a module of its own
#   hack/build.sh --ldflags                    only print what stamps the version; hack/image.sh hands it to the Dockerfile
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
# shellcheck source=hack/progress.sh
source hack/progress.sh

# The version as git knows it, as a semantic version:
#
#   on the tag v0.2.0                v0.2.0
#   3 commits after it               v0.2.1-dev.3+4eee1c3    (sorts after v0.2.0 and before v0.2.1)
#   no tag yet                       v0.0.0-dev+4eee1c3
#   with uncommitted changes         …+4eee1c3.dirty
#   no git                           v0.0.0-dev
version() {
  local commit="$1" state="$2" tag distance metadata
  if [[ -z "$commit" ]]; then
    echo "v0.0.0-dev"
    return
  fi
  metadata="${commit:0:7}"
  if [[ "$state" == dirty ]]; then
    metadata="$metadata.dirty"
  fi
  tag="$(git describe --tags --abbrev=0 --match 'v[0-9]*.[0-9]*.[0-9]*' 2>/dev/null || true)"
  if [[ ! "$tag" =~ ^v([0-9]+)\.([0-9]+)\.([0-9]+)(-[0-9A-Za-z.-]+)?$ ]]; then
    echo "v0.0.0-dev+$metadata"
    return
  fi
  distance="$(git rev-list --count "$tag..HEAD")"
  if [[ "$distance" == 0 && "$state" == clean ]]; then
    echo "$tag"
  elif [[ -n "${BASH_REMATCH[4]}" ]]; then
    echo "$tag.dev.$distance+$metadata"
  else
    echo "v${BASH_REMATCH[1]}.${BASH_REMATCH[2]}.$((BASH_REMATCH[3] + 1))-dev.$distance+$metadata"
  fi
}

ldflags() {
  local commit state="archive" date="1970-01-01T00:00:00Z" package="k8s.io/component-base/version"
  commit="$(git rev-parse HEAD 2>/dev/null || true)"
  if [[ -n "$commit" ]]; then
    state="clean"
    if [[ -n "$(git status --porcelain --untracked-files=no)" ]]; then
      state="dirty"
    fi
    # The commit's time, not the clock's: the same source gives the same binary.
    date="$(TZ=UTC0 git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)"
  fi
  printf -- '-s -w'
  printf -- ' -X %s.gitVersion=%s' "$package" "$(version "$commit" "$state")"
  printf -- ' -X %s.gitCommit=%s' "$package" "$commit"
  printf -- ' -X %s.gitTreeState=%s' "$package" "$state"
  printf -- ' -X %s.buildDate=%s' "$package" "$date"
}

if [[ "$1" == --ldflags ]]; then
  ldflags
  exit
fi

package="$1"
name="${2:-$(basename "$package")}"
module="."
if [[ -f "$package/go.mod" ]]; then
  module="$package"
  package="."
fi
echo ">> building bin/$name"
CGO_ENABLED=0 go -C "$module" build -v -trimpath -buildvcs=false -ldflags "$(ldflags)" -o "$root/bin/$name" "$package" 2>&1 | progress "$name"
