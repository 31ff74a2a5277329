#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Builds the image of the controller and the aggregated API server from the Dockerfile, with whichever of docker, podman and buildah works here.
#
#   IMAGE=registry.example.com/fairlead-controller:v0.1.0    its name; default: localhost/fairlead-controller:dev
#   IMAGE_BUILDER=buildah                                    this one and no other
#
# Further arguments go to the builder, e.g. --platform=linux/arm64 or --build-arg=GOPROXY=https://proxy.example.com
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

image="${IMAGE:-localhost/fairlead-controller:dev}"

# A docker command without a daemon is of no use.
works() { command -v "$1" >/dev/null && { [[ "$1" != docker ]] || docker version >/dev/null 2>&1; }; }

builder() {
  local candidate
  for candidate in ${IMAGE_BUILDER:-docker podman buildah}; do
    if works "$candidate"; then
      echo "$candidate"
      return
    fi
  done
  echo "image: ${IMAGE_BUILDER:-none of docker (with its daemon running), podman and buildah} works here;" \
    "install one of them, e.g. 'apt-get install buildah' on Debian and Ubuntu" >&2
  return 1
}

tool="$(builder)"
ldflags="$(hack/build.sh --ldflags)"
stamp() { sed -n "s/.* -X [^ ]*\.$1=\([^ ]*\).*/\1/p" <<<"$ldflags"; }
created="$(stamp buildDate)"
epoch="$(date --utc --date="$created" +%s 2>/dev/null || date -ju -f %Y-%m-%dT%H:%M:%SZ "$created" +%s)"

arguments=(
  --file=Dockerfile
  --tag="$image"
  --build-arg=LDFLAGS="$ldflags"
  --build-arg=VERSION="$(stamp gitVersion)"
  --build-arg=REVISION="$(stamp gitCommit)"
  --build-arg=CREATED="$created"
)
# The times in the image are those of the commit, not of the build.
case "$tool" in
docker)
  export DOCKER_BUILDKIT=1
  command=(docker build)
  arguments+=(--build-arg=SOURCE_DATE_EPOCH="$epoch")
  ;;
podman) command=(podman build --timestamp="$epoch") ;;
buildah) command=(buildah build --timestamp="$epoch") ;;
*)
  echo "image: IMAGE_BUILDER is $tool, but must be docker, podman or buildah" >&2
  exit 1
  ;;
esac

echo ">> building $image with $tool"
"${command[@]}" "${arguments[@]}" "$@" .
echo "built: $image"
