// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/informer"
)

// mayReadClasses tells whether there are classes for this controller. One that is confined to
// namespaces may lack the permission, and works without: an informer that is refused would never be
// filled, and nothing start.
func mayReadClasses(ctx context.Context, access informer.Access) (bool, error) {
	permitted, err := access(ctx, v1.Resource(v1.ApplicationClassResource), metav1.NamespaceAll)
	if err != nil {
		return false, fmt.Errorf("find out whether ApplicationClasses may be read: %w", err)
	}
	if !permitted {
		klog.FromContext(ctx).Info("ApplicationClasses may not be read, so there are none here: grant get, list and watch on them to change that")
	}
	return permitted, nil
}
