// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/debug"
)

// servedTimeline asks the aggregated API for a timeline. served is false if the plugin must ask a controller itself.
func (t *tool) servedTimeline(ctx context.Context, namespace, name string) (recorded debug.Timeline, served bool) {
	clients, err := t.clients()
	if err != nil {
		return recorded, false // A controller at an address needs no kubeconfig.
	}
	answer, err := clients.Fairlead.SubresourcesV1alpha1().ApplicationRuntimes(namespace).GetTimeline(ctx, name, metav1.GetOptions{})
	if err != nil {
		return recorded, false // Whatever it is, a controller may answer.
	}
	recorded = debug.Timeline{
		Version: debug.Version, Instance: answer.Instance, Truncated: answer.Truncated,
		Key: debug.Key{Name: debug.Name{Namespace: namespace, Name: name}},
	}
	for i := range answer.Events {
		event := recordedEvent(&answer.Events[i], namespace, name)
		recorded.Sequence = event.Sequence
		recorded.Events = append(recorded.Events, event)
	}
	return recorded, true
}

func recordedEvent(served *v1alpha1.TimelineEvent, namespace, name string) debug.Event {
	event := debug.Event{
		Sequence: uint64(served.Sequence), Time: served.Time.Time, Stage: debug.StageID(served.Stage), Type: debug.EventType(served.Type),
		Key: &debug.Name{Namespace: namespace, Name: name}, Sync: uint64(served.Sync), Resource: served.Resource, Reason: served.Reason,
		Result: served.Result, Error: served.Error, Fields: served.Fields, Verb: served.Verb, Code: int(served.Code), Count: int(served.Count),
		Failures: int(served.Failures), Milliseconds: float64(served.Microseconds) / float64(time.Millisecond/time.Microsecond),
	}
	if served.Object != "" {
		event.Object = &debug.Name{Namespace: namespace, Name: served.Object}
	}
	if served.Due != nil {
		event.Due = &served.Due.Time
	}
	return event
}
