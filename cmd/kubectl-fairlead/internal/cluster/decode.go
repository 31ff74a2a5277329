// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/tree"
)

func named(name string) func(unstructured.Unstructured) bool {
	return func(object unstructured.Unstructured) bool { return object.GetName() == name }
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
