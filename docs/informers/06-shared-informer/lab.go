// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sharedinformer gives several handlers one informer, and shows when each of them knows what.
package sharedinformer

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

const label = "labs.fairlead.dev/boat"

// Lab shares an informer between a handler that prints, one that is stuck, and one that comes late.
func Lab(ctx context.Context, l *lab.Lab) error {
	requests := &counter{}
	config := rest.CopyConfig(l.Config)
	config.Wrap(requests.around)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	maps := client.CoreV1().ConfigMaps(l.Namespace)
	boat := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "ida", Labels: map[string]string{label: ""}}}
	if _, err := maps.Create(ctx, boat, metav1.CreateOptions{FieldManager: "lab"}); err != nil {
		return err
	}

	factory := informers.NewSharedInformerFactoryWithOptions(client, time.Second, informers.WithNamespace(l.Namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = label }),
		informers.WithTransform(withoutManagedFields))
	informer := factory.Core().V1().ConfigMaps().TypedInformer()

	never := cache.HandlerOptions{ResyncPeriod: new(time.Duration)}
	printed := make(chan string, 10)
	printing, err := informer.AddTypedEventHandler(tell(l, "printing", printed), never)
	if err != nil {
		return err
	}
	free := make(chan struct{})
	stuck, err := informer.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.ConfigMap]{
		AddFunc: func(*corev1.ConfigMap) { <-free },
	})
	if err != nil {
		return err
	}
	resynced := make(chan bool, 10)
	_, err = informer.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.ConfigMap]{
		UpdateFunc: func(before, after *corev1.ConfigMap) { resynced <- before == after },
	}) // The period is the factory's, one second.
	if err != nil {
		return err
	}

	ctx, cancel := context.WithCancel(ctx)
	defer factory.Shutdown()
	defer cancel()
	l.Step("start: one watch for all handlers")
	factory.StartWithContext(ctx)
	if !cache.WaitFor(ctx, "", informer.HasSyncedChecker(), printing.HasSyncedChecker()) {
		return context.Cause(ctx)
	}
	l.Say("synced: informer %t, handler printing %t, handler stuck %t", informer.HasSynced(), printing.HasSynced(), stuck.HasSynced())
	close(free)
	if !cache.WaitFor(ctx, "", stuck.HasSyncedChecker()) {
		return context.Cause(ctx)
	}
	l.Say("released; handler stuck %t", stuck.HasSynced())
	if _, err := lab.Receive(ctx, "the first event", printed); err != nil {
		return err
	}

	l.Step("a late handler gets the list from the cache")
	before := requests.watches.Load() + requests.lists.Load()
	late := make(chan string, 10)
	registration, err := informer.AddTypedEventHandler(tell(l, "late", late), never)
	if err != nil {
		return err
	}
	if _, err := lab.Receive(ctx, "the event for the late handler", late); err != nil {
		return err
	}
	l.Say("requests for it: %d", requests.watches.Load()+requests.lists.Load()-before)
	if err := cache.ShutDownEventHandler(informer, registration); err != nil {
		return err
	}

	l.Step("a resync replays the cache, only to the handler that wants it")
	same, err := lab.Receive(ctx, "a resync", resynced)
	if err != nil {
		return err
	}
	l.Say("handler resyncing: update, the same object before and after: %t; events for handler printing: %d", same, len(printed))
	l.Say("requests so far: %d list, %d watch", requests.lists.Load(), requests.watches.Load())

	l.Step("a change and a deletion")
	boat.Data = map[string]string{"length": "3"}
	if _, err := maps.Update(ctx, boat, metav1.UpdateOptions{FieldManager: "lab"}); err != nil {
		return err
	}
	if _, err := lab.Receive(ctx, "the update", printed); err != nil {
		return err
	}
	if err := maps.Delete(ctx, "ida", metav1.DeleteOptions{}); err != nil {
		return err
	}
	_, err = lab.Receive(ctx, "the deletion", printed)
	return err
}

// withoutManagedFields is a transform. It may change the object: nothing else has it yet.
func withoutManagedFields(object any) (any, error) {
	if configMap, ok := object.(*corev1.ConfigMap); ok {
		configMap.ManagedFields = nil
	}
	return object, nil
}

// tell returns a handler that prints.
func tell(l *lab.Lab, name string, printed chan<- string) cache.TypedResourceEventHandler[*corev1.ConfigMap] {
	say := func(format string, arguments ...any) {
		l.Say("handler "+name+": "+format, arguments...)
		printed <- name
	}
	return cache.TypedResourceEventHandlerDetailedFuncs[*corev1.ConfigMap]{
		AddFunc: func(object *corev1.ConfigMap, initialList bool) {
			say("add %s, in the first list: %t, managedFields: %d", object.Name, initialList, len(object.ManagedFields))
		},
		UpdateFunc: func(before, after *corev1.ConfigMap) {
			say("update %s, %v -> %v", after.Name, before.Data, after.Data)
		},
		DeleteFunc: func(deleted cache.DeletedObject[*corev1.ConfigMap]) {
			say("delete %s, final state known: %t", deleted.GetName(), deleted.FinalStateUnknown == nil)
		},
	}
}

// counter counts the reading requests for collections.
type counter struct{ lists, watches atomic.Int64 }

func (c *counter) around(next http.RoundTripper) http.RoundTripper {
	return lab.RoundTripper(func(request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodGet {
			if request.URL.Query().Get("watch") != "" {
				c.watches.Add(1)
			} else {
				c.lists.Add(1)
			}
		}
		return next.RoundTrip(request)
	})
}
