// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package lister

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// lastWish bounds the wait for the detector, which compares once a second.
const lastWish = 20 * time.Second

// Corrupt changes a cached object and waits for the detector to panic. It needs no cluster.
func Corrupt(ctx context.Context, _ io.Writer) error {
	informer := cache.NewSharedIndexInformer(&fixed{}, &corev1.ConfigMap{}, 0, cache.Indexers{})
	ctx, cancel := context.WithTimeout(ctx, lastWish)
	defer cancel()
	var running wait.Group
	running.StartWithContext(ctx, informer.RunWithContext)
	defer running.Wait()
	if !cache.WaitFor(ctx, "", informer.HasSyncedChecker()) {
		return context.Cause(ctx)
	}
	object, _, err := informer.GetIndexer().GetByKey("sea/ida")
	if err != nil {
		return err
	}
	ida, ok := object.(*corev1.ConfigMap)
	if !ok {
		return fmt.Errorf("a %T in a cache of ConfigMaps", object)
	}
	ida.Labels["sails"] = "black"
	<-ctx.Done()
	return errors.New("nobody noticed")
}

// fixed is a source of one object that never changes.
type fixed struct{}

// List implements [cache.Lister].
func (*fixed) List(metav1.ListOptions) (runtime.Object, error) {
	return &corev1.ConfigMapList{
		ListMeta: metav1.ListMeta{ResourceVersion: "1"},
		Items:    []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Namespace: "sea", Name: "ida", Labels: map[string]string{"sails": "white"}}}},
	}, nil
}

// Watch implements [cache.Watcher].
func (*fixed) Watch(metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil }

// IsWatchListSemanticsUnSupported tells the reflector to list: this source cannot stream.
func (*fixed) IsWatchListSemanticsUnSupported() bool { return true }
