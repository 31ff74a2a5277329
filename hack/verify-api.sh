#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Compares the CRDs with those of the last release, and fails if an object that was valid may not be any more, or a field is
# gone. Such a change needs a new version: see docs/releases.md.
#
#   hack/verify-api.sh           compares with the last tag; without one it says so
#   hack/verify-api.sh COMMIT    compares with that
#
# Who makes an incompatible change on purpose, names the version in which it comes: API_BREAKS_IN=v0.3.0.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

base="${1:-$(git describe --tags --abbrev=0 --match 'v[0-9]*.[0-9]*.[0-9]*' 2>/dev/null || true)}"
if [[ -z "$base" ]]; then
  echo "There is no release to compare the CRDs with yet."
  exit
fi

old="$(mktemp -d)"
trap 'rm -rf "$old"' EXIT
git archive "$base" artifacts/crds | tar --extract --directory="$old"

status=0
for crd in "$old"/artifacts/crds/*.yaml; do
  name="$(basename "$crd")"
  if [[ ! -e "artifacts/crds/$name" ]]; then
    echo "$name is gone since $base"
    status=1
    continue
  fi
  go tool -modfile=hack/tools/crdify/go.mod crdify --config=hack/tools/crdify/config.yaml "file://$crd" "file://artifacts/crds/$name" || status=1
done
if [[ "$status" -eq 0 ]]; then
  echo "The CRDs are compatible with $base."
  exit
fi

# The minor version must be a newer one, or the major.
if [[ -n "${API_BREAKS_IN:-}" && "${API_BREAKS_IN%.*}" != "${base%.*}" &&
  "$(printf '%s\n%s\n' "$base" "$API_BREAKS_IN" | sort --version-sort | tail -n 1)" == "$API_BREAKS_IN" ]]; then
  echo "The CRDs are not compatible with $base; $API_BREAKS_IN says so by its number. Say in CHANGELOG.md what users have to change."
  exit
fi
echo "The CRDs are not compatible with $base, see above. Change them back, or set API_BREAKS_IN to the minor version that breaks the API." >&2
exit 1
