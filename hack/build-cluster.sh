#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Builds from source:
#
#   hack/build-cluster.sh                 bin/fairlead-cluster (etcd, kube-apiserver, kube-controller-manager, kube-scheduler) and bin/kwok
#   hack/build-cluster.sh cluster 1.34    bin/fairlead-cluster-1.34, the same of an older Kubernetes: of those that hack/cluster/k8s-*.mod pin
#   hack/build-cluster.sh node            bin/fairlead-node (kubelet, kube-proxy), for hack/e2e
#
# Nothing is downloaded as a binary: the Go module cache brings the source code of Kubernetes, etcd and kwok, and the Go
# compiler does the rest. The first time takes minutes; after that, Go's build cache makes it a matter of seconds.

set -o errexit -o nounset -o pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly ROOT
readonly BIN="$ROOT/bin"
readonly CLUSTER_MODULE="$ROOT/hack/cluster"
readonly KWOK_MODULE="$CLUSTER_MODULE/kwok"
readonly NODE_MODULE="$ROOT/hack/e2e/node"

export CGO_ENABLED=0 GOWORK=off

# shellcheck source=hack/progress.sh
source "$ROOT/hack/progress.sh"

log() { printf '%s\n' "$*" >&2; }

fail() {
  log "build-cluster: $1"
  log "  What to do: $2"
  exit 1
}

# The version of a module as go.mod has it, or another file of the same directory.
module_version() {
  (cd "$1" && go list -modfile="${3:-go.mod}" -m -f '{{.Version}}' "$2")
}

# Linker flags that make the components report their version. Without them they say v0.0.0, and clients that
# compare versions take the server for an ancient one. No build date, so that the same source gives the same binary.
version_flags() {
  local version="$1" number major minor package
  number="${version#v}"
  major="${number%%.*}"
  minor="${number#*.}"
  minor="${minor%%.*}"
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    printf -- '-X %s.gitVersion=%s ' "$package" "$version"
    printf -- '-X %s.gitMajor=%s -X %s.gitMinor=%s ' "$package" "$major" "$package" "$minor"
    printf -- '-X %s.gitTreeState=clean ' "$package"
  done
}

# Compiles an executable and shows how far the compiler is.
build() {
  local module="$1" output="$2" target="$3" ldflags="$4" modfile="${5:-go.mod}"
  if ! (cd "$module" && go build -v -trimpath -modfile="$modfile" -ldflags "$ldflags" -o "$BIN/$output" "$target") 2>&1 | progress "$output" >&2; then
    fail "$output did not build" \
      "with 'signal: killed' free some memory (2 GiB are needed); with 'no space left' free about 6 GiB in $(go env GOCACHE); with a download error check GOPROXY ($(go env GOPROXY)); then run it again: what is compiled already is kept"
  fi
}

# The version of Kubernetes in a module, which must be loadable.
kubernetes_version() {
  module_version "$1" k8s.io/kubernetes "${2:-go.mod}" ||
    fail "the modules of ${1#"$ROOT/"} cannot be loaded" "check that the Go module proxy is reachable: GOPROXY is $(go env GOPROXY)"
}

build_cluster() {
  local minor="${1:-}" modfile=go.mod output=fairlead-cluster kubernetes kwok
  if [[ -n "$minor" ]]; then
    modfile="k8s-$minor.mod" output="fairlead-cluster-$minor"
    if [[ ! -f "$CLUSTER_MODULE/$modfile" ]]; then
      fail "there is no hack/cluster/$modfile, so Kubernetes $minor cannot be built" \
        "choose one of: $(cd "$CLUSTER_MODULE" && echo k8s-*.mod | sed 's/k8s-//g; s/\.mod//g')"
    fi
  fi
  kubernetes="$(kubernetes_version "$CLUSTER_MODULE" "$modfile")"
  kwok="$(module_version "$KWOK_MODULE" sigs.k8s.io/kwok)" ||
    fail "the modules of hack/cluster/kwok cannot be loaded" "check that the Go module proxy is reachable: GOPROXY is $(go env GOPROXY)"

  log "Building Kubernetes $kubernetes with etcd, and kwok $kwok, from source."
  if [[ ! -x "$BIN/$output" ]]; then
    log "The first build compiles Kubernetes itself and takes several minutes (about 7 on two cores); later ones take seconds."
  fi
  build "$CLUSTER_MODULE" "$output" . "-s -w $(version_flags "$kubernetes")" "$modfile"
  build "$KWOK_MODULE" kwok sigs.k8s.io/kwok/cmd/kwok "-s -w"
}

build_node() {
  local kubernetes
  kubernetes="$(kubernetes_version "$NODE_MODULE")"
  log "Building the kubelet and kube-proxy $kubernetes from source."
  if [[ ! -x "$BIN/fairlead-node" ]]; then
    log "The first build takes minutes (about 2 on two cores after make cluster, which shares most packages; about 6 without); later ones take seconds."
  fi
  build "$NODE_MODULE" fairlead-node . "-s -w $(version_flags "$kubernetes")"
}

main() {
  command -v go >/dev/null || fail "there is no go command" "install Go (the version in go.mod) and put it on PATH"
  mkdir -p "$BIN"
  case "${1:-cluster}" in
  cluster) build_cluster "${2:-}" ;;
  node) build_node ;;
  *) fail "\"$1\" is unknown" "call it without argument, or with: cluster 1.34, or: node" ;;
  esac
}

main "$@"
