// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// reportWatchError logs an error, with what to do about it if that is known. The reflector retries with backoff.
func reportWatchError(resource string) cache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, reflector *cache.Reflector, err error) {
		logger := klog.FromContext(ctx).WithValues("resource", resource)
		switch {
		case apierrors.IsForbidden(err):
			logger.Error(err, "No permission to watch; grant list and watch on the resource")
		case apierrors.IsNotFound(err):
			logger.Error(err, "API not found; run 'make install' in a checkout of Fairlead to install the CRDs")
		default:
			cache.DefaultWatchErrorHandler(ctx, reflector, err)
		}
	}
}
