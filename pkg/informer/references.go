// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/reference"
)

// ReferenceHandler is told about ConfigMaps and Secrets that Applications refer to, and which
// Applications those are. It must be quick.
type ReferenceHandler interface {
	// ReferenceAdded is called for an object that was not there before.
	ReferenceAdded(kind reference.Kind, object cache.ObjectName, applications []cache.ObjectName)
	// ReferenceChanged is called for an object that was changed, replaced or deleted.
	ReferenceChanged(kind reference.Kind, object cache.ObjectName, applications []cache.ObjectName)
	// ReferencesDecided is called for each kind and scope when the cache is filled, or may not be, or is not filled in time;
	// then once more when it is. The Applications are all that refer to the kind.
	ReferencesDecided(kind reference.Kind, applications []cache.ObjectName)
}

// Watching is how far a cache of references has come.
type Watching int

const (
	// NotYet: nobody knows yet which objects there are. ReferencesDecided tells when that is over.
	NotYet Watching = iota
	// Watched: the cache is filled, and kept up to date.
	Watched
	// NotPermitted: the controller may not read the kind. It is not asked for again.
	NotPermitted
	// NotListed: the API server does not list the kind. The informer retries, and ReferencesDecided tells when it succeeds.
	NotListed
)

// accessRetry is how long after a failure it is asked again whether a kind may be read.
const accessRetry = 5 * time.Second

// references is the cache of one kind of reference in one scope: of all its objects, since nothing
// in a ConfigMap or Secret tells who uses it. So it keeps next to nothing of them (see trace), and
// is filled only once an Application needs it.
type references struct {
	kind      reference.Kind
	resource  schema.GroupVersionResource
	namespace string
	informer  cache.SharedIndexInformer
	// concerned finds the Applications that refer to one object, or all that refer to the kind.
	concerned func(kind reference.Kind, object *cache.ObjectName) []cache.ObjectName
	permitted Access
	recorder  *debug.ResourceRecorder

	handler ReferenceHandler
	synced  cache.DoneChecker

	want   func()
	wanted chan struct{}

	mu       sync.Mutex
	watching Watching
	// why is why the kind is not watched, for people; listError is the reason of the last failure to list it.
	why       string
	listError metav1.StatusReason
}

func newReferences(client metadata.Interface, kind reference.Kind, namespace string, permitted Access, recording *recording) (*references, error) {
	resource := corev1.SchemeGroupVersion.WithResource(referenceResource(kind))
	wanted := make(chan struct{})
	r := &references{
		kind: kind, resource: resource, namespace: namespace, permitted: permitted,
		wanted: wanted,
		want:   sync.OnceFunc(func() { close(wanted) }),
	}
	if recording != nil {
		r.informer = recordReferences(recording, client, kind)
		r.recorder = recording.resource(resource, roleReferences)
	} else {
		r.informer = metadatainformer.NewFilteredMetadataInformer(client, resource, namespace, 0, cache.Indexers{}, nil).Informer()
	}
	if err := r.informer.SetTransform(newTrace); err != nil {
		return nil, fmt.Errorf("trim %s: %w", kind, err)
	}
	if err := r.informer.SetWatchErrorHandlerWithContext(r.watchError); err != nil {
		return nil, fmt.Errorf("set watch error handler for %s: %w", kind, err)
	}
	return r, nil
}

func referenceResource(kind reference.Kind) string {
	if kind == reference.Secret {
		return "secrets"
	}
	return "configmaps"
}

// handle registers the handler. Call it before run, and once.
func (r *references) handle(handler ReferenceHandler) error {
	r.handler = handler
	registration, err := r.informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initialList bool) {
			// Of the first list nobody is told one by one: all Applications wait for its end.
			if t, ok := object.(*trace); ok && !initialList {
				r.tell(nil, t, handler.ReferenceAdded)
			}
		},
		UpdateFunc: func(before, after any) {
			b, _ := before.(*trace)
			a, ok := after.(*trace)
			if ok && b != nil && b.version() != a.version() {
				r.tell(b, a, handler.ReferenceChanged)
			}
		},
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = tombstone.Obj
			}
			if t, ok := object.(*trace); ok {
				r.tell(t, nil, handler.ReferenceChanged)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("handle %s: %w", r.kind, err)
	}
	r.synced = registration.HasSyncedChecker()
	return nil
}

// tell finds out whom an event concerns. Most objects are nobody's. before is nil for a new one, after
// for one that is gone.
func (r *references) tell(before, after *trace, call func(reference.Kind, cache.ObjectName, []cache.ObjectName)) {
	object := cmp.Or(after, before).objectName()
	applications := r.concerned(r.kind, &object)
	if len(applications) == 0 {
		return
	}
	if r.recorder != nil {
		for _, application := range applications {
			r.recorder.Handled(application, before.meta(), after.meta(), false)
		}
	}
	call(r.kind, object, applications)
}

// run waits until the cache is wanted, and fills it if that is permitted. It returns when ctx ends.
func (r *references) run(ctx context.Context) {
	select {
	case <-r.wanted:
	case <-ctx.Done():
		return
	}
	if permitted := r.mayWatch(ctx); ctx.Err() != nil {
		return
	} else if !permitted {
		r.decide(NotPermitted, "the controller has no permission to get, list and watch them")
		return
	}
	klog.FromContext(ctx).V(2).Info("Watching what Applications refer to", "resource", r.resource.Resource, "namespace", r.namespace)
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { r.informer.RunWithContext(ctx) })
	if !listedSoon(ctx, r.synced) && ctx.Err() == nil {
		klog.FromContext(ctx).Info("List timed out; continuing without the resource and retrying", "resource", r.resource.Resource, "namespace", r.namespace, "waited", listPatience)
		r.decide(NotListed, r.notListed())
	}
	if cache.WaitFor(ctx, "", r.synced) {
		r.decide(Watched, "")
	}
}

// watchError remembers why the kind cannot be listed, and reports it.
func (r *references) watchError(ctx context.Context, reflector *cache.Reflector, err error) {
	r.mu.Lock()
	r.listError = apierrors.ReasonForError(err)
	r.mu.Unlock()
	reportWatchError(r.resource.Resource)(ctx, reflector, err)
}

// notListed says only by a word why: the message of the API server may name a Secret of another namespace.
func (r *references) notListed() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%ss cannot be listed (%s); the controller retries, and its log has the error", r.kind, cmp.Or(string(r.listError), "NoAnswer"))
}

// mayWatch asks the API server whether the controller has the permissions, until there is an
// answer. Without asking, a watch would be refused again and again.
func (r *references) mayWatch(ctx context.Context) bool {
	logger := klog.FromContext(ctx).WithValues("resource", r.resource.Resource, "namespace", r.namespace)
	permitted := untilKnown(ctx, r.permitted, r.resource.GroupResource(), r.namespace)
	if !permitted && ctx.Err() == nil {
		logger.Info("No permission to get, list and watch the resource: its changes do not roll pods; grant them and restart")
	}
	return permitted
}

func (r *references) decide(watching Watching, why string) {
	r.mu.Lock()
	r.watching, r.why = watching, why
	r.mu.Unlock()
	if applications := r.concerned(r.kind, nil); len(applications) > 0 {
		r.handler.ReferencesDecided(r.kind, applications)
	}
}

func (r *references) state() (watching Watching, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watching, r.why
}

// version is that of the cached object, or the zero Version.
func (r *references) version(object cache.ObjectName) reference.Version {
	found, exists, err := r.informer.GetStore().GetByKey(object.String())
	if t, ok := found.(*trace); ok && exists && err == nil {
		return t.version()
	}
	return reference.Version{}
}
