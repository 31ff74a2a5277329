#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Generates everything again in a copy of this checkout and fails if anything comes out differently.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT

# What git knows and what is new, as it is in the working tree; not bin.
git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
  [[ ! -e "$file" ]] || printf '%s\0' "$file"
done | tar --null --files-from=- --create --file=- | tar --extract --file=- --directory="$copy"

# A repository of its own shows what the generators change, add and delete in the copy.
in_copy() { git -C "$copy" -c core.hooksPath=/dev/null -c core.autocrlf=false -c core.excludesFile=/dev/null "$@"; }
in_copy init --quiet
in_copy add --all

OUT="$copy" "$copy/hack/update-codegen.sh"

in_copy add --all --intent-to-add
if ! in_copy diff --stat --exit-code; then
  in_copy --no-pager diff | head -n 100
  echo "verify-codegen: the generated files above are not current: run make generate, and commit the result" >&2
  exit 1
fi
