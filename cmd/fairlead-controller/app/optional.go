// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/informer"
)

// optionalAPIs returns the clients of the kinds whose APIs come and go. A controller that is limited to namespaces may
// not watch CustomResourceDefinitions, which are cluster-scoped, and polls discovery instead.
func optionalAPIs(ctx context.Context, c *clients) (informer.OptionalAPIs, error) {
	apis := informer.OptionalAPIs{Gateway: c.gateway, Dynamic: c.dynamic, Discovery: c.kube.Discovery()}
	for _, kind := range child.OptionalKinds() {
		permitted, err := mayWatchDefinition(ctx, c, kind.Resource+"."+kind.Group)
		if err != nil {
			return informer.OptionalAPIs{}, err
		}
		if !permitted {
			klog.FromContext(ctx).Info("No permission to list and watch a CustomResourceDefinition; polling discovery every ten minutes instead", "name", kind.Resource+"."+kind.Group)
			return apis, nil
		}
	}
	apis.CRDs = c.crds
	return apis, nil
}

// mayWatchDefinition reviews access to one definition, since the permission may be limited to its name.
func mayWatchDefinition(ctx context.Context, c *clients, name string) (bool, error) {
	for _, verb := range []string{"list", "watch"} {
		answer, err := c.kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: verb, Group: apiextensionsv1.GroupName, Resource: "customresourcedefinitions", Name: name,
			}},
		}, metav1.CreateOptions{})
		if err != nil {
			return false, fmt.Errorf("review own access to %s CustomResourceDefinition %s: %w", verb, name, err)
		}
		if !answer.Status.Allowed {
			return false, nil
		}
	}
	return true, nil
}
