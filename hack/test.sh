#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the tests and says at the end how many there were.
#
#   hack/test.sh           with the race detector; needs bin/fairlead-cluster (make cluster)
#   hack/test.sh --unit    what needs no cluster, without the race detector
#   hack/test.sh --docs    the commands of the documents, one after the other; needs bin/fairlead-cluster
#
# Further arguments go to `go test`, e.g. -run TestName or -count=1.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

# Without the paths in it, what was compiled in one clone serves the next one.
export GOFLAGS="${GOFLAGS:-} -buildvcs=false -trimpath"

mode=all
case "${1:-}" in
--unit | --docs)
  mode="${1#--}"
  shift
  ;;
esac
readonly documents=fairlead.dev/fairlead/hack/checks/walkthrough

# Packages that start the embedded control plane say so by importing pkg/testing/controlplane.
unit_packages() {
  go list -f '{{.ImportPath}} {{.Imports}} {{.TestImports}} {{.XTestImports}}' ./... |
    grep -v 'fairlead.dev/fairlead/pkg/testing/controlplane' |
    cut -d ' ' -f 1
}

# Prints the result of the packages as `go test` does, and fails if a test, the summary or go itself did.
if [[ "$mode" == unit ]]; then
  mapfile -t packages < <(unit_packages)
  go test -json "$@" "${packages[@]}" | go run ./hack/testsummary /dev/stdin
  exit
fi

if ! command -v "$(go env CC)" >/dev/null; then
  echo "test: no C compiler ($(go env CC)); the race detector needs one: install gcc or clang, or run make test-unit" >&2
  exit 1
fi
export CGO_ENABLED=1

# The API servers and the tests are short-lived: with fewer collections of garbage they need a sixth less processor time, and
# several API servers with a gigabyte each still fit into an ordinary machine.
export GOGC="${GOGC:-400}" GOMEMLIMIT="${GOMEMLIMIT:-1GiB}"

if [[ "$mode" == docs ]]; then
  go test -json -race -timeout=20m "$@" "$documents" | go run ./hack/testsummary /dev/stdin
  exit
fi

failed="$(mktemp)"
trap 'rm -f "$failed"' EXIT

# Tests packages of a module. It notes that they failed, since go can fail without a word of it in its JSON. It does not vet
# them: make lint does.
tests() {
  local module="$1"
  shift
  go -C "$module" test -json -vet=off "$@" || echo "$module" >>"$failed"
}

# The modules are tested in two rows, side by side, since each has times when it waits.
first_row() {
  local packages
  mapfile -t packages < <(go list ./... | grep -v "^$documents\$")
  tests . -race -timeout=30m "$@" "${packages[@]}"
  # The integration tests start nothing but the controller in their process. There, who changes an object of an informer's
  # cache makes the process panic. (Not above: it compares all objects once a second, and the loop tests let weeks of seconds
  # pass.)
  KUBE_CACHE_MUTATION_DETECTOR=true tests cmd/fairlead-controller/integration -race -timeout=30m "$@" ./...
}

second_row() {
  # The integration tests, the last of the first row, are one large package, which one processor compiles. Now there is work for
  # the other.
  go -C cmd/fairlead-controller/integration list -race -test -export ./... >/dev/null 2>&1 || true # The tests say why.
  # The plugin's libraries of kubectl take minutes to compile with -race.
  tests cmd/kubectl-fairlead -timeout=30m "$@" ./...
  # So does the client of the browser in which these open the page of the live view.
  tests pkg/debug/page/browser -timeout=10m "$@" ./...
  # The alerts' tests have Prometheus as a library.
  tests hack/artifacts/rules "$@" ./...
  # What Argo CD makes of an Application, with its Lua library.
  tests hack/neighbours/argocd "$@" ./...
  # The chart's use Helm as a library; those of the release cross-compile a small project.
  tests hack/chart "$@" .
  tests hack/release "$@" ./...
  # The site's are about links; make site builds it, and needs Node.
  tests hack/site "$@" .
  # The main package of hack/cluster is the control plane itself, which `make cluster` compiles and which has no tests; here
  # it would be compiled a second time, with the race detector.
  tests hack/cluster -race -timeout=20m "$@" ./internal/...
}

go run ./hack/testsummary <(first_row "$@") <(second_row "$@")
if [[ -s "$failed" ]]; then
  echo "test: go says that tests failed in: $(tr '\n' ' ' <"$failed")" >&2
  exit 1
fi
