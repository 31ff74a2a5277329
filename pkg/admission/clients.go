// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/metadata"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// ReviewAccessBy makes Config.ReviewAccess of a client, which needs the permission to create
// subjectaccessreviews.
func ReviewAccessBy(client authorizationclient.SubjectAccessReviewInterface) func(context.Context, authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	return func(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
		review, err := client.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
		if err != nil {
			return authorizationv1.SubjectAccessReviewStatus{}, fmt.Errorf("create SubjectAccessReview: %w", err)
		}
		return review.Status, nil
	}
}

// FindBy makes Config.Find of a client. It asks for metadata only, so no payload of a Secret gets
// into this process; get is needed on each kind, and a kind without it gets no warnings.
func FindBy(client metadata.Interface) func(context.Context, Reference) (*metav1.PartialObjectMetadata, error) {
	resources := map[string]schema.GroupVersionResource{
		KindSecret:    corev1.SchemeGroupVersion.WithResource("secrets"),
		KindNamespace: corev1.SchemeGroupVersion.WithResource("namespaces"),

		KindApplication: v1.SchemeGroupVersion.WithResource(v1.ApplicationResource),
	}
	for _, kind := range child.AllKinds() {
		resources[kind.Kind] = kind.GroupVersionResource()
	}
	return func(ctx context.Context, reference Reference) (*metav1.PartialObjectMetadata, error) {
		resource, known := resources[reference.Kind]
		if !known {
			return nil, fmt.Errorf("unknown kind %s", reference.Kind)
		}
		found, err := client.Resource(resource).Namespace(reference.Namespace).Get(ctx, reference.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("get %s: %w", reference.Kind, err)
		}
		return found, nil
	}
}
