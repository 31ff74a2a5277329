// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the subresources.apps.fairlead.dev/v1alpha1 API, which fairlead-apiserver
// serves behind the aggregation layer.
//
// The group is not that of the custom resources: an APIService takes over a whole group and version, and
// the custom resources in it would no longer be reachable. The resource is called applications all
// the same, so that a path reads as what it is about: .../namespaces/shop/applications/cart/log.
//
// Nothing here is stored. An ApplicationRuntime is computed from caches, the other kinds are the input and
// output of one request.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=dev.fairlead.fairlead.pkg.apis.subresources.v1alpha1
// +groupName=subresources.apps.fairlead.dev
package v1alpha1
