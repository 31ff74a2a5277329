// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package sharedinformer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// Relist lets a shared informer lose its watch while boats change, and shows what the relist then delivers to a handler.
func Relist(ctx context.Context, l *lab.Lab) error {
	f := newFleet(l, "")
	if _, err := f.build(ctx, "ida", "moby", "nemo"); err != nil {
		return err
	}
	source := f.lossyWatch()
	informer := cache.NewSharedIndexInformer(source, &corev1.ConfigMap{}, 0, nil)
	passes := &counts{of: map[string]int{}}
	if err := informer.SetTransform(passes.transform); err != nil {
		return err
	}
	events := make(chan string, 10)
	if _, err := informer.AddEventHandler(deliver(events)); err != nil {
		return err
	}
	return f.running(ctx, informer.RunWithContext, func(ctx context.Context) error {
		l.Step("the first list")
		if err := f.await(ctx, events, 3); err != nil {
			return err
		}
		first := passes.take()

		l.Step("the watch is deaf: ida changes and is deleted, moby is deleted and built again, nemo stays")
		source.deaf.Store(true)
		if err := f.upset(ctx); err != nil {
			return err
		}

		l.Step("then it ends with 410 Expired; what the relist delivers to the handler")
		source.end.Store(true)
		if _, err := f.build(ctx, "last"); err != nil { // An event, in whose place the error comes.
			return err
		}
		if err := f.await(ctx, events, 4); err != nil {
			return err
		}
		l.Step("passes through the transform")
		l.Say("first list: %s", first)
		l.Say("relist:     %s", passes.take())
		return nil
	})
}

// upset changes and deletes ida, and puts another moby in place of the first.
func (f *fleet) upset(ctx context.Context) error {
	if _, err := f.maps.Update(ctx, f.boat("ida", "9"), metav1.UpdateOptions{}); err != nil {
		return err
	}
	for _, name := range []string{"ida", "moby"} {
		if err := f.maps.Delete(ctx, f.boat(name, "").Name, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	_, err := f.build(ctx, "moby")
	return err
}

// await prints so many events, sorted: the order of a list is not promised.
func (f *fleet) await(ctx context.Context, events <-chan string, number int) error {
	var lines []string
	for range number {
		event, err := lab.Receive(ctx, "an event", events)
		if err != nil {
			return err
		}
		lines = append(lines, event)
	}
	slices.Sort(lines)
	for _, line := range lines {
		f.lab.Say("%s", line)
	}
	return nil
}

// deliver returns an untyped handler that describes what it gets.
func deliver(events chan<- string) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if boat, ok := object.(*corev1.ConfigMap); ok {
				events <- "add     " + boat.Name + yes(", in the first list: ", initial)
			}
		},
		UpdateFunc: func(before, after any) {
			a, _ := before.(*corev1.ConfigMap)
			b, ok := after.(*corev1.ConfigMap)
			if ok {
				events <- "update  " + b.Name + yes(", equal versions: ", a.ResourceVersion == b.ResourceVersion) + yes(", equal UIDs: ", a.UID == b.UID)
			}
		},
		DeleteFunc: func(object any) {
			switch deleted := object.(type) {
			case cache.DeletedFinalStateUnknown:
				boat, _ := deleted.Obj.(*corev1.ConfigMap)
				events <- "delete  DeletedFinalStateUnknown, key " + deleted.Key + ", length as the store knew it: " + boat.Data["length"]
			case *corev1.ConfigMap:
				events <- "delete  " + deleted.Name
			}
		},
	}
}

func yes(what string, is bool) string {
	if is {
		return what + "yes"
	}
	return what + "no"
}

// counts is how often each boat passed a transform.
type counts struct {
	mu sync.Mutex
	of map[string]int
}

func (c *counts) transform(object any) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch o := object.(type) {
	case *corev1.ConfigMap:
		c.of[o.Name]++
	default:
		c.of[fmt.Sprintf("%T", object)]++
	}
	return object, nil
}

// take returns the counts so far and begins again.
func (c *counts) take() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var words []string
	for _, name := range slices.Sorted(maps.Keys(c.of)) {
		words = append(words, fmt.Sprintf("%s %d", name, c.of[name]))
	}
	clear(c.of)
	return strings.Join(words, ", ")
}

// lossyWatch is a source whose watches lose events.
type lossyWatch struct {
	*cache.ListWatch
	// deaf swallows events; end puts 410 Expired in the place of the next one, and both are over.
	deaf, end atomic.Bool
}

func (f *fleet) lossyWatch() *lossyWatch {
	return &lossyWatch{ListWatch: cache.NewFilteredListWatchFromClient(f.lab.Client.CoreV1().RESTClient(), "configmaps", f.lab.Namespace,
		func(options *metav1.ListOptions) { options.LabelSelector = f.selector() })}
}

// WatchWithContext implements [cache.WatcherWithContext].
func (w *lossyWatch) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	inner, err := w.ListWatch.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	return lab.NewTap(inner, w.lose), nil
}

func (w *lossyWatch) lose(event watch.Event) (_ watch.Event, deliver bool) {
	if w.end.CompareAndSwap(true, false) {
		w.deaf.Store(false)
		return lab.Expired(), true
	}
	return event, !w.deaf.Load()
}
