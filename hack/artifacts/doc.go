// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package artifacts has the tests of what a platform team deploys: the manifests of artifacts/, as
// kustomize renders them, and what docs/operations.md says about them.
//
// Two of its files are made by the tests themselves:
//
//	go test ./hack/artifacts -run TestGenerated -update
//
// writes artifacts/webhook/configurations.yaml from pkg/admission, and artifacts/install.yaml from the
// CRDs and the default overlay. `make generate` does it, and `make verify` compares.
package artifacts
