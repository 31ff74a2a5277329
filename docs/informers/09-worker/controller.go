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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
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
	// wrote is told of every write.
	wrote func(what string, written *corev1.ConfigMap)
	// broken makes syncs fail.
	broken func() error
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
			workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{}),
	}
	registration, err := c.maps.TypedInformer().AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.ConfigMap]{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, after *corev1.ConfigMap) { c.enqueue(after) },
		DeleteFunc: func(deleted cache.DeletedObject[*corev1.ConfigMap]) { c.enqueue(deleted.OptionalObj) },
	})
	if err != nil {
		return nil, err
	}
	c.synced = registration.HasSyncedChecker()
	return c, nil
}

// enqueue chooses the key: the object's own, or its owner's. What happened to it is thrown away.
func (c *Controller) enqueue(object *corev1.ConfigMap) {
	if object == nil {
		return // Deleted, and never seen. A copy that nobody has seen is nobody's loss.
	}
	if _, wanted := object.Labels[wantsCopy]; wanted {
		c.queue.Add(cache.MetaObjectToName(object))
	}
	if owner := metav1.GetControllerOf(object); owner != nil && owner.Kind == "ConfigMap" {
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
			running.Go(func() { c.work(ctx) })
		}
		<-ctx.Done()
	}
	c.queue.ShutDown()
}

// work is the whole of a worker: take a key, sync it, say how that went.
func (c *Controller) work(ctx context.Context) {
	for {
		key, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		if err := c.syncHandler(ctx, key); err != nil {
			c.queue.AddRateLimited(key)
		} else {
			c.queue.Forget(key)
		}
		c.queue.Done(key)
	}
}

// syncHandler makes one key right, whatever it was that happened.
func (c *Controller) syncHandler(ctx context.Context, key cache.ObjectName) error {
	if c.broken != nil {
		if err := c.broken(); err != nil {
			return err
		}
	}
	lister := c.maps.Lister().ConfigMaps(key.Namespace)
	owner, err := lister.Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil // The garbage collector deletes the copy.
	}
	if err != nil {
		return err
	}
	want := copyOf(owner)
	maps := c.client.CoreV1().ConfigMaps(key.Namespace)
	live, err := lister.Get(want.Name)
	switch {
	case apierrors.IsNotFound(err):
		_, err = maps.Create(ctx, want, metav1.CreateOptions{})
		return c.done("create", want, err)
	case err != nil:
		return err
	case !metav1.IsControlledBy(live, owner):
		return fmt.Errorf("%s belongs to somebody else", want.Name)
	case live.Data["length"] != want.Data["length"]:
		update := live.DeepCopy()
		update.Data = want.Data
		_, err = maps.Update(ctx, update, metav1.UpdateOptions{})
		return c.done("update", want, err)
	default:
		return nil
	}
}

func (c *Controller) done(what string, written *corev1.ConfigMap, err error) error {
	if err == nil {
		c.wrote(what, written)
	}
	return err
}

// copyOf is what should be. It depends on the owner alone.
func copyOf(owner *corev1.ConfigMap) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:            owner.Name + "-copy",
			Namespace:       owner.Namespace,
			Labels:          map[string]string{isCopy: ""},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
		},
		Data: owner.Data,
	}
}
