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

// The generated informers create their ListerWatchers themselves, so nothing can wrap them. But a factory
// creates each informer only once: if a recorder observes an informer, this file creates it in the same way,
// before the generated code asks for it.

// instrumentation records the informers of one scope. nil disables recording.
type instrumentation struct {
	recorder  *debug.Recorder
	namespace string
	// name gives the FIFOs metrics. client-go has them only for informers with a name, and names are unique in a
	// process.
	name *cache.InformerName
	// of has the recorder of each resource and role.
	of map[recorded]*debug.ResourceRecorder
}

type recorded struct {
	resource schema.GroupVersionResource
	role     string
}

// The roles of informers in the recorder.
const (
	roleApplications = "applications"
	roleClasses      = "classes"
	roleChildren     = "children"
	rolePods         = "pods"
	roleReferences   = "references"
)

func newInstrumentation(recorder *debug.Recorder, namespace string) *instrumentation {
	if recorder == nil {
		return nil
	}
	return &instrumentation{recorder: recorder, namespace: namespace, of: map[recorded]*debug.ResourceRecorder{}}
}

// begin names the informers. Call it before creating them.
func (r *instrumentation) begin() (err error) {
	if r == nil {
		return nil
	}
	if r.name, err = cache.NewInformerName("fairlead-" + string(uuid.NewUUID())); err != nil {
		return fmt.Errorf("name the informers: %w", err)
	}
	return nil
}

// end releases the name. Call it once the informers have stopped. Others may begin after it.
func (r *instrumentation) end() {
	if r == nil {
		return
	}
	for _, recorder := range r.of {
		recorder.SetCache(nil)
	}
	r.name.Release()
}

// resource returns the recorder of a resource that describe created, or nil if recording is disabled.
func (r *instrumentation) resource(resource schema.GroupVersionResource, role string) *debug.ResourceRecorder {
	if r == nil {
		return nil
	}
	return r.of[recorded{resource, role}]
}

// describe creates the recorder of a resource, or returns the existing one, because a new informer may replace an old
// one.
func (r *instrumentation) describe(resource schema.GroupVersionResource, role string, options debug.ResourceOptions) *debug.ResourceRecorder {
	if made := r.resource(resource, role); made != nil {
		return made
	}
	options.Resource, options.Role, options.Namespace = resource.GroupResource().String(), role, r.namespace
	made := r.recorder.Resource(options)
	r.of[recorded{resource, role}] = made
	return made
}

// informer creates an informer as the generated code would. Unless r is nil, a recorder wraps its ListerWatcher.
func (r *instrumentation) informer(
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

// generated returns the options with which the generated code creates an informer.
func generated(resync time.Duration) cache.SharedIndexInformerOptions {
	return cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}}
}

// recordedAs distinguishes informers of one resource: client-go allows one per name.
func recordedAs(resource schema.GroupVersionResource, role string) schema.GroupVersionResource {
	if role == roleReferences {
		resource.Resource += "/" + role
	}
	return resource
}

// lister is the part of a generated client that an informer needs.
type lister[L runtime.Object] interface {
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// listerWatcher returns the ListerWatcher of a resource. client says whether it can stream lists.
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
