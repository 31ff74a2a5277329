#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Disturbs the controller, and looks for what breaks an invariant of docs/reliability.md.
#
#   hack/chaos.sh 30s                the fault matrix, what was found before, and 30 seconds of exploration
#   hack/chaos.sh 3h -chaos.seed=7   further flags go to the tests of cmd/fairlead-controller/chaos
#   PLANTS=all hack/chaos.sh 5m      plants bugs, one at a time; the explorer has 5 minutes for each that is its to find
#
# A failure prints the shortest program that still fails, as a test to keep, and the seed to draw it again.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"

duration="${1:-30s}"
shift || true
if [[ -n "${PLANTS:-}" ]]; then
  exec go run ./hack/chaos -plants="$PLANTS" -explore="$duration" "$@"
fi
exec go test -tags=chaos -count=1 -timeout=48h -v ./cmd/fairlead-controller/chaos -args -chaos.for="$duration" "$@"
