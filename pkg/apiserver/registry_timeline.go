// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
)

// timelinePeriod is how often a watch asks the leader again.
const timelinePeriod = 2 * time.Second

// timelines is the registry of applications/timeline.
type timelines struct {
	caches   *caches
	history  *history // It knows whether the caches are filled.
	access   access
	limits   Limits
	open     *quota
	recorded func(ctx context.Context, name cache.ObjectName) (*debug.Timeline, error)
	stopping <-chan struct{}
}

var (
	_ rest.Getter         = &timelines{}
	_ rest.Watcher        = &timelines{}
	_ rest.TableConvertor = &timelines{}
)

func (r *timelines) New() runtime.Object { return &v1alpha1.ApplicationTimeline{} }
func (r *timelines) Destroy()            {}

// Get returns what the leader has recorded about one Application.
func (r *timelines) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	application, err := r.application(ctx, name)
	if err != nil {
		return nil, err
	}
	release, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return r.read(ctx, application, 0)
}

func (r *timelines) read(ctx context.Context, application *v1.Application, after uint64) (*v1alpha1.ApplicationTimeline, error) {
	recorded, err := r.recorded(ctx, cache.MetaObjectToName(application))
	if err != nil {
		return nil, err
	}
	return newTimeline(application, recorded, after), nil
}

// application returns the cached Application, if the user may see its timeline.
func (r *timelines) application(ctx context.Context, name string) (*v1.Application, error) {
	if err := r.mayRead(ctx, name); err != nil {
		return nil, err
	}
	if err := r.history.ready(); err != nil {
		return nil, err
	}
	application, found := r.caches.application(cache.ObjectName{Namespace: request.NamespaceValue(ctx), Name: name})
	if !found {
		return nil, apierrors.NewNotFound(v1alpha1.Resource(v1.ApplicationResource), name)
	}
	return application, nil
}

// mayRead returns an error unless the user of the request may read all that a timeline names: the Application, its children and
// its pods.
func (r *timelines) mayRead(ctx context.Context, name string) error {
	needed := []permission{onApplications("get", name), onPods("list", ""), {verb: "list", group: "apps", version: "v1", resource: "replicasets"}}
	for _, kind := range child.Kinds() {
		needed = append(needed, onChildren(kind))
	}
	return r.access.require(ctx, name, needed...)
}

func (r *timelines) acquire(ctx context.Context) (release func(), err error) {
	user, known := request.UserFrom(ctx)
	if !known {
		return nil, apierrors.NewInternalError(errors.New("the request has no user"))
	}
	return r.open.acquire(user.GetName())
}

// Watch sends what the leader has recorded, and then, as it comes, what it records.
func (r *timelines) Watch(ctx context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	name := ""
	if options != nil && options.FieldSelector != nil {
		name, _ = options.FieldSelector.RequiresExactMatch("metadata.name")
	}
	if name == "" {
		return nil, apierrors.NewBadRequest("a watch of timelines must name one Application")
	}
	application, err := r.application(ctx, name)
	if err != nil {
		return nil, err
	}
	release, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancelCause(ctx)
	ctx, stopTimer := context.WithTimeoutCause(ctx, r.limits.TotalTime, errTotalTime)
	go guard(ctx, end, r.stopping, func(ctx context.Context) error { return r.mayRead(ctx, name) })
	w := &timelineWatch{registry: r, application: application, events: make(chan watch.Event)}
	go func() {
		defer close(w.events)
		defer release()
		defer stopTimer()
		defer end(nil)
		w.run(ctx)
	}()
	return &stoppable{events: w.events, stop: func() { end(nil) }}, nil
}

// timelineWatch follows the record of one Application.
type timelineWatch struct {
	registry    *timelines
	application *v1.Application
	events      chan watch.Event
	// instance and sequence are of the newest event that was sent.
	instance string
	sequence uint64
}

func (w *timelineWatch) run(ctx context.Context) {
	ticker := time.NewTicker(timelinePeriod)
	defer ticker.Stop()
	for kind := watch.Added; ; kind = watch.Modified {
		if !w.next(ctx, kind) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// next sends the new events. While no leader answers there are none, and the watch goes on.
func (w *timelineWatch) next(ctx context.Context, kind watch.EventType) bool {
	recorded, err := w.registry.recorded(ctx, cache.MetaObjectToName(w.application))
	if err != nil && kind == watch.Modified && apierrors.IsServiceUnavailable(err) {
		return true
	}
	if err != nil {
		w.send(ctx, watch.Event{Type: watch.Error, Object: statusOf(err)})
		return false
	}
	if recorded.Instance != w.instance {
		w.instance, w.sequence = recorded.Instance, 0 // A new leader counts from the beginning.
	}
	timeline := newTimeline(w.application, recorded, w.sequence)
	w.sequence = max(w.sequence, recorded.Sequence)
	if kind == watch.Modified && len(timeline.Events) == 0 {
		return true
	}
	return w.send(ctx, watch.Event{Type: kind, Object: timeline})
}

func (w *timelineWatch) send(ctx context.Context, event watch.Event) bool {
	select {
	case <-ctx.Done():
		return false
	case w.events <- event:
		return true
	}
}

func statusOf(err error) *metav1.Status {
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		status := known.Status()
		return &status
	}
	status := apierrors.NewInternalError(err).Status()
	return &status
}

// ConvertToTable has one row for each event.
func (r *timelines) ConvertToTable(_ context.Context, object, _ runtime.Object) (*metav1.Table, error) {
	shown, ok := object.(*v1alpha1.ApplicationTimeline)
	if !ok {
		return nil, fmt.Errorf("no table for %T", object)
	}
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{
		{Name: "Time", Type: "string"}, {Name: "Stage", Type: "string"}, {Name: "Type", Type: "string"}, {Name: "Object", Type: "string"},
		{Name: "Result", Type: "string"}, {Name: "Reason", Type: "string"},
	}}
	// As in the table of a tree.
	row := runtime.RawExtension{Object: &v1alpha1.ApplicationTimeline{ObjectMeta: shown.ObjectMeta}}
	for i := range shown.Events {
		event := &shown.Events[i]
		table.Rows = append(table.Rows, metav1.TableRow{Object: row, Cells: []any{
			event.Time.UTC().Format(time.RFC3339), event.Stage, event.Type, event.Resource + " " + event.Object, event.Result, event.Reason,
		}})
	}
	return table, nil
}
