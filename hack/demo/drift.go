// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	watchtools "k8s.io/client-go/tools/watch"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// damage is something that people do to a child behind the controller's back.
type damage struct {
	// story says what, for people.
	story string
	kind  child.Kind
	name  string
	// field is the path of what is damaged.
	field []string
	// patch is the JSON merge patch that does it; empty: the object is deleted.
	patch string
}

// damages are done to the shop, one after the other.
func damages() []damage {
	return []damage{
		{
			story: "A user points the Service catalog at pods that do not exist",
			kind:  child.Service, name: "catalog",
			field: []string{"spec", "selector"},
			patch: `{"spec": {"selector": {"` + v1.LabelApplication + `": "nothing"}}}`,
		},
		{
			story: "A user scales the Deployment cart to 0",
			kind:  child.Deployment, name: "cart",
			field: []string{"spec", "replicas"},
			patch: `{"spec": {"replicas": 0}}`,
		},
		{
			story: "A user deletes the NetworkPolicy database",
			kind:  child.NetworkPolicy, name: "database",
			field: []string{"spec"},
		},
	}
}

// repair does the damage and watches until the field is again as it was. It returns how long it was not: from the moment
// in which the watch shows the damage to that in which it shows the repair.
func (d damage) repair(ctx context.Context, client dynamic.ResourceInterface) (time.Duration, error) {
	original, err := client.Get(ctx, d.name, metav1.GetOptions{})
	if err != nil {
		return 0, fmt.Errorf("get %s %s: %w", d.kind, d.name, err)
	}
	// The watch is there before the damage is: one that begins later gets both events at once, and measures nothing.
	watcher, err := client.Watch(ctx, metav1.ListOptions{
		FieldSelector:   fields.OneTermEqualSelector(metav1.ObjectNameField, d.name).String(),
		ResourceVersion: original.GetResourceVersion(),
	})
	if err != nil {
		return 0, fmt.Errorf("watch %s %s: %w", d.kind, d.name, err)
	}
	defer watcher.Stop()
	if err := d.do(ctx, client, original); err != nil {
		return 0, err
	}
	var damaged, repaired time.Time
	_, err = watchtools.UntilWithoutRetry(ctx, watcher,
		func(event watch.Event) (bool, error) {
			damaged = time.Now()
			return !d.intact(event, original), nil
		},
		func(event watch.Event) (bool, error) {
			repaired = time.Now()
			return d.intact(event, original), nil
		})
	if err != nil {
		return 0, fmt.Errorf("watch %s %s until it is repaired: %w", d.kind, d.name, err)
	}
	return repaired.Sub(damaged), nil
}

func (d damage) do(ctx context.Context, client dynamic.ResourceInterface, original *unstructured.Unstructured) error {
	var err error
	if d.patch == "" {
		uid := original.GetUID()
		err = client.Delete(ctx, d.name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	} else {
		_, err = client.Patch(ctx, d.name, types.MergePatchType, []byte(d.patch), metav1.PatchOptions{FieldManager: "another-user"})
	}
	if err != nil {
		return fmt.Errorf("damage %s %s: %w", d.kind, d.name, err)
	}
	return nil
}

// intact reports whether the object is there, with the field as it was.
func (d damage) intact(event watch.Event, original *unstructured.Unstructured) bool {
	object, ok := event.Object.(*unstructured.Unstructured)
	if !ok || event.Type == watch.Deleted || event.Type == watch.Error {
		return false
	}
	was, _, _ := unstructured.NestedFieldNoCopy(original.Object, d.field...)
	is, _, _ := unstructured.NestedFieldNoCopy(object.Object, d.field...)
	return equality.Semantic.DeepEqual(was, is)
}

// isAbout selects the Event with which the controller reports the repair.
func (d damage) isAbout(event *eventsv1.Event) bool {
	return event.Related != nil && event.Related.Kind == d.kind.Kind && event.Related.Name == d.name
}
