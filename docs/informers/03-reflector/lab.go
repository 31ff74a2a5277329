// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reflector runs a Reflector alone, into a store that prints its calls.
package reflector

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// Lab lets a Reflector stream the first list, follow changes, and lose its watch together with a deletion.
func Lab(ctx context.Context, l *lab.Lab) error {
	maps := l.Client.CoreV1().ConfigMaps(l.Namespace)
	create := func(name string) error {
		_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err
	}
	for _, name := range []string{"ida", "moby"} {
		if err := create(name); err != nil {
			return err
		}
	}

	source := &source{
		// A full cluster creates that ConfigMap in every namespace.
		ListWatch: cache.NewListWatchFromClient(l.Client.CoreV1().RESTClient(), "configmaps", l.Namespace, fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")),
		lab:       l,
	}
	store := &store{lab: l, calls: make(chan string, 100)}
	reflector := cache.NewReflectorWithOptions(source, &corev1.ConfigMap{}, store, cache.ReflectorOptions{
		// The default begins at 0.8 seconds and grows to 30.
		Backoff: &wait.Backoff{Duration: 10 * time.Millisecond, Cap: time.Second, Steps: 5, Factor: 2},
	})
	ctx, cancel := context.WithCancel(ctx)
	l.Step("the first state, as one stream")
	var running wait.Group
	running.StartWithContext(ctx, reflector.RunWithContext)
	defer running.Wait()
	defer cancel()
	if err := store.await(ctx, "Replace"); err != nil {
		return err
	}

	l.Step("changes")
	if err := create("nemo"); err != nil {
		return err
	}
	if err := store.await(ctx, "Add"); err != nil {
		return err
	}
	if _, err := maps.Update(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "nemo"}, Data: map[string]string{"a": "b"}}, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := store.await(ctx, "Update"); err != nil {
		return err
	}

	l.Step("ida is deleted, but a 410 arrives instead of the event")
	source.break410.Store(true)
	if err := maps.Delete(ctx, "ida", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := store.await(ctx, "Replace"); err != nil {
		return err
	}
	l.Say("the reflector never called Delete: the store itself must notice that ida is missing")
	return nil
}

// source prints the requests of the reflector, and can lose an event.
type source struct {
	*cache.ListWatch
	lab      *lab.Lab
	break410 atomic.Bool
}

// ListWithContext implements [cache.ListerWithContext].
func (s *source) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	s.lab.Say("-> list from %s", s.lab.Version(options.ResourceVersion))
	return s.ListWatch.ListWithContext(ctx, options)
}

// WatchWithContext implements [cache.WatcherWithContext].
func (s *source) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	streams := options.SendInitialEvents != nil && *options.SendInitialEvents
	s.lab.Say("-> watch from %s, initial events %t, bookmarks %t", s.lab.Version(options.ResourceVersion), streams, options.AllowWatchBookmarks)
	inner, err := s.ListWatch.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	return lab.NewTap(inner, s.lose), nil
}

// lose turns one deletion into the error that an API server sends when its history is too short.
func (s *source) lose(event watch.Event) (_ watch.Event, deliver bool) {
	if event.Type == watch.Deleted && s.break410.CompareAndSwap(true, false) {
		s.lab.Say("<- %d Expired", http.StatusGone)
		return lab.Expired(), true
	}
	return event, true
}

// store is a [cache.ReflectorStore] that keeps nothing.
type store struct {
	lab   *lab.Lab
	calls chan string
}

func (s *store) say(call string, object any) error {
	configMap, ok := object.(*corev1.ConfigMap)
	if !ok {
		return fmt.Errorf("%T in a reflector of ConfigMaps", object)
	}
	s.lab.Say("store.%s(%s at %s)", call, configMap.Name, s.lab.Version(configMap.ResourceVersion))
	s.calls <- call
	return nil
}

func (s *store) Add(object any) error    { return s.say("Add", object) }
func (s *store) Update(object any) error { return s.say("Update", object) }
func (s *store) Delete(object any) error { return s.say("Delete", object) }
func (s *store) Resync() error           { return nil }

func (s *store) Replace(objects []any, version string) error {
	var names []string
	for _, object := range objects {
		if configMap, ok := object.(*corev1.ConfigMap); ok {
			names = append(names, configMap.Name)
		}
	}
	slices.Sort(names)
	s.lab.Say("store.Replace([%s], a version: %t)", strings.Join(names, " "), version != "")
	s.calls <- "Replace"
	return nil
}

// await waits for the call.
func (s *store) await(ctx context.Context, call string) error {
	for {
		got, err := lab.Receive(ctx, call, s.calls)
		if err != nil || got == call {
			return err
		}
	}
}
