#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the tests and says at the end how many there were.
#
#   hack/test.sh           everything, with the race detector; needs bin/fairlead-cluster (make cluster)
#   hack/test.sh --unit    what needs no cluster, without the race detector
#
# Further arguments go to `go test`, e.g. -run TestName or -count=1.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

export GOFLAGS="${GOFLAGS:-} -buildvcs=false"

unit=false
if [[ "${1:-}" == --unit ]]; then
  unit=true
  shift
fi

# Packages that start the embedded control plane say so by importing pkg/testing/controlplane.
unit_packages() {
  go list -f '{{.ImportPath}} {{.Imports}} {{.TestImports}} {{.XTestImports}}' ./... |
    grep -v 'fairlead.dev/fairlead/pkg/testing/controlplane' |
    cut -d ' ' -f 1
}

# Prints the result of the packages as `go test` does, and fails if a test, the summary or go itself did.
if [[ "$unit" == true ]]; then
  mapfile -t packages < <(unit_packages)
  go test -json "$@" "${packages[@]}" | go run ./hack/testsummary
  exit
fi

if ! command -v "$(go env CC)" >/dev/null; then
  echo "test: no C compiler ($(go env CC)); the race detector needs one: install gcc or clang, or run make test-unit" >&2
  exit 1
fi
export CGO_ENABLED=1
{
  status=0
  go test -json -race -timeout=20m "$@" ./... || status=1
  # The integration tests are a module of their own, and start nothing but the controller in their process. There, who
  # changes an object of an informer's cache makes the process panic. (Not above: it compares all objects once a second,
  # and the loop tests let weeks of seconds pass.)
  KUBE_CACHE_MUTATION_DETECTOR=true go -C cmd/fairlead-controller/integration test -json -race -timeout=20m "$@" ./... || status=1
  # So are those that open the page of the live view in a browser, whose client alone takes a minute to compile with -race.
  go -C pkg/debug/page/browser test -json -timeout=10m "$@" ./... || status=1
  # The alerts' tests are one too, with Prometheus as a library.
  go -C hack/artifacts/rules test -json "$@" ./... || status=1
  # And what Argo CD makes of an Application, with its Lua library.
  go -C hack/neighbours/argocd test -json "$@" ./... || status=1
  # The chart's use Helm as a library; those of the release cross-compile a small project.
  go -C hack/chart test -json "$@" . || status=1
  go -C hack/release test -json "$@" ./... || status=1
  # The site's are about links; make site builds it, and needs Node.
  go -C hack/site test -json "$@" . || status=1
  # So is the plugin, whose libraries of kubectl take minutes to compile with -race.
  go -C cmd/kubectl-fairlead test -json -timeout=20m "$@" ./... || status=1
  # hack/cluster is a module of its own. Its main package is the control plane itself, which `make cluster` compiles and
  # which has no tests; here it would be compiled a second time, with the race detector.
  go -C hack/cluster test -json -race -timeout=20m "$@" ./internal/... || status=1
  exit "$status"
} | go run ./hack/testsummary
