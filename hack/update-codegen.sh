#!/usr/bin/env bash

# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Makes everything that is generated: deepcopy and register functions, protobuf, OpenAPI, clientset,
# listers, informers, apply configurations, the schema of the children, the CRDs and the API reference.
#
#   hack/update-codegen.sh          writes into this checkout
#   OUT=DIR hack/update-codegen.sh  writes into the checkout in DIR (hack/verify-codegen.sh does so)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
out="${OUT:-$root}"
cd "$out"

module="fairlead.dev/fairlead"
boilerplate="$out/hack/boilerplate.go.txt"
say() { printf '>> %s\n' "$*"; }
codegen_tool() { go tool -modfile="$out/hack/tools/codegen/go.mod" "$@"; }

# Nothing imports it, so on a new machine no build has fetched it yet.
go mod download k8s.io/code-generator
# shellcheck source=/dev/null # it comes from the module cache, at the version that go.mod pins
source "$(go list -m -f '{{.Dir}}' k8s.io/code-generator)/kube_codegen.sh"

say "deepcopy functions"
kube::codegen::gen_helpers --boilerplate "$boilerplate" "$out/pkg/apis"

# Only the aggregated API speaks protobuf. It comes before the other generators, which read the tags that it writes into the types.
say "protobuf"
OUT="$out" "$out/hack/update-protobuf.sh"

say "register functions"
kube::codegen::gen_register --boilerplate "$boilerplate" "$out/pkg/apis"

# The report of API rule violations goes to a temporary file: it is about Kubernetes' own types.
schema="$(mktemp)"
report="$(mktemp)"
trap 'rm -f "$schema" "$report"' EXIT

say "OpenAPI definitions"
kube::codegen::gen_openapi \
  --boilerplate "$boilerplate" \
  --output-dir "$out/pkg/generated/openapi" \
  --output-pkg "$module/pkg/generated/openapi" \
  --extra-pkgs k8s.io/api/apps/v1 \
  --extra-pkgs k8s.io/api/autoscaling/v2 \
  --extra-pkgs k8s.io/api/core/v1 \
  --extra-pkgs k8s.io/api/networking/v1 \
  --extra-pkgs k8s.io/apimachinery/pkg/api/resource \
  --extra-pkgs k8s.io/apimachinery/pkg/util/intstr \
  --output-model-name-file zz_generated.model_name.go \
  --report-filename "$report" \
  --update-report \
  "$out/pkg/apis"

# The apply configurations embed the structural schema, so that the fake clientset merges
# as the API server does.
say "OpenAPI schema"
go run ./hack/openapi-schema >"$schema"

say "apply configurations, clientset, listers, informers"
kube::codegen::gen_client \
  --with-watch \
  --with-applyconfig \
  --applyconfig-openapi-schema "$schema" \
  --boilerplate "$boilerplate" \
  --output-dir "$out/pkg/generated" \
  --output-pkg "$module/pkg/generated" \
  "$out/pkg/apis"

# From client-go's, so it comes out the same until that is another version.
say "schema of the children"
go run ./hack/child-schema >"$schema"
cp "$schema" "$out/pkg/plan/builtin.yaml"

say "CRDs"
codegen_tool controller-gen crd paths=./pkg/apis/apps/... output:crd:dir=./artifacts/crds
# controller-gen lets through values that Go cannot decode, and lists without end.
go run ./hack/crd-schema ./artifacts/crds

# The depth is that of Kubernetes' deepest types, such as a projected volume in a sidecar.
say "API reference"
mkdir -p "$out/docs"
codegen_tool crd-ref-docs \
  --config "$out/hack/crd-ref-docs/config.yaml" \
  --templates-dir "$out/hack/crd-ref-docs/templates" \
  --source-path "$out/pkg/apis" \
  --renderer markdown \
  --max-depth 20 \
  --log-level WARN \
  --output-path "$out/docs/api.md"
