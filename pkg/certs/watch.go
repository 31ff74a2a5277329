// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// lister is the part of a generated client that an informer needs.
type lister[L runtime.Object] interface {
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// watchOne calls changed with each state of one object, and with nil when the object is deleted, until ctx ends. It
// lists and watches this object alone, which is all that a role with resourceNames permits.
func watchOne[L runtime.Object](ctx context.Context, name string, example runtime.Object, client lister[L], changed func(runtime.Object)) {
	only := fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	one := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = only
			return client.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = only
			return client.Watch(ctx, options)
		},
	}
	state := func(object any) {
		if o, ok := object.(runtime.Object); ok {
			changed(o)
		}
	}
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.ToListWatcherWithWatchListSemantics(one, client),
		ObjectType:    example,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    state,
			UpdateFunc: func(_, object any) { state(object) },
			DeleteFunc: func(any) { changed(nil) },
		},
	})
	informer.RunWithContext(ctx)
}
