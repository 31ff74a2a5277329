#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Compares the CRDs with those of the last release, and fails if an object that was valid may not be any more, or a field is
# gone. Such a change needs a new version: see docs/releases.md.
#
#   hack/verify-api.sh           compares with the last tag of a release, which -rc.1 is not; without one it says so
#   hack/verify-api.sh COMMIT    compares with that
#
# Who makes an incompatible change on purpose, names the version in which it comes: API_BREAKS_IN=v0.3.0.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

compatible() { go tool -modfile=hack/tools/crdify/go.mod crdify --config=hack/tools/crdify/config.yaml "file://$1" "file://$2"; }

# Reports whether a version may break the API of another one: its major is newer, or, before v1.0.0, its minor.
may_break() {
  local old new
  IFS=. read -r -a old <<<"${1#v}"
  IFS=. read -r -a new <<<"${2#v}"
  ((new[0] > old[0] || (new[0] == 0 && old[0] == 0 && new[1] > old[1])))
}

# A gate that cannot fail is none: it has to find the field that these CRDs have lost, and to know a patch from a minor version.
check_gate() {
  local crd="artifacts/crds/apps.fairlead.dev_applications.yaml" planted="$work/planted.yaml"
  sed '0,/^            properties:$/s//&\n              planted:\n                type: string/' "$crd" >"$planted"
  if cmp --silent "$crd" "$planted"; then
    echo "verify-api: no field could be planted into $crd" >&2
    return 1
  fi
  if ! compatible "$crd" "$crd" >"$work/log" 2>&1; then
    echo "verify-api: the comparison fails for a CRD and itself:" >&2
    cat "$work/log" >&2
    return 1
  fi
  if compatible "$planted" "$crd" >"$work/log" 2>&1 || ! grep --quiet planted "$work/log"; then
    echo "verify-api: the comparison does not find the field that is gone; its output was:" >&2
    cat "$work/log" >&2
    return 1
  fi
  if ! may_break v0.2.0 v0.3.0 || ! may_break v0.9.1 v1.0.0 || ! may_break v1.4.0 v2.0.0 ||
    may_break v0.2.0 v0.2.1 || may_break v0.2.0 v0.1.0 || may_break v1.2.0 v1.3.0 || may_break v1.0.0 v0.9.0; then
    echo "verify-api: may_break takes a wrong version" >&2
    return 1
  fi
}

check_gate

base="${1:-$(git describe --tags --abbrev=0 --match 'v[0-9]*.[0-9]*.[0-9]*' --exclude '*-*' 2>/dev/null || true)}"
if [[ -z "$base" ]]; then
  echo "There is no release to compare the CRDs with yet."
  exit
fi

git archive "$base" artifacts/crds | tar --extract --directory="$work"
status=0
for crd in "$work"/artifacts/crds/*.yaml; do
  name="$(basename "$crd")"
  if [[ ! -e "artifacts/crds/$name" ]]; then
    echo "$name is gone since $base"
    status=1
    continue
  fi
  compatible "$crd" "artifacts/crds/$name" || status=1
done
if [[ "$status" -eq 0 ]]; then
  echo "The CRDs are compatible with $base."
  exit
fi

if [[ -n "${API_BREAKS_IN:-}" ]] && may_break "$base" "$API_BREAKS_IN"; then
  echo "The CRDs are not compatible with $base; $API_BREAKS_IN says so by its number. Say in CHANGELOG.md what users have to change."
  exit
fi
echo "The CRDs are not compatible with $base, see above. Change them back, or set API_BREAKS_IN to the version that breaks the API." >&2
exit 1
