#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Checks that what is generated or mechanical is as it should be. Every check runs, so that one call shows everything.
#
#   hack/verify.sh          every check
#   hack/verify.sh gofmt    the checks of these names
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

names=("$@")
failed=()
unavailable=()
selected() {
  local name
  [[ "${#names[@]}" -gt 0 ]] || return 0
  for name in "${names[@]}"; do [[ "$name" != "$1" ]] || return 0; done
  return 1
}
check() {
  selected "$1" || return 0
  printf '>> %s\n' "$1"
  "${@:2}" || failed+=("$1")
}

files() { git ls-files -co --exclude-standard -- "$@" | while read -r file; do [[ ! -e "$file" ]] || echo "$file"; done; }

check_gofmt() {
  local unformatted
  unformatted="$(files '*.go' | xargs gofmt -l)"
  if [[ -n "$unformatted" ]]; then
    printf 'not formatted, run gofmt -w on:\n%s\n' "$unformatted"
    return 1
  fi
}

# Every file that a person wrote names the license in its first lines.
check_license() {
  local missing
  missing="$(files '*.go' '*.sh' .ci/run Makefile Dockerfile '*Dockerfile' | while read -r file; do
    head -n 6 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$file"
  done)"
  if [[ -n "$missing" ]]; then
    printf 'without the header of hack/boilerplate.go.txt:\n%s\n' "$missing"
    return 1
  fi
}

check_modules() {
  local file directory status=0
  while read -r file; do
    directory="$(dirname "$file")"
    if ! go -C "$directory" mod tidy -diff; then
      echo "$file is not tidy: run go mod tidy in $directory"
      status=1
    fi
  done < <(files 'go.mod' '*/go.mod')
  return "$status"
}

check "gofmt" check_gofmt
check "license headers" check_license
check "go mod tidy, in every module" check_modules
check "generated files" hack/verify-codegen.sh
check "libraries of the live view" hack/vendor-page.sh --check
check "artifacts/install.yaml and the webhook configurations" go test -buildvcs=false ./hack/artifacts -run '^TestGenerated$'
check "docs/fields.md" go test -buildvcs=false ./hack/fields
check "API compatibility with the last release" hack/verify-api.sh
check "licenses" hack/verify-licenses.sh
check "known vulnerabilities" hack/vulnerabilities.sh
if selected "known vulnerabilities" && [[ -z "${GOVULNDB:-}" ]]; then unavailable+=("known vulnerabilities"); fi

if [[ "${#failed[@]}" -gt 0 ]]; then
  printf 'verify: failed:'
  printf ' [%s]' "${failed[@]}"
  printf '\n'
  exit 1
fi
if [[ "${#unavailable[@]}" -gt 0 ]]; then
  printf 'verify: what ran is as it should be; NOT RUN:'
  printf ' [%s]' "${unavailable[@]}"
  printf '\n'
  exit
fi
echo "verify: everything is as it should be"
