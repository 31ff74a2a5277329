#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Compiles programs that people run beside Fairlead into bin/neighbours, and tests Fairlead with them. Nothing is downloaded as a
# binary but Prometheus, which Debian packages. Traefik and metrics-server need pods that run, so hack/e2e tests them on its node.
#
#   hack/neighbours.sh                        all of them
#   hack/neighbours.sh kube-state-metrics     one of them; arguments with a dash go to go test
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
# shellcheck source=hack/progress.sh
source hack/progress.sh

export GOFLAGS="${GOFLAGS:-} -buildvcs=false"

# What each neighbour is tested by, and which programs that needs.
declare -A tests=(
  ["kube-state-metrics"]=TestKubeStateMetrics
  ["kustomize-controller"]=TestKustomizeController
  ["helm-controller"]=TestHelmController
  ["prometheus"]=TestPrometheus
  ["scalers"]=TestScalers
  ["cert-manager"]=TestCertManager
  ["argocd"]=TestArgoCD
  ["traefik"]=node
  ["metrics-server"]=node
  # No neighbour, but what make dashboards draws beside some.
  ["dashboards"]=TestDashboards
)
declare -A programs=(
  ["kube-state-metrics"]="kube-state-metrics"
  ["kustomize-controller"]="kustomize-controller"
  ["helm-controller"]="helm-controller"
  ["prometheus"]="prometheus-operator kube-state-metrics"
  ["dashboards"]="prometheus-operator kube-state-metrics"
  ["scalers"]=""
  ["cert-manager"]="cert-manager"
  ["argocd"]="gitops-engine"
  ["traefik"]="traefik"
  ["metrics-server"]="metrics-server"
)

names=() flags=()
for argument in "$@"; do
  if [[ "$argument" == -* ]]; then
    flags+=("$argument")
  elif [[ -n "${tests[$argument]:-}" ]]; then
    names+=("$argument")
  else
    echo "neighbours: \"$argument\" is unknown; there are: ${!tests[*]}" >&2
    exit 1
  fi
done
if [[ "${#names[@]}" -eq 0 ]]; then
  names=(kube-state-metrics kustomize-controller helm-controller prometheus scalers cert-manager argocd traefik metrics-server)
fi

if [[ " ${names[*]} " == *" prometheus "* || " ${names[*]} " == *" dashboards "* ]] && ! command -v prometheus >/dev/null; then
  echo "neighbours: prometheus is missing. Install it: 'apt-get install --no-install-recommends prometheus' on Debian and Ubuntu." >&2
  exit 1
fi
if ! command -v "$(go env CC)" >/dev/null; then
  echo "neighbours: no C compiler ($(go env CC)); the race detector needs one: install gcc or clang" >&2
  exit 1
fi

mkdir -p bin/neighbours
built=" "
compile() {
  local name="$1" started="$SECONDS" package
  [[ "$built" != *" $name "* ]] || return 0
  built+="$name "
  if [[ ! -x "bin/neighbours/$name" ]]; then
    echo ">> compiling $name; the first time, this takes minutes"
  fi
  package="$(go -C "hack/neighbours/$name" list tool)"
  if ! CGO_ENABLED=0 go -C "hack/neighbours/$name" build -v -trimpath -ldflags="-s -w" -o "$root/bin/neighbours/$name" "$package" 2>&1 | progress "$name"; then
    echo "neighbours: $name did not build; run it again: what is compiled already is kept" >&2
    return 1
  fi
  echo ">> $name is compiled ($((SECONDS - started)) s)"
}

pattern="" node=""
for name in "${names[@]}"; do
  for program in ${programs[$name]}; do
    compile "$program"
  done
  if [[ "${tests[$name]}" == node ]]; then
    node+="${node:+,}$name"
  else
    pattern+="${pattern:+|}${tests[$name]}"
  fi
done

echo ">> testing Fairlead with ${names[*]}"
if [[ -n "$node" ]]; then
  make e2e ARGS="-beside=$node"
fi
[[ -n "$pattern" ]] || exit 0
CGO_ENABLED=1 go -C hack/neighbours test -race -count=1 -timeout=20m -v -run "^($pattern)\$" "${flags[@]}" .
