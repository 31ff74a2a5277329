#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Draws objects from the schema for a while, each round from another seed, and tries what the controller and a real API
# server make of them.
# `make test` does the same with few objects, from a fixed seed.
#
#   hack/fuzz.sh 10m [flags of the tests, e.g. -rapid.checks=2000]
#
# A failure prints the smallest object that was found, and the seed to draw it again.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

duration="${1:-10m}"
shift || true
case "$duration" in
*[!0-9smh]* | '') echo "fuzz: the duration must be like 30s, 10m or 2h, not \"$duration\"" >&2 && exit 2 ;;
*h) seconds=$((${duration%h} * 3600)) ;;
*m) seconds=$((${duration%m} * 60)) ;;
*) seconds="${duration%s}" ;;
esac

binaries="$(mktemp -d)"
trap 'rm -rf "$binaries"' EXIT
packages=(pkg/testing/schemagen pkg/testing/schemagen/integration)
for package in "${packages[@]}"; do
  go -C "$root" test -buildvcs=false -c -o "$binaries/${package//\//-}" "./$package"
done

export RANDOM_SEED=1
rounds=0
end=$((SECONDS + seconds))
while [[ "$SECONDS" -lt "$end" ]]; do
  rounds=$((rounds + 1))
  for package in "${packages[@]}"; do
    (cd "$root/$package" && "$binaries/${package//\//-}" -test.timeout=1h -rapid.checks=300 "$@")
  done
done
echo "fuzz: $rounds rounds found nothing"
