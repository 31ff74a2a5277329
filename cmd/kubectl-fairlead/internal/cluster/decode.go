// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree"
)

func named(name string) func(unstructured.Unstructured) bool {
	return func(object unstructured.Unstructured) bool { return object.GetName() == name }
}

// decode makes a child typed, as the controller has it. ServiceMonitors have no Go type here and stay as they are.
func decode(kind child.Kind, object *unstructured.Unstructured) (child.Object, error) {
	var typed child.Object
	switch kind {
	case child.ServiceMonitor:
		return object, nil
	case child.HTTPRoute:
		typed = &gatewayv1.HTTPRoute{}
	default:
		empty, err := scheme.Scheme.New(kind.GroupVersionKind())
		if err != nil {
			return nil, err
		}
		var ok bool
		if typed, ok = empty.(child.Object); !ok {
			return nil, fmt.Errorf("%T has no metadata", empty)
		}
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, object.GetName(), err)
	}
	return typed, nil
}

// sortEvents keeps the Events about the Application, and the Warnings about its objects; the newest first.
func (l *Loaded) sortEvents() {
	all := l.Events
	l.Events = nil
	uids := map[types.UID]bool{}
	for _, object := range l.Children {
		uids[object.GetUID()] = true
	}
	for _, r := range l.ReplicaSets {
		uids[r.UID] = true
	}
	for _, pod := range l.Pods {
		uids[pod.UID] = true
	}
	for i := range all {
		event := &all[i]
		switch about := event.InvolvedObject; {
		case about.Kind == v1.ApplicationKind && about.UID == l.Application.UID:
			l.Events = append(l.Events, *event)
		case event.Type == corev1.EventTypeWarning && uids[about.UID]:
			l.EventsOfObjects = append(l.EventsOfObjects, *event)
		}
	}
	newestFirst := func(a, b corev1.Event) int { return EventTime(&b).Compare(EventTime(&a)) }
	slices.SortStableFunc(l.Events, newestFirst)
	slices.SortStableFunc(l.EventsOfObjects, newestFirst)
}

// EventTime is when the Event happened last. Which field has it depends on the API that wrote the Event.
func EventTime(event *corev1.Event) time.Time {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.Time
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	case !event.EventTime.IsZero():
		return event.EventTime.Time
	default:
		return event.CreationTimestamp.Time
	}
}

// FromObjects returns objects as if they had been read, with the Events in order.
func FromObjects(objects tree.Objects, events []corev1.Event) *Loaded {
	loaded := &Loaded{Objects: objects, Events: events, Unreadable: map[string]error{}}
	loaded.sortEvents()
	return loaded
}
