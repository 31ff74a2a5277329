// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
)

// Access reports whether the controller may get, list and watch a resource in a namespace, or in all namespaces if it
// is empty. After an error the answer is unknown.
type Access func(ctx context.Context, resource schema.GroupResource, namespace string) (permitted bool, err error)

// OwnAccess returns an Access that sends SelfSubjectAccessReviews, which every user may create.
func OwnAccess(client authorizationclient.SelfSubjectAccessReviewsGetter) Access {
	return func(ctx context.Context, resource schema.GroupResource, namespace string) (bool, error) {
		for _, verb := range []string{"get", "list", "watch"} {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Verb: verb, Group: resource.Group, Resource: resource.Resource, Namespace: namespace,
				},
			}}
			answer, err := client.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			if err != nil {
				return false, fmt.Errorf("review own access to %s %s: %w", verb, resource, err)
			}
			if !answer.Status.Allowed {
				return false, nil
			}
		}
		return true, nil
	}
}
