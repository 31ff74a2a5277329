// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/debug"
)

// newTimeline has the events after a sequence. It has those about the Application alone, and of other namespaces no name.
func newTimeline(application *v1.Application, recorded *debug.Timeline, after uint64) *v1alpha1.ApplicationTimeline {
	timeline := &v1alpha1.ApplicationTimeline{
		ObjectMeta: metadataOf(application), Instance: recorded.Instance, Truncated: recorded.Truncated, Events: []v1alpha1.TimelineEvent{},
	}
	newest := after
	for i := range recorded.Events {
		event := &recorded.Events[i]
		if event.Sequence <= after || !isAbout(event, application) {
			continue
		}
		newest = max(newest, event.Sequence)
		timeline.Events = append(timeline.Events, timelineEvent(event, application.Namespace))
	}
	timeline.ResourceVersion = strconv.FormatUint(newest, 10)
	return timeline
}

// isAbout makes sure of what the leader was asked for: a user may see no event about another Application.
func isAbout(event *debug.Event, application *v1.Application) bool {
	return event.Key != nil && event.Key.Namespace == application.Namespace && event.Key.Name == application.Name
}

func timelineEvent(event *debug.Event, namespace string) v1alpha1.TimelineEvent {
	shown := v1alpha1.TimelineEvent{
		Sequence: int64(event.Sequence), Time: metav1.NewMicroTime(event.Time), Stage: string(event.Stage), Type: string(event.Type),
		Sync: int64(event.Sync), Resource: event.Resource, Reason: event.Reason, Result: event.Result, Error: event.Error, Fields: event.Fields,
		Verb: event.Verb, Code: int32(event.Code), Count: int32(event.Count), Failures: int32(event.Failures),
		Microseconds: int64(event.Milliseconds * float64(time.Millisecond/time.Microsecond)),
	}
	if object := event.Object; object != nil && (object.Namespace == "" || object.Namespace == namespace) {
		shown.Object = object.Name
	}
	if event.Due != nil {
		due := metav1.NewMicroTime(*event.Due)
		shown.Due = &due
	}
	return shown
}
