// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package aggregation

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// ClusterRoles is the resource of the owner. The owner of an APIService must be cluster-scoped, and every way to
// uninstall the server deletes its ClusterRole.
var ClusterRoles = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}

// OwnedByClusterRole returns a reference to the server's ClusterRole.
func OwnedByClusterRole(client dynamic.ResourceInterface, name string) func(context.Context) (metav1.OwnerReference, error) {
	return func(ctx context.Context) (metav1.OwnerReference, error) {
		role, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return metav1.OwnerReference{}, err
		}
		return metav1.OwnerReference{
			APIVersion: ClusterRoles.GroupVersion().String(), Kind: "ClusterRole", Name: name, UID: role.GetUID(),
		}, nil
	}
}
