// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package worker is a whole controller in two files: it keeps a copy of every ConfigMap that asks for one.
package worker

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

const (
	// wantsCopy marks the ConfigMaps that the controller is for. Their copies have the label isCopy.
	wantsCopy = "labs.fairlead.dev/wants-copy"
	isCopy    = "labs.fairlead.dev/is-copy"
	workers   = 2
)

// Controller keeps, for each ConfigMap X with the label, a ConfigMap X-copy with the same data.
type Controller struct {
	client  kubernetes.Interface
	factory informers.SharedInformerFactory
	maps    coreinformers.TypedConfigMapInformer
	synced  cache.DoneChecker
	queue   workqueue.TypedRateLimitingInterface[cache.ObjectName]
	// onWrite is called after every write.
	onWrite func(verb string, written *corev1.ConfigMap)
	// onError is called with the error of every sync that failed.
	onError func(error)
	// beforeSync may make a sync fail, or panic.
	beforeSync func() error
}

// New makes a controller that sees one namespace.
func New(client kubernetes.Interface, namespace string) (*Controller, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	c := &Controller{
		client:  client,
		factory: factory,
		maps:    factory.Core().V1().ConfigMaps(),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](10*time.Millisecond, time.Second),
			workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: "copies"}), // Without a name, it has no metrics.
	}
	registration, err := c.maps.TypedInformer().AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.ConfigMap]{
		AddFunc: c.enqueue,
		UpdateFunc: func(before, after *corev1.ConfigMap) {
			c.enqueue(before) // The owner that a copy has lost must hear of it too.
			c.enqueue(after)
		},
		DeleteFunc: func(deleted cache.DeletedObject[*corev1.ConfigMap]) { c.enqueue(deleted.OptionalObj) },
	})
	if err != nil {
		return nil, err
	}
	c.synced = registration.HasSyncedChecker()
	return c, nil
}

// enqueue chooses keys: the object's own, and its owner's. It does not pass on what happened.
func (c *Controller) enqueue(object *corev1.ConfigMap) {
	if object == nil {
		return // A deletion whose object the store never had: no owner can have acted on it.
	}
	if _, wanted := object.Labels[wantsCopy]; wanted {
		c.queue.Add(cache.MetaObjectToName(object))
	}
	// The sync proves by UID that the owner is still the same object.
	if owner := metav1.GetControllerOf(object); owner != nil && owner.APIVersion == "v1" && owner.Kind == "ConfigMap" {
		c.queue.Add(cache.NewObjectName(object.Namespace, owner.Name))
	}
}

// Run works until ctx ends, and returns when everything that it started has ended.
func (c *Controller) Run(ctx context.Context) {
	c.factory.StartWithContext(ctx)
	defer c.factory.Shutdown()
	var running sync.WaitGroup
	defer running.Wait()
	if cache.WaitFor(ctx, "", c.synced) {
		for range workers {
			running.Go(func() { c.runWorker(ctx) })
		}
		<-ctx.Done()
	}
	c.queue.ShutDown()
}

func (c *Controller) runWorker(ctx context.Context) {
	for c.processNextWorkItem(ctx) {
	}
}

// processNextWorkItem is the whole of a worker: take a key, sync it, decide when it comes back.
func (c *Controller) processNextWorkItem(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key) // On every path, or the key is never synced again.
	if err := recoverPanic(func() error { return c.syncHandler(ctx, key) }); err != nil {
		klog.FromContext(ctx).Error(err, "Sync failed; retrying with back-off", "configMap", key)
		if c.onError != nil {
			c.onError(err)
		}
		c.queue.AddRateLimited(key)
		return true
	}
	c.queue.Forget(key)
	return true
}

// recoverPanic makes a panic an error, so that it costs one key and not the process.
func recoverPanic(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return f()
}
