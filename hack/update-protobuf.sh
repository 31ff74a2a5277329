#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Makes generated.pb.go, generated.proto and the protobuf tags of the aggregated API's types. hack/update-codegen.sh runs it.
#
# go-to-protobuf is Kubernetes' own, and runs protoc and goimports, which it takes from PATH: both are compiled from Go modules here.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
out="${OUT:-$root}"
cd "$out"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
codegen="$(go list -m -f '{{.Dir}}' k8s.io/code-generator)"

mkdir -p "$work/bin"
go -C "$codegen" build -buildvcs=false -o "$work/bin/" ./cmd/go-to-protobuf ./cmd/go-to-protobuf/protoc-gen-gogo
go -C hack/protoc build -buildvcs=false -o "$work/bin/protoc" .
go -C hack/protoc build -buildvcs=false -o "$work/bin/goimports" golang.org/x/tools/cmd/goimports

# protoc finds imports by path, as in a GOPATH.
link() {
  mkdir -p "$(dirname "$work/src/$1")"
  ln -s "$2" "$work/src/$1"
}
link fairlead.dev/fairlead "$out"
link k8s.io/apimachinery "$(go list -m -f '{{.Dir}}' k8s.io/apimachinery)"
link github.com/gogo/protobuf "$(go -C "$codegen" list -m -f '{{.Dir}}' github.com/gogo/protobuf)"

# A leading - is a package to import, and not to generate.
machinery=(util/intstr api/resource runtime/schema runtime apis/meta/v1)
PATH="$work/bin:$PATH" go-to-protobuf \
  --go-header-file "$out/hack/boilerplate.go.txt" \
  --output-dir "$work/src" \
  --apimachinery-packages "$(printf -- '-k8s.io/apimachinery/pkg/%s,' "${machinery[@]}" | sed 's/,$//')" \
  --packages fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1
