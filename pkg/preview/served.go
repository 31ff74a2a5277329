// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// LacksHTTPRoutes reports whether the routes of the Application become Ingresses because the cluster does not serve HTTPRoutes:
// Facts.WithoutHTTPRoutes. Every authenticated user may ask for it. For an Application without routes it asks nothing.
func LacksHTTPRoutes(ctx context.Context, cluster discovery.ServerResourcesInterfaceWithContext, application *v1.Application) (bool, error) {
	if len(application.Spec.Routes) == 0 {
		return false, nil
	}
	_, err := cluster.ServerResourcesForGroupVersionWithContext(ctx, child.HTTPRoute.GroupVersionKind().GroupVersion().String())
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("find out whether the cluster serves HTTPRoutes: %w", err)
	}
	return err != nil, nil
}
