// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/debug"
)

// The generated informers make their ListerWatchers themselves, and nothing can be put around them. But
// a factory makes each informer only once: where a recorder wants to see what goes through, it is made
// here, in the same way, before the generated code asks for it.

// recording is what the informers of one scope are recorded with. A nil one records nothing.
type recording struct {
	recorder  *debug.Recorder
	namespace string
	// name lets the FIFOs tell how deep they are: client-go asks for metrics of informers with a name
	// alone, and names are unique in a process.
	name *cache.InformerName
	// of has the recorder of each resource and role.
	of map[recorded]*debug.ResourceRecorder
}

type recorded struct {
	resource schema.GroupVersionResource
	role     string
}

// The roles of informers, as the recorder tells them.
const (
	roleApplications = "applications"
	roleClasses      = "classes"
	roleChildren     = "children"
	rolePods         = "pods"
	roleReferences   = "references"
)

func newRecording(recorder *debug.Recorder, namespace string) *recording {
	if recorder == nil {
		return nil
	}
	return &recording{recorder: recorder, namespace: namespace, of: map[recorded]*debug.ResourceRecorder{}}
}

// begin is to be called before informers are made. It gives them a name.
func (r *recording) begin() (err error) {
	if r == nil {
		return nil
	}
	if r.name, err = cache.NewInformerName("fairlead-" + string(uuid.NewUUID())); err != nil {
		return fmt.Errorf("name the informers: %w", err)
	}
	return nil
}

// end is to be called once the informers have stopped. Others may begin after them.
func (r *recording) end() {
	if r == nil {
		return
	}
	for _, recorder := range r.of {
		recorder.SetCache(nil)
	}
	r.name.Release()
}

// resource returns the recorder of a resource, made by describe before; nil if nothing is recorded.
func (r *recording) resource(resource schema.GroupVersionResource, role string) *debug.ResourceRecorder {
	if r == nil {
		return nil
	}
	return r.of[recorded{resource, role}]
}

// describe makes the recorder of a resource, or returns the one that there is: informers may follow one another.
func (r *recording) describe(resource schema.GroupVersionResource, role string, options debug.ResourceOptions) *debug.ResourceRecorder {
	if made := r.resource(resource, role); made != nil {
		return made
	}
	options.Resource, options.Role, options.Namespace = resource.GroupResource().String(), role, r.namespace
	made := r.recorder.Resource(options)
	r.of[recorded{resource, role}] = made
	return made
}

// informer makes an informer as the generated code would, with a recorder around its ListerWatcher if it is
// to be recorded.
func (r *recording) informer(
	resource schema.GroupVersionResource, role string, options debug.ResourceOptions,
	listerWatcher cache.ListerWatcher, example runtime.Object, informerOptions cache.SharedIndexInformerOptions,
) cache.SharedIndexInformer {
	if r == nil {
		return cache.NewSharedIndexInformerWithOptions(listerWatcher, example, informerOptions)
	}
	recorder := r.describe(resource, role, options)
	informerOptions.Identifier = r.name.WithResource(recordedAs(resource, role))
	informerOptions.InformerMetricsProvider = recorder.Metrics()
	made := cache.NewSharedIndexInformerWithOptions(recorder.ListerWatcher(listerWatcher), example, informerOptions)
	recorder.SetCache(made.GetIndexer())
	return made
}

// generated are the options that the generated code gives an informer.
func generated(resync time.Duration) cache.SharedIndexInformerOptions {
	return cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}}
}

// recordedAs tells informers of one resource apart, of which client-go wants one per name.
func recordedAs(resource schema.GroupVersionResource, role string) schema.GroupVersionResource {
	if role == roleReferences {
		resource.Resource += "/" + role
	}
	return resource
}

// lister is a typed client as generated, of one resource.
type lister[L runtime.Object] interface {
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// listerWatcher makes the ListerWatcher of a resource; client is asked whether it can stream lists.
func listerWatcher[L runtime.Object](client any, resource lister[L], selector string) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector = selector
			return resource.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = selector
			return resource.Watch(ctx, options)
		},
	}, client)
}
