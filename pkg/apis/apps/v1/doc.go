// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1 is the apps.fairlead.dev/v1 API: the Application, what it promises in its
// status, and the constants (conditions, reasons, labels) that the rest of Fairlead and its
// users share.
//
// Kubernetes' own types are used verbatim where one exists, so that whoever knows a
// Deployment or a Probe knows these fields. Optional numbers and booleans are pointers:
// nil means "not said", which is not the same as zero.
//
// The model package below is the Go import path in the form of OpenAPI names: by it the
// generated apply configurations look for their schema.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=dev.fairlead.fairlead.pkg.apis.apps.v1
// +groupName=apps.fairlead.dev
package v1
