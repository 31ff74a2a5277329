// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/difference"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

// TestMissingAfterRollback: an edit rolls out the pods of the spec, and they may need what the revision needs that runs.
func TestMissingAfterRollback(t *testing.T) {
	const (
		replaced = "All 2 pods are replaced, because of containers[web].image."
		failed   = "Revision 1 runs instead of revision 2, which failed. "
		waits    = "; running pods stay as they are, and new ones that need it wait."
	)
	for message, want := range map[string]string{
		`ConfigMap c has no key "a"` + waits:          replaced + ` That waits: ConfigMap c has no key "a"` + waits,
		failed + `ConfigMap c has no key "a"` + waits: replaced + ` That waits: ConfigMap c has no key "a".`,
		failed + `ConfigMap c has no key "b"` + waits: replaced,
		failed + `ConfigMap d does not exist` + waits: replaced,
	} {
		application := &v1.Application{Spec: v1.ApplicationSpec{Image: "example.com/web:2", Env: []corev1.EnvVar{{
			Name: "A", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Key: "a",
			}},
		}}}}
		application.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Reason: v1.ReasonConfigMissing, Message: message}}
		edited := application.DeepCopy()
		edited.Spec.Image = "example.com/web:3"
		d := preview.Difference{Pods: preview.Pods{Live: 2, Replaced: true, Because: []preview.Change{{Path: ".spec.template.spec.containers[web].image"}}}}
		if got := difference.Deferred(d, missingConfig(application, edited)); got != want {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}

// TestMissingBeforeTheLastEdit: what the controller said before an edit that it has not seen yet still holds, if the spec needs the object.
func TestMissingBeforeTheLastEdit(t *testing.T) {
	for message, want := range map[string]string{
		"Secret db does not exist; running pods stay as they are, and new ones that need it wait.": "Secret db does not exist.",
		"Secret other does not exist; no pod starts without it.":                                   "",
	} {
		application := &v1.Application{Spec: v1.ApplicationSpec{EnvFrom: []corev1.EnvFromSource{{
			SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}},
		}}}}
		application.Generation = 3
		application.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Reason: v1.ReasonConfigMissing, Message: message, ObservedGeneration: 2}}
		if got := missingConfig(application, application.DeepCopy()); got != want {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}

// TestMissingBeforeTheSuspension: to resume meets again what the Deployment waited for. The condition Ready does not say that any more.
func TestMissingBeforeTheSuspension(t *testing.T) {
	const (
		start = "The Deployment does not exist, so no pod is replaced. 2 pods start once it can be written."
		waits = " That waits: Secret db does not exist. The controller said so before the suspension."
	)
	deployment := func(state v1.ResourceState, message string) v1.ResourceStatus {
		return v1.ResourceStatus{Group: child.Deployment.Group, Kind: child.Deployment.Kind, Name: "web", State: state, Message: message}
	}
	for name, test := range map[string]struct {
		resource v1.ResourceStatus
		want     string
	}{
		"the Secret was missing":      {deployment(v1.ResourcePending, "Secret db does not exist; no pod starts without it."), start + waits},
		"another Secret was missing":  {deployment(v1.ResourcePending, "Secret other does not exist; no pod starts without it."), start},
		"it waited for a child":       {deployment(v1.ResourcePending, "Waits for ServiceAccount web."), start},
		"it was written":              {deployment(v1.ResourceSynced, ""), start},
		"the record alone is pending": {v1.ResourceStatus{Group: "apps", Kind: child.ControllerRevision.Kind, State: v1.ResourcePending, Message: "Secret db does not exist"}, start},
	} {
		application := &v1.Application{Spec: v1.ApplicationSpec{ReconcilePolicy: v1.ReconcileSuspend, EnvFrom: []corev1.EnvFromSource{{
			SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}},
		}}}}
		application.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Reason: v1.ReasonSuspended}}
		application.Status.Resources = []v1.ResourceStatus{test.resource}
		resumed := application.DeepCopy()
		resumed.Spec.ReconcilePolicy = v1.ReconcileEnforce
		d := preview.Difference{Pods: preview.Pods{After: new(int32(2))}}
		if got := difference.WithoutDeployment(d, missingConfig(application, resumed)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
