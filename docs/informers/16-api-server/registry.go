// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"
)

func resource() schema.GroupResource {
	return schema.GroupResource{Group: groupVersion().Group, Resource: "sessions"}
}

// registry is the resource: each method that it has is a verb that the generic server serves.
type registry struct {
	rest.TableConvertor
	store  *store
	scheme *runtime.Scheme
}

var (
	_ rest.Scoper               = &registry{}
	_ rest.SingularNameProvider = &registry{}
	_ rest.Creater              = &registry{} //nolint:misspell // the name is Kubernetes'
	_ rest.Getter               = &registry{}
	_ rest.Lister               = &registry{}
	_ rest.Watcher              = &registry{}
	_ rest.GracefulDeleter      = &registry{}
)

func (r *registry) New() runtime.Object     { return &Session{} }
func (r *registry) NewList() runtime.Object { return &SessionList{} }
func (r *registry) Destroy()                {}
func (r *registry) NamespaceScoped() bool   { return true }
func (r *registry) GetSingularName() string { return "session" }

// Create validates in this process: kube-apiserver passes the bytes on and knows no schema.
func (r *registry) Create(ctx context.Context, object runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	if err := validate(ctx, object); err != nil { // admission plugins, if there were any
		return nil, err
	}
	given, ok := object.(*Session)
	if !ok {
		return nil, apierrors.NewBadRequest("this is no session")
	}
	made := given.copied()
	if made.Minutes < 1 {
		return nil, apierrors.NewInvalid(groupVersion().WithKind("Session").GroupKind(), made.Name,
			field.ErrorList{field.Invalid(field.NewPath("minutes"), made.Minutes, "must be at least 1")})
	}
	made.Namespace, made.UID, made.CreationTimestamp = request.NamespaceValue(ctx), uuid.NewUUID(), metav1.Now()
	return r.store.create(made)
}

func (r *registry) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	return r.store.get(nameIn(ctx, name))
}

func (r *registry) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	list := &SessionList{}
	var version int
	list.Items, version = r.store.list(selects(ctx, options))
	list.ResourceVersion = strconv.Itoa(version)
	return list, nil
}

// Watch sends what has changed since the version of the options. Without one, it sends the present sessions first.
func (r *registry) Watch(ctx context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	matches := selects(ctx, options)
	var initial []Session
	version, err := strconv.Atoi(options.ResourceVersion)
	if err != nil || version == 0 {
		initial, version = r.store.list(matches)
	}
	events := make(chan watch.Event)
	watching := watch.NewProxyWatcher(events)
	send := func(event watch.Event) bool {
		select {
		case events <- event:
			return true
		case <-watching.StopChan():
		case <-ctx.Done():
		}
		return false
	}
	go func() {
		defer close(events)
		for i := range initial {
			if !send(watch.Event{Type: watch.Added, Object: &initial[i]}) {
				return
			}
		}
		for {
			changes, more := r.store.since(version)
			for _, c := range changes {
				version++
				if matches(c.Session) && !send(watch.Event{Type: c.kind, Object: c.copied()}) {
					return
				}
			}
			select {
			case <-more:
			case <-watching.StopChan():
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return watching, nil
}

// Delete is graceful if streams are open: the session gets a deletionTimestamp, and goes with its last stream or after the
// grace period. The rules, such as that a second delete may only shorten the period, are those of pods.
func (r *registry) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	return r.store.delete(nameIn(ctx, name), func(session *Session, streams int) (graceful, pending bool, err error) {
		if err := validate(ctx, session); err != nil {
			return false, false, err
		}
		return rest.BeforeDelete(strategy{r.scheme, streams}, ctx, session, options)
	})
}

// defaultGrace is how long streams may take to end, if the request does not say.
const defaultGrace = 30 * time.Second

// strategy is what BeforeDelete asks about sessions.
type strategy struct {
	runtime.ObjectTyper
	streams int
}

// CheckGracefulDelete implements [rest.RESTGracefulDeleteStrategy].
func (s strategy) CheckGracefulDelete(_ context.Context, _ runtime.Object, options *metav1.DeleteOptions) bool {
	if options.GracePeriodSeconds == nil {
		options.GracePeriodSeconds = new(int64(defaultGrace.Seconds()))
	}
	return s.streams > 0 && *options.GracePeriodSeconds > 0
}

func nameIn(ctx context.Context, name string) cache.ObjectName {
	return cache.ObjectName{Namespace: request.NamespaceValue(ctx), Name: name}
}

// selects are the sessions of the request's namespace with the labels that it asks for.
func selects(ctx context.Context, options *metainternalversion.ListOptions) func(*Session) bool {
	namespace := request.NamespaceValue(ctx)
	return func(session *Session) bool {
		return (namespace == "" || namespace == session.Namespace) &&
			(options.LabelSelector == nil || options.LabelSelector.Matches(labelsOf(session)))
	}
}
