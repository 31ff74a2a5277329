// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

const (
	// viewDelay collects the changes of a rollout, so that it costs a view a few times a second at most.
	viewDelay = 200 * time.Millisecond
	// viewPeriod is how often every view is computed again: a pod that starts for too long becomes a problem, and
	// measurements change, without any event.
	viewPeriod = 15 * time.Second
)

// views keeps the history current. Handlers only note names; one goroutine computes.
type views struct {
	caches  *caches
	history *history
	used    func() measurements

	mu    sync.Mutex
	dirty sets.Set[cache.ObjectName]
	wake  chan struct{}
}

func newViews(caches *caches, history *history, used func() measurements) *views {
	return &views{caches: caches, history: history, used: used, dirty: sets.New[cache.ObjectName](), wake: make(chan struct{}, 1)}
}

// handle registers the handlers, and returns what to wait for before the first list is complete.
func (v *views) handle() ([]cache.DoneChecker, error) {
	applications, err := v.caches.applications.AddTypedEventHandler(cache.TypedResourceEventHandlerDetailedFuncs[*v1.Application]{
		AddFunc:    func(a *v1.Application, _ bool) { v.note(a.Namespace, a.Name) },
		UpdateFunc: func(_, a *v1.Application) { v.note(a.Namespace, a.Name) },
		DeleteFunc: func(gone cache.DeletedObject[*v1.Application]) {
			name := gone.GetObjectName()
			v.note(name.Namespace, name.Name)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("handle Applications: %w", err)
	}
	pods, err := v.caches.pods.AddTypedEventHandler(cache.TypedResourceEventHandlerDetailedFuncs[*pod]{
		AddFunc: func(p *pod, _ bool) { v.note(p.Namespace, p.Application) },
		UpdateFunc: func(before, p *pod) {
			v.note(before.Namespace, before.Application) // The label may have changed.
			v.note(p.Namespace, p.Application)
		},
		DeleteFunc: func(gone cache.DeletedObject[*pod]) {
			if p := gone.OptionalObj; p != nil {
				v.note(p.Namespace, p.Application)
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("handle pods: %w", err)
	}
	return []cache.DoneChecker{
		applications.HasSyncedChecker(), pods.HasSyncedChecker(),
		v.caches.replicaSets.HasSyncedChecker(), v.caches.slices.HasSyncedChecker(), // No views are about them, but trees.
	}, nil
}

func (v *views) note(namespace, name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dirty.Insert(cache.ObjectName{Namespace: namespace, Name: name})
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

func (v *views) take() sets.Set[cache.ObjectName] {
	v.mu.Lock()
	defer v.mu.Unlock()
	taken := v.dirty
	v.dirty = sets.New[cache.ObjectName]()
	return taken
}

// run computes until the context ends. It begins once the caches are filled.
func (v *views) run(ctx context.Context, synced []cache.DoneChecker) {
	if !cache.WaitFor(ctx, "caches of views", synced...) {
		return
	}
	v.compute(ctx, v.take())
	v.history.markFilled()
	all := time.NewTicker(viewPeriod)
	defer all.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-all.C:
			v.compute(ctx, sets.New(v.history.names()...))
		case <-v.wake:
			collected := time.NewTimer(viewDelay)
			select {
			case <-ctx.Done():
				collected.Stop()
				return
			case <-collected.C:
			}
			v.compute(ctx, v.take())
		}
	}
}

func (v *views) compute(ctx context.Context, names sets.Set[cache.ObjectName]) {
	now, used := time.Now(), v.used()
	for name := range names {
		application, found := v.caches.application(name)
		if !found {
			v.history.set(name, nil)
			continue
		}
		pods, err := v.caches.podsOf(name)
		if err != nil {
			klog.FromContext(ctx).Error(err, "Cannot compute the view of an Application", "application", name)
			continue
		}
		v.history.set(name, newRuntime(application, pods, used[name.Namespace], now))
	}
}
