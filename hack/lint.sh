#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs all linters and fails if one of them finds something. Every one runs, so that one call shows everything.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

failed=()
say() { printf '>> %s\n' "$*"; }
tool() { go tool -modfile="$root/hack/tools/$1/go.mod" "${@:2}"; }
check() {
  say "$1"
  "${@:2}" || failed+=("$1")
}

scripts() { git ls-files -co --exclude-standard -- '*.sh' .ci/run; }

check_shellcheck() {
  if ! command -v shellcheck >/dev/null; then
    echo "shellcheck is missing. Install it: 'apt-get install shellcheck' on Debian and Ubuntu, 'brew install shellcheck' on macOS."
    return 1
  fi
  local files
  mapfile -t files < <(scripts)
  shellcheck -x "${files[@]}"
}

check_shfmt() {
  local files
  mapfile -t files < <(scripts)
  tool shfmt shfmt -i 2 -d "${files[@]}"
}

check_actionlint() { tool actionlint actionlint .github/workflows/*.yaml; }

check_logcheck() {
  tool lint logcheck -check-contextual -check-with-helpers=false ./cmd/... ./pkg/...
}

# Formatting (gofmt, goimports) is part of it.
check_golangci() { tool lint golangci-lint run --config "$root/.golangci.yml" ./...; }

# Not the main package, which is Kubernetes: reading it takes longer than all the rest.
check_golangci_cluster() { (cd hack/cluster && tool lint golangci-lint run --config "$root/.golangci.yml" ./internal/...); }

check_golangci_integration() { (cd cmd/fairlead-controller/integration && tool lint golangci-lint run --config "$root/.golangci.yml" ./...); }

check_golangci_plugin() { (cd cmd/kubectl-fairlead && tool lint golangci-lint run --config "$root/.golangci.yml" ./...); }

check_golangci_browser() { (cd pkg/debug/page/browser && tool lint golangci-lint run --config "$root/.golangci.yml" ./...); }

check_golangci_rules() { (cd hack/artifacts/rules && tool lint golangci-lint run --config "$root/.golangci.yml" ./...); }

check_golangci_chart() { (cd hack/chart && tool lint golangci-lint run --config "$root/.golangci.yml" ./...); }

check_golangci_release() { (cd hack/release && tool lint golangci-lint run --config "$root/.golangci.yml" ./...); }

check_golangci_argocd() { (cd hack/neighbours/argocd && tool lint golangci-lint run --config "$root/.golangci.yml" ./...); }

check_golangci_neighbours() { (cd hack/neighbours && tool lint golangci-lint run --config "$root/.golangci.yml" ./...); }

check_golangci_ours() {
  local module
  for module in cert-manager gitops-engine; do
    (cd "hack/neighbours/$module" && tool lint golangci-lint run --config "$root/.golangci.yml" ./...) || return 1
  done
}

check_golangci_site() { (cd hack/site && tool lint golangci-lint run --config "$root/.golangci.yml" .); }

say "The first time, Go compiles the linters from source: one to three minutes."
check "shellcheck" check_shellcheck
check "shfmt" check_shfmt
check "actionlint" check_actionlint
check "logcheck (contextual logging)" check_logcheck
check "golangci-lint" check_golangci
check "golangci-lint in hack/cluster" check_golangci_cluster
check "golangci-lint in the integration tests" check_golangci_integration
check "golangci-lint in the tests of the alerts" check_golangci_rules
check "golangci-lint in the plugin" check_golangci_plugin
check "golangci-lint in the tests of the page" check_golangci_browser
check "golangci-lint in the tests of the chart" check_golangci_chart
check "golangci-lint in the release tool" check_golangci_release
check "golangci-lint in the tool of the site" check_golangci_site
check "golangci-lint in the tests of Argo CD's scripts" check_golangci_argocd
check "golangci-lint in the tests with neighbours" check_golangci_neighbours
check "golangci-lint in what runs cert-manager and Argo CD's diff" check_golangci_ours

if [[ "${#failed[@]}" -gt 0 ]]; then
  printf 'lint: failed:'
  printf ' [%s]' "${failed[@]}"
  printf '\n'
  exit 1
fi
echo "lint: everything passed"
