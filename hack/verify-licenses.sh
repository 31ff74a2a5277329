#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Checks that everything that a release links has a license that lets us pass it on under the Apache License 2.0.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

allowed="Apache-2.0,BSD-2-Clause,BSD-2-Clause-FreeBSD,BSD-3-Clause,ISC,MIT,0BSD,Unlicense"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -trimpath -buildvcs=false -modfile=hack/tools/licenses/go.mod -o "$work/go-licenses" github.com/google/go-licenses/v2
# Without GOROOT a trimmed go-licenses finds no standard library, prints nothing and succeeds.
GOROOT="$(go env GOROOT)"
export GOROOT

# check DIRECTORY LICENSES
check() { (cd "$1" && "$work/go-licenses" check . --allowed_licenses="$2" --ignore fairlead.dev/fairlead); }

# A gate that cannot fail is none: with one license allowed it has to find the others.
if check cmd/fairlead-controller Apache-2.0 >"$work/log" 2>&1; then
  echo "verify-licenses: go-licenses finds only the Apache License, so it does not work here; its output was:" >&2
  cat "$work/log" >&2
  exit 1
fi

status=0
for main in cmd/*/main.go; do
  directory="$(dirname "$main")"
  if ! check "$directory" "$allowed" >"$work/log" 2>&1; then
    echo "$directory links what none of $allowed covers:"
    grep -v 'contains non-Go code' "$work/log" || cat "$work/log"
    status=1
  fi
done
exit "$status"
