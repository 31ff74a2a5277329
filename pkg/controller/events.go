// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/status"
)

// The actions of Events, as verbs.
const (
	actionAdopt   = "Adopt"
	actionReport  = "Report"
	actionDelete  = "Delete"
	actionRepair  = "Repair"
	actionCreate  = "Create"
	actionRelease = "Release"
	actionRollOut = "RollOut"
)

// recordRepairs records an Event for each write that repaired drift, adopted an object, deleted a child, or replaces pods
// without an edit of the Application or its Deployment. The effects of an edit need no Event.
func (c *Controller) recordRepairs(application *v1.Application, results []plan.Result) {
	for _, result := range results {
		switch {
		case !result.Changed():
		case result.Action == plan.Delete && result.Ref.Kind == child.ControllerRevision:
			// Each new revision deletes an old one, and has an Event itself.
		case result.Action == plan.Delete:
			c.recordChildEvent(application, result.Ref, v1.EventChildDeleted, actionDelete, "Deleted", result.Reason)
		case result.Action == plan.Adopt:
			c.recordChildEvent(application, result.Ref, v1.ReasonAdopted, actionAdopt, "Adopted", result.Reason)
		case result.Undone > 0:
			c.Recorder.Eventf(application, related(application, &result.Ref), corev1.EventTypeWarning, v1.EventRolloutUndone, actionRepair,
				"Restored %s %s: %s.", result.Ref.Kind.Kind, result.Ref.Name, result.Reason)
		case result.Drift && (result.Action == plan.Apply || result.Action == plan.Create):
			c.recordRepair(application, result)
		case result.Action == plan.Apply && result.Ref.Kind == child.Deployment:
			c.recordConfigChange(application, result)
		}
	}
}

// recordChildEvent records a write to a child as an Event of the Application.
func (c *Controller) recordChildEvent(application *v1.Application, ref child.Ref, reason, action, done, why string) {
	c.Recorder.Eventf(application, related(application, &ref), corev1.EventTypeNormal, reason, action, "%s %s %s: %s.", done, ref.Kind.Kind, ref.Name, why)
}

// recordRepair records a repair as an Event of the Application. The recorder counts Events that differ in nothing but their notes as a
// series, and shows the first note alone. So the reference to the child names the fields, and a child that is created again has another
// action.
func (c *Controller) recordRepair(application *v1.Application, result plan.Result) {
	action := actionRepair
	if result.Action == plan.Create {
		action = actionCreate
	}
	c.Recorder.Eventf(application, relatedFields(application, result.Ref, status.RepairedFields(result)), corev1.EventTypeNormal,
		v1.EventDriftRepaired, action, "Repaired %s %s: %s.", result.Ref.Kind.Kind, result.Ref.Name, status.WhyRepaired(result))
}

// recordConfigChange records that a changed ConfigMap or Secret replaces pods. The hash also changes with an edit of the references, which
// is another field of the template.
func (c *Controller) recordConfigChange(application *v1.Application, result plan.Result) {
	const template, annotations = ".spec.template.", ".spec.template.metadata.annotations."
	live, ok := result.Live.(*appsv1.Deployment)
	if !ok || slices.ContainsFunc(result.Fields, func(path string) bool {
		return strings.HasPrefix(path, template) && !strings.HasPrefix(path, annotations)
	}) {
		return
	}
	effect := "rolling out pods."
	switch {
	case ptr.Deref(live.Spec.Replicas, 1) == 0:
		effect = "there are no pods to replace."
	case ptr.Deref(application.Spec.Paused, false):
		effect = "the rollout waits while spec.paused is true."
	}
	for _, k := range []struct{ annotation, what string }{
		{v1.AnnotationConfigMapsHash, "ConfigMaps"}, {v1.AnnotationSecretsHash, "Secrets"},
	} {
		if slices.Contains(result.Fields, annotations+k.annotation) && live.Spec.Template.Annotations[k.annotation] != "" {
			path := annotations + k.annotation // ConfigMaps and Secrets that change together are two Events, and no series of one.
			c.Recorder.Eventf(application, relatedFields(application, result.Ref, path), corev1.EventTypeNormal, v1.EventConfigChanged, actionRollOut, "%s",
				k.what+" that the pods use have changed; "+effect)
		}
	}
}

// related returns the reference to a child for an Event; nil for nil.
func related(application *v1.Application, ref *child.Ref) runtime.Object {
	if ref == nil {
		return nil
	}
	return relatedFields(application, *ref, "")
}

// relatedFields returns the reference to fields of a child for an Event.
func relatedFields(application *v1.Application, ref child.Ref, path string) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion: ref.Kind.GroupVersionKind().GroupVersion().String(),
		Kind:       ref.Kind.Kind,
		Namespace:  application.Namespace,
		Name:       ref.Name,
		FieldPath:  path,
	}
}
