// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package sharedinformer

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// SlowHandler measures what a handler that does not return holds up, and what does hold up an informer.
func SlowHandler(ctx context.Context, l *lab.Lab) error {
	for _, part := range []func(context.Context, *lab.Lab) error{slowHandler, slowPlainHandler, slowTransform, slowIndex} {
		if err := part(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// slowHandler stops one of two handlers of a shared informer.
func slowHandler(ctx context.Context, l *lab.Lab) error {
	const boats = 200
	f := newFleet(l, "shared")
	factory := f.factory()
	informer := factory.Core().V1().ConfigMaps().TypedInformer()
	stuck, calls, quick := newGate(), make(chan string, boats+1), make(chan string, boats+1)
	defer stuck.open()
	var entered atomic.Int64
	for _, add := range []func(*corev1.ConfigMap){
		func(boat *corev1.ConfigMap) { entered.Add(1); stuck.pass(); calls <- boat.Name },
		func(boat *corev1.ConfigMap) { quick <- boat.Name },
	} {
		if _, err := informer.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.ConfigMap]{AddFunc: add}); err != nil {
			return err
		}
	}
	return f.with(ctx, factory, informer, func(ctx context.Context) error {
		l.Step("a shared informer: handler slow does not return from its first call, and %d more boats are built", boats)
		if _, err := f.build(ctx, "first"); err != nil {
			return err
		}
		if err := stuck.reached(ctx); err != nil {
			return err
		}
		for i := range boats {
			if _, err := f.build(ctx, fmt.Sprintf("boat-%d", i)); err != nil {
				return err
			}
		}
		for range boats + 1 {
			if _, err := lab.Receive(ctx, "a call of handler quick", quick); err != nil {
				return err
			}
		}
		l.Say("the store has %d boats; handler quick was called %d times, handler slow %d time",
			len(informer.GetStore().ListKeys()), boats+1, entered.Load())
		start := time.Now()
		stuck.open()
		for range boats + 1 {
			if _, err := lab.Receive(ctx, "a call of handler slow", calls); err != nil {
				return err
			}
		}
		l.Say("released, handler slow has had all %d calls after %s: they waited in its buffer", boats+1, l.Took(time.Since(start)))
		return nil
	})
}

// slowPlainHandler stops the only handler of an informer that is not shared.
func slowPlainHandler(ctx context.Context, l *lab.Lab) error {
	f := newFleet(l, "plain")
	stuck := newGate()
	defer stuck.open()
	store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewFilteredListWatchFromClient(l.Client.CoreV1().RESTClient(), "configmaps", l.Namespace,
			func(options *metav1.ListOptions) { options.LabelSelector = f.selector() }),
		ObjectType: &corev1.ConfigMap{},
		Handler:    cache.ResourceEventHandlerFuncs{AddFunc: func(any) { stuck.pass() }},
	})
	return f.running(ctx, controller.RunWithContext, func(ctx context.Context) error {
		l.Step("an informer that is not shared: its handler does not return, and three more boats are built")
		if _, err := f.build(ctx, "first"); err != nil {
			return err
		}
		if err := stuck.reached(ctx); err != nil {
			return err
		}
		last, err := f.build(ctx, "second", "third", "fourth")
		if err != nil {
			return err
		}
		err = lab.Eventually(ctx, "the reflector to read the last boat", func(context.Context) (bool, error) {
			return controller.LastSyncResourceVersion() == last, nil
		})
		if err != nil {
			return err
		}
		l.Say("the reflector has read the last one; the store has only %d boat", len(store.ListKeys()))
		stuck.open()
		return f.stored(ctx, "released", store, 4)
	})
}

// slowTransform stops a transform.
func slowTransform(ctx context.Context, l *lab.Lab) error {
	f := newFleet(l, "transformed")
	stuck := newGate()
	defer stuck.open()
	factory := f.factory(informers.WithTransform(func(object any) (any, error) {
		stuck.pass()
		return object, nil
	}))
	informer := factory.Core().V1().ConfigMaps().TypedInformer()
	return f.with(ctx, factory, informer, func(ctx context.Context) error {
		l.Step("a transform runs under the queue's lock, on the reflector's goroutine: it does not return, and one more boat is built")
		if _, err := f.build(ctx, "first"); err != nil {
			return err
		}
		if err := stuck.reached(ctx); err != nil {
			return err
		}
		if _, err := f.build(ctx, "second"); err != nil {
			return err
		}
		l.Say("the server has 2 boats, the store %d", len(informer.GetStore().ListKeys()))
		stuck.open()
		return f.stored(ctx, "released", informer.GetStore(), 2)
	})
}

// slowIndex stops an index function.
func slowIndex(ctx context.Context, l *lab.Lab) error {
	const hold = 200 * time.Millisecond
	f := newFleet(l, "indexed")
	factory := f.factory()
	stuck := newGate()
	defer stuck.open()
	maps := factory.Core().V1().ConfigMaps()
	informer := maps.TypedInformer()
	err := informer.AddIndexers(cache.Indexers{"slow": func(any) ([]string, error) {
		stuck.pass()
		return nil, nil
	}})
	if err != nil {
		return err
	}
	return f.with(ctx, factory, informer, func(ctx context.Context) error {
		l.Step("an index function runs under the store's lock: it does not return, and a sync asks the lister")
		if _, err := f.build(ctx, "first"); err != nil {
			return err
		}
		if err := stuck.reached(ctx); err != nil {
			return err
		}
		start, answered := time.Now(), make(chan error, 1)
		go func() {
			_, err := maps.Lister().ConfigMaps(l.Namespace).Get("another")
			answered <- err
		}()
		release := time.AfterFunc(hold, stuck.open)
		defer release.Stop()
		if _, err := lab.Receive(ctx, "the lister's answer", answered); err != nil {
			return err
		}
		l.Say("the lister answers after %s; the index function was released after %d ms", l.Took(time.Since(start)), hold.Milliseconds())
		return f.stored(ctx, "released", informer.GetStore(), 1)
	})
}
