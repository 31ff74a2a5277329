// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// seriesRecorder has the notes of the Events that client-go would count as one series, of a single version of the Application.
type seriesRecorder map[string][]string

func (r seriesRecorder) Eventf(_, related runtime.Object, kind, reason, action, note string, args ...any) {
	series := fmt.Sprint(kind, reason, action, *related.(*corev1.ObjectReference))
	r[series] = append(r[series], fmt.Sprintf(note, args...))
}

// Each Event of a series shows the note of the first one. So other repairs begin another series, although the status stays the same.
func TestRepairsOfOtherFieldsAreOtherEvents(t *testing.T) {
	deployment := ref(child.Deployment)
	repair := func(action plan.Action, reason string, fields ...string) plan.Result {
		result := plan.Result{Step: plan.Step{Action: action, Ref: deployment, Drift: true, Reason: reason, Fields: fields}}
		if action == plan.Apply {
			result.Live, result.ResourceVersion = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1"}}, "2"
		}
		return result
	}
	const changed = "another client changed it"
	paused, hash := repair(plan.Apply, changed, ".spec.paused"), ".metadata.annotations."+v1.AnnotationRenderedHash
	config := repair(plan.Apply, "the Application changed",
		".spec.template.metadata.annotations."+v1.AnnotationConfigMapsHash, ".spec.template.metadata.annotations."+v1.AnnotationSecretsHash)
	config.Drift = false
	live := config.Live.(*appsv1.Deployment)
	live.Spec.Template.Annotations = map[string]string{v1.AnnotationConfigMapsHash: "a", v1.AnnotationSecretsHash: "a"}
	recorder := seriesRecorder{}
	(&Controller{Config: Config{Recorder: recorder}}).recordRepairs(owner(), []plan.Result{
		paused,
		repair(plan.Apply, changed, ".spec.replicas"),
		paused,
		repair(plan.Apply, changed, hash),
		repair(plan.Apply, "it lacked Fairlead's labels"),
		repair(plan.Create, "another client deleted it"),
		config,
	})
	counts := map[string]int{}
	for series, notes := range recorder {
		for _, note := range notes {
			if note != notes[0] {
				t.Errorf("a series %s has %q", series, notes)
			}
		}
		counts[notes[0]] += len(notes)
	}
	const prefix = "Repaired Deployment web: "
	for note, want := range map[string]int{
		prefix + "another client changed .spec.paused; change the Application instead.":                                 2,
		prefix + "another client changed .spec.replicas; change the Application instead.":                               1,
		prefix + "another client, such as kubectl rollout undo, changed annotations in which Fairlead keeps its state.": 1,
		prefix + "it lacked Fairlead's labels.":                                                                         1,
		prefix + "another client deleted it.":                                                                           1,
		"ConfigMaps that the pods use have changed; rolling out pods.":                                                  1,
		"Secrets that the pods use have changed; rolling out pods.":                                                     1,
	} {
		if counts[note] != want {
			t.Errorf("%q was recorded %d times, want %d", note, counts[note], want)
		}
	}
}
