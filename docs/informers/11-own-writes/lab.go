// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ownwrites acts on a stale cache, first without noticing, then with a check.
package ownwrites

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// Lab wants one boat, and delays the watch of its informer.
func Lab(ctx context.Context, l *lab.Lab) error {
	maps := l.Client.CoreV1().ConfigMaps(l.Namespace)
	gate := newGate(cache.NewListWatchFromClient(l.Client.CoreV1().RESTClient(), "configmaps", l.Namespace,
		fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")))
	informer := cache.NewSharedIndexInformer(gate, &corev1.ConfigMap{}, 0, cache.Indexers{})
	ctx, cancel := context.WithCancel(ctx)
	var running wait.Group
	running.StartWithContext(ctx, informer.RunWithContext)
	defer running.Wait()
	defer cancel()
	defer gate.open()
	if !cache.WaitFor(ctx, "", informer.HasSyncedChecker()) {
		return context.Cause(ctx)
	}

	l.Step("one boat is desired; the cache decides; its watch is delayed")
	gate.shut()
	for range 3 {
		if len(informer.GetIndexer().ListKeys()) > 0 {
			l.Say("sync: one is there")
			continue
		}
		if _, err := build(ctx, maps); err != nil {
			return err
		}
		l.Say("sync: none there, built one")
	}
	gate.open()
	if err := catchUp(ctx, informer, 3); err != nil {
		return err
	}
	l.Say("when the cache has caught up, there are %d", len(informer.GetIndexer().ListKeys()))
	if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return err
	}
	if err := catchUp(ctx, informer, 0); err != nil {
		return err
	}

	l.Step("the same, remembering the version of the last write")
	gate.shut()
	lastWrite := ""
	sync := func() error {
		seen := informer.GetIndexer().LastStoreSyncResourceVersion()
		behind, err := isBehind(seen, lastWrite)
		switch {
		case err != nil:
			return err
		case behind:
			l.Say("sync: the cache is stale, come back later")
			return nil
		case len(informer.GetIndexer().ListKeys()) > 0:
			l.Say("sync: one is there")
			return nil
		}
		lastWrite, err = build(ctx, maps)
		l.Say("sync: none there, built one")
		return err
	}
	for range 3 {
		if err := sync(); err != nil {
			return err
		}
	}
	gate.open()
	err := lab.Eventually(ctx, "the cache to see the write", func(context.Context) (bool, error) {
		behind, err := isBehind(informer.GetIndexer().LastStoreSyncResourceVersion(), lastWrite)
		return !behind, err
	})
	if err != nil {
		return err
	}
	if err := sync(); err != nil {
		return err
	}
	l.Say("there are %d", len(informer.GetIndexer().ListKeys()))
	return nil
}

// isBehind compares two versions of one resource.
func isBehind(seen, written string) (bool, error) {
	if written == "" {
		return false, nil
	}
	order, err := resourceversion.CompareResourceVersion(seen, written)
	return order < 0, err
}

// build makes a boat whose name the server chooses, so that no AlreadyExists comes to the rescue.
func build(ctx context.Context, maps typedcore.ConfigMapInterface) (version string, err error) {
	built, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "boat-"}}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return built.ResourceVersion, nil
}

func catchUp(ctx context.Context, informer cache.SharedIndexInformer, boats int) error {
	return lab.Eventually(ctx, "the cache to catch up", func(context.Context) (bool, error) {
		return len(informer.GetIndexer().ListKeys()) == boats, nil
	})
}

// gate is a source whose events can be held up.
type gate struct {
	*cache.ListWatch
	mu     sync.Mutex
	opened chan struct{}
}

func newGate(inner *cache.ListWatch) *gate {
	g := &gate{ListWatch: inner, opened: make(chan struct{})}
	close(g.opened)
	return g
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened = make(chan struct{})
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.opened:
	default:
		close(g.opened)
	}
}

func (g *gate) passage() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened
}

// WatchWithContext implements [cache.WatcherWithContext].
func (g *gate) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	inner, err := g.ListWatch.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	held := &held{Interface: inner, result: make(chan watch.Event), stopped: make(chan struct{})}
	go func() {
		defer close(held.result)
		for event := range inner.ResultChan() {
			select {
			case <-g.passage():
			case <-held.stopped:
				return
			}
			select {
			case held.result <- event:
			case <-held.stopped:
				return
			}
		}
	}()
	return held, nil
}

// held is a watch behind the gate.
type held struct {
	watch.Interface
	result  chan watch.Event
	stopped chan struct{}
	once    sync.Once
}

// ResultChan implements [watch.Interface].
func (h *held) ResultChan() <-chan watch.Event { return h.result }

// Stop implements [watch.Interface].
func (h *held) Stop() {
	h.once.Do(func() { close(h.stopped) })
	h.Interface.Stop()
}
