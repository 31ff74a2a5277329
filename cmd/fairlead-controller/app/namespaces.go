// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/pkg/informer"
)

// readsNamespaces reports whether to watch the labels of namespaces, by which classes select. A controller of the
// whole cluster waits for the permission, as for every other kind. A controller that is limited to namespaces may
// never get it, and works without; it then refuses every class that selects by labels.
func readsNamespaces(ctx context.Context, config CompletedConfig, access informer.Access) (bool, error) {
	if !config.Classes {
		return false, nil
	}
	if len(config.Namespaces) == 0 {
		return true, nil
	}
	permitted, err := access(ctx, corev1.Resource("namespaces"), metav1.NamespaceAll)
	if err != nil {
		return false, fmt.Errorf("review own access to namespaces: %w", err)
	}
	if !permitted {
		klog.FromContext(ctx).Info("No permission to get, list and watch namespaces; refusing ApplicationClasses with a namespaceSelector. Grant it and restart the controller")
	}
	return permitted, nil
}
