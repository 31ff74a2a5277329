#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Copies the libraries of the live pipeline view, and axe-core for its tests, from npm into this repository, exactly as
# they were published. hack/page has their versions, and the integrity hash of each package.
#
#   hack/vendor-page.sh            fetches the packages; needs npm and the network
#   hack/vendor-page.sh --check    compares the files with SHA256SUMS beside them; needs neither
#
# A new version: change hack/page/package.json, run
#   npm --prefix hack/page install --package-lock-only --omit-lockfile-registry-resolved
# and then this script.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

# Not called vendor: Go leaves directories of that name out of a module's zip.
page=pkg/debug/page/static/lib
tests=pkg/debug/page/browser/testdata/lib

sums() { (cd "$1" && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum); }

# The lists are compared as a whole, so a file too many is found as well.
check() {
  local directory status=0
  for directory in "$page" "$tests"; do
    if ! diff -u "$directory/SHA256SUMS" <(sums "$directory"); then
      echo "$directory is not what SHA256SUMS says; hack/vendor-page.sh fetches both again" >&2
      status=1
    fi
  done
  return "$status"
}

if [[ "${1:-}" == --check ]]; then
  check
  exit
fi

if ! command -v npm >/dev/null; then
  echo "vendor-page: npm is missing; install it: apt-get install npm" >&2
  exit 1
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cp hack/page/package.json hack/page/package-lock.json "$work"
# npm ci takes what the lock file names and nothing else, and compares each package with its hash. No package runs code.
npm --prefix "$work" ci --ignore-scripts --no-audit --no-fund --legacy-peer-deps

packages="$work/node_modules"
rm -rf "$page" "$tests"
mkdir -p "$page" "$tests"
cp "$packages/preact/dist/preact.mjs" "$packages/htm/dist/htm.mjs" "$page"
cp "$packages/uplot/dist/uPlot.esm.js" "$packages/uplot/dist/uPlot.min.css" "$page"
cp "$packages/axe-core/axe.min.js" "$tests"
for library in preact htm uplot; do
  cp "$packages/$library/LICENSE" "$page/$library.LICENSE.txt"
done
cp "$packages/axe-core/LICENSE" "$tests/axe-core.LICENSE.txt"
cp "$packages/axe-core/LICENSE-3RD-PARTY.txt" "$tests/axe-core.LICENSE-3RD-PARTY.txt"
chmod 0644 "$page"/* "$tests"/*
for directory in "$page" "$tests"; do
  sums "$directory" >"$work/SHA256SUMS"
  mv "$work/SHA256SUMS" "$directory/SHA256SUMS"
done
check
echo "vendor-page: done; look at git diff --stat"
