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

// ReferenceHandler handles changes of ConfigMaps and Secrets to which Applications refer. It must return quickly.
type ReferenceHandler interface {
	// ReferenceAdded is called for a new object.
	ReferenceAdded(kind reference.Kind, object cache.ObjectName, applications []cache.ObjectName)
	// ReferenceChanged is called for an object that was updated, replaced or deleted.
	ReferenceChanged(kind reference.Kind, object cache.ObjectName, applications []cache.ObjectName)
	// ReferencesSynced is called for each kind and scope when its cache has synced, is forbidden, or did not sync in
	// time, and once more when it syncs after that. The Applications are all that refer to the kind.
	ReferencesSynced(kind reference.Kind, applications []cache.ObjectName)
}

// WatchState is the state of a cache of references.
type WatchState int

const (
	// WatchPending means that the cache has not synced yet. ReferencesSynced is called when it has.
	WatchPending WatchState = iota
	// WatchSynced means that the cache has synced and is kept up to date.
	WatchSynced
	// WatchForbidden means that the controller may not read the kind. It does not ask again.
	WatchForbidden
	// WatchListFailed means that the API server cannot list the kind. The informer retries, and ReferencesSynced is
	// called when it succeeds.
	WatchListFailed
)

// accessRetry is the delay after a failed access review.
const accessRetry = 5 * time.Second

// references is the cache of one kind of reference in one scope. It has all objects of the kind, because nothing in a
// ConfigMap or Secret says which workloads use it. So it keeps almost nothing of each (see refMeta), and starts only
// once an Application needs it.
type references struct {
	kind      reference.Kind
	resource  schema.GroupVersionResource
	namespace string
	informer  cache.SharedIndexInformer
	// concerned returns the Applications that refer to an object, or all that refer to the kind if object is nil.
	concerned func(kind reference.Kind, object *cache.ObjectName) []cache.ObjectName
	permitted Access
	recorder  *debug.ResourceRecorder

	handler ReferenceHandler
	synced  cache.DoneChecker

	activate  func()
	activated chan struct{}

	mu       sync.Mutex
	watching WatchState
	// message explains why the kind is not watched, and listError is the reason of the last failed list.
	message   string
	listError metav1.StatusReason
}

func newReferences(client metadata.Interface, kind reference.Kind, namespace string, permitted Access, instrumentation *instrumentation) (*references, error) {
	resource := corev1.SchemeGroupVersion.WithResource(referenceResource(kind))
	activated := make(chan struct{})
	r := &references{
		kind: kind, resource: resource, namespace: namespace, permitted: permitted,
		activated: activated,
		activate:  sync.OnceFunc(func() { close(activated) }),
	}
	if instrumentation != nil {
		r.informer = recordReferences(instrumentation, client, kind)
		r.recorder = instrumentation.resource(resource, roleReferences)
	} else {
		r.informer = metadatainformer.NewFilteredMetadataInformer(client, resource, namespace, 0, cache.Indexers{}, nil).Informer()
	}
	if err := r.informer.SetTransform(newRefMeta); err != nil {
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

// handle registers the handler. Call it once, before run.
func (r *references) handle(handler ReferenceHandler) error {
	r.handler = handler
	registration, err := r.informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initialList bool) {
			// The first list notifies once, at its end: all Applications wait for it.
			if t, ok := object.(*refMeta); ok && !initialList {
				r.notify(nil, t, handler.ReferenceAdded)
			}
		},
		UpdateFunc: func(before, after any) {
			b, _ := before.(*refMeta)
			a, ok := after.(*refMeta)
			if ok && b != nil && b.version() != a.version() {
				r.notify(b, a, handler.ReferenceChanged)
			}
		},
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = tombstone.Obj
			}
			if t, ok := object.(*refMeta); ok {
				r.notify(t, nil, handler.ReferenceChanged)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("handle %s: %w", r.kind, err)
	}
	r.synced = registration.HasSyncedChecker()
	return nil
}

// notify calls the handler with the Applications that an event concerns. Most events concern none. before is nil for
// a new object, after for a deleted one.
func (r *references) notify(before, after *refMeta, call func(reference.Kind, cache.ObjectName, []cache.ObjectName)) {
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

// run waits for activate, and runs the informer if the controller may watch. It returns when ctx ends.
func (r *references) run(ctx context.Context) {
	select {
	case <-r.activated:
	case <-ctx.Done():
		return
	}
	if permitted := r.canWatch(ctx); ctx.Err() != nil {
		return
	} else if !permitted {
		r.decide(WatchForbidden, "the controller has no permission to get, list and watch them")
		return
	}
	klog.FromContext(ctx).V(2).Info("Watching what Applications refer to", "resource", r.resource.Resource, "namespace", r.namespace)
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { r.informer.RunWithContext(ctx) })
	if !waitForList(ctx, r.synced) && ctx.Err() == nil {
		klog.FromContext(ctx).Info("List timed out; continuing without the resource and retrying", "resource", r.resource.Resource, "namespace", r.namespace, "waited", listTimeout)
		r.decide(WatchListFailed, r.notListed())
	}
	if cache.WaitFor(ctx, "", r.synced) {
		r.decide(WatchSynced, "")
	}
}

// watchError records why the API server cannot list the kind, and reports it.
func (r *references) watchError(ctx context.Context, reflector *cache.Reflector, err error) {
	r.mu.Lock()
	r.listError = apierrors.ReasonForError(err)
	r.mu.Unlock()
	reportWatchError(r.resource.Resource)(ctx, reflector, err)
}

// notListed returns a message that has only a reason, because the API server's own message may name a Secret of
// another namespace.
func (r *references) notListed() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%ss cannot be listed (%s); the controller retries, and its log has the error", r.kind, cmp.Or(string(r.listError), "NoAnswer"))
}

// canWatch reports whether the controller has the permissions. Without this review the API server would refuse one
// watch after the other.
func (r *references) canWatch(ctx context.Context) bool {
	logger := klog.FromContext(ctx).WithValues("resource", r.resource.Resource, "namespace", r.namespace)
	permitted := waitForAccess(ctx, r.permitted, r.resource.GroupResource(), r.namespace)
	if !permitted && ctx.Err() == nil {
		logger.Info("No permission to get, list and watch the resource; its changes do not roll pods until you grant it and restart")
	}
	return permitted
}

func (r *references) decide(watching WatchState, message string) {
	r.mu.Lock()
	r.watching, r.message = watching, message
	r.mu.Unlock()
	if applications := r.concerned(r.kind, nil); len(applications) > 0 {
		r.handler.ReferencesSynced(r.kind, applications)
	}
}

func (r *references) state() (watching WatchState, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watching, r.message
}

// version returns the version of the cached object, or the zero Version.
func (r *references) version(object cache.ObjectName) reference.Version {
	found, exists, err := r.informer.GetStore().GetByKey(object.String())
	if t, ok := found.(*refMeta); ok && exists && err == nil {
		return t.version()
	}
	return reference.Version{}
}
