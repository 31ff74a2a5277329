// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fifo sends the same changes through the queue of today's informers, and through its predecessors.
package fifo

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// held is how long an event is processed when the lock is not free.
const held = 200 * time.Millisecond

// Lab needs no cluster: the queue stands between the reflector and the store, and this plays both.
func Lab(_ context.Context, l *lab.Lab) error {
	l.Step("the features that an informer of this build uses")
	for _, feature := range []features.Feature{
		features.InOrderInformers, features.AtomicFIFO, features.UnlockWhileProcessingFIFO, features.InOrderInformersBatchProcess,
	} {
		l.Say("%-30s %t", feature, features.FeatureGates().Enabled(feature))
	}

	known, err := storeOf("ida")
	if err != nil {
		return err
	}
	delta := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: known, EmitDeltaTypeReplaced: true})
	ordered := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known})
	atomic := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true})

	for _, queue := range []struct {
		name string
		cache.Queue
	}{{"DeltaFIFO, until 1.32", delta}, {"RealFIFO", ordered}, {"RealFIFO with atomic events", atomic}} {
		l.Step("%s: the store has ida; moby and nemo are added, moby is updated and deleted", queue.name)
		changes(queue)
		if err := drain(l, queue); err != nil {
			return err
		}
		l.Say("a relist returns only nemo:")
		if err := queue.Replace([]any{boat("nemo", "5")}, "5"); err != nil {
			return err
		}
		if err := drain(l, queue); err != nil {
			return err
		}
	}

	l.Step("a batch takes what is queued, each object once")
	changes(ordered)
	for range 3 {
		if err := popBatch(l, ordered); err != nil {
			return err
		}
	}

	return unlocked(l)
}

// unlocked shows when the queue's lock is free while an event is processed.
func unlocked(l *lab.Lab) error {
	l.Step("can the reflector add an event while another one is processed?")
	for _, waiting := range []int{0, 1999, 2000} {
		queue := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true})
		for range waiting + 1 {
			if err := queue.Add(boat("ida", "6")); err != nil {
				return err
			}
		}
		added := make(chan error, 1)
		_, err := queue.Pop(func(any, bool) error {
			go func() { added <- queue.Add(boat("moby", "7")) }()
			select {
			case err := <-added:
				l.Say("%4d events wait: yes", waiting)
				return err
			case <-time.After(held):
				l.Say("%4d events wait: no, it waits until the processing has ended", waiting)
				return nil
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// changes sends the events of a watch.
func changes(queue cache.Queue) {
	_ = queue.Add(boat("moby", "1"))
	_ = queue.Add(boat("nemo", "2"))
	_ = queue.Update(boat("moby", "3"))
	_ = queue.Delete(boat("moby", "4"))
}

// boat returns an object.
func boat(name, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "sea", Name: name, ResourceVersion: version}}
}

func storeOf(names ...string) (cache.Store, error) {
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	for _, name := range names {
		if err := store.Add(boat(name, "1")); err != nil {
			return nil, err
		}
	}
	return store, nil
}

// drain pops everything. Pop blocks on an empty queue, so one more event marks the end.
func drain(l *lab.Lab, queue cache.Queue) error {
	if err := queue.Add(boat("end", "9")); err != nil {
		return err
	}
	for done := false; !done; {
		_, err := queue.Pop(func(popped any, _ bool) error {
			deltas, ok := popped.(cache.Deltas)
			if !ok {
				return fmt.Errorf("a %T in the queue", popped)
			}
			if done = strings.Contains(describe(deltas), "end"); !done {
				l.Say("  Pop: %s", describe(deltas))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func popBatch(l *lab.Lab, queue cache.QueueWithBatch) error {
	return queue.PopBatch(
		func(deltas []cache.Delta, _ bool) error {
			l.Say("  PopBatch: %s", describe(deltas))
			return nil
		},
		func(popped any, _ bool) error {
			deltas, ok := popped.(cache.Deltas)
			if !ok {
				return fmt.Errorf("a %T in the queue", popped)
			}
			l.Say("  PopBatch: %s", describe(deltas))
			return nil
		})
}

func describe(deltas []cache.Delta) string {
	words := make([]string, 0, len(deltas))
	for _, delta := range deltas {
		words = append(words, fmt.Sprintf("%s %s", delta.Type, nameOf(delta.Object)))
	}
	return strings.Join(words, ", ")
}

func nameOf(object any) string {
	switch o := object.(type) {
	case *corev1.ConfigMap:
		return o.Name + "@" + o.ResourceVersion
	case cache.DeletedFinalStateUnknown:
		return "DeletedFinalStateUnknown{" + o.Key + "}"
	case cache.ReplacedAllInfo:
		names := make([]string, 0, len(o.Objects))
		for _, object := range o.Objects {
			names = append(names, nameOf(object))
		}
		return fmt.Sprintf("%v at version %s", names, o.ResourceVersion)
	default:
		return fmt.Sprintf("%T", object)
	}
}
