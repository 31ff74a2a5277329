// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
)

// instrumentedHandler returns a handler that records its calls. Without a recorder it returns the handler itself.
func instrumentedHandler[T handled](recorder *debug.ResourceRecorder, handler cache.TypedResourceEventHandler[T]) cache.TypedResourceEventHandler[T] {
	if recorder == nil {
		return handler
	}
	return cache.TypedResourceEventHandlerDetailedFuncs[T]{
		AddFunc: func(object T, initialList bool) {
			recorder.Handled(recorder.Key(object), nil, object, initialList)
			handler.OnAdd(object, initialList)
		},
		UpdateFunc: func(before, after T) {
			recorder.Handled(recorder.Key(after), before, after, false)
			handler.OnUpdate(before, after)
		},
		DeleteFunc: func(object cache.DeletedObject[T]) {
			var none T
			if last := object.OptionalObj; last != none {
				recorder.Handled(recorder.Key(last), last, nil, false)
			}
			handler.OnDelete(object)
		},
	}
}

// instrumentedChildHandler is instrumentedHandler for children.
func instrumentedChildHandler(r *instrumentation, handler ChildHandler) ChildHandler {
	if r == nil {
		return handler
	}
	return childRecorder{instrumentation: r, handler: handler}
}

// handled are the types that handlers get. A typed informer requires that they compare with nil.
type handled interface {
	cache.Object
	metav1.Object
}

type childRecorder struct {
	instrumentation *instrumentation
	handler         ChildHandler
}

func (c childRecorder) ChildAdded(kind child.Kind, object *Encoded, initialList bool) {
	c.handled(kind, nil, object, initialList)
	c.handler.ChildAdded(kind, object, initialList)
}

func (c childRecorder) ChildUpdated(kind child.Kind, before, after *Encoded) {
	c.handled(kind, before, after, false)
	c.handler.ChildUpdated(kind, before, after)
}

func (c childRecorder) ChildDeleted(kind child.Kind, object *Encoded) {
	c.handled(kind, object, nil, false)
	c.handler.ChildDeleted(kind, object)
}

func (c childRecorder) handled(kind child.Kind, before, after *Encoded, initialList bool) {
	recorder := c.instrumentation.resource(kind.GroupVersionResource(), roleChildren)
	switch {
	case recorder == nil:
	case before == nil:
		recorder.Handled(encodedApplication(after), nil, after, initialList)
	case after == nil:
		recorder.Handled(encodedApplication(before), before, nil, false)
	default:
		recorder.Handled(encodedApplication(after), before, after, false)
	}
}

// instrumentedChanges is instrumentedHandler for pods and ReplicaSets. It also records calls that mean nothing to a
// sync.
func instrumentedChanges[T handled](recorder *debug.ResourceRecorder, handler changes[T]) changes[T] {
	if recorder == nil {
		return handler
	}
	return func(before, after T, initialList bool) {
		var none T
		switch {
		case before == none:
			recorder.Handled(podApplication(after), nil, after, initialList)
		case after == none:
			recorder.Handled(podApplication(before), before, nil, false)
		default:
			recorder.Handled(podApplication(after), before, after, false)
		}
		handler(before, after, initialList)
	}
}
