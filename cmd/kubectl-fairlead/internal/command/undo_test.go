// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/preview"
)

// TestUndoInClass: undo names spec.rollback.toRevision as a way only where the class lets the revision run.
func TestUndoInClass(t *testing.T) {
	const undone = "the pods of revision 1 in the spec"
	for name, test := range map[string]struct {
		registries []string
		want       string
	}{
		"any image":       {nil, undone + "; the class makes the pods differ from revision 1, unless you name it in spec.rollback.toRevision"},
		"another's image": {[]string{"ghcr.io/acme"}, undone + "; the class makes the pods differ from revision 1, which it refuses"},
	} {
		lim := &v1.ApplicationClass{Spec: v1.ApplicationClassSpec{
			Defaults: &v1.ApplicationDefaults{NodeSelector: map[string]string{"zone": "a"}},
			Limits:   &v1.ApplicationLimits{AllowedRegistries: test.registries},
		}}
		lim.Name = "lim"
		in := classedBy(preview.Platform{Rules: class.Rules{Classes: []*v1.ApplicationClass{lim}}, Validation: validation.Options{}})
		application := &v1.Application{Spec: v1.ApplicationSpec{ClassName: "lim", Image: "ghcr.io/acme/web:2", Env: []corev1.EnvVar{{Name: "A"}}}}
		application.Namespace, application.Name = "shop", "web"
		undo := func(a *v1.Application) (string, error) {
			a.Spec.Image = "registry.example.com/web:1"
			return undone, nil
		}
		got, err := in.undo(edit.Revision{Number: 1, Name: "web-0123456789"}, undo)(application)
		if err != nil || got != test.want || application.Spec.Image != "registry.example.com/web:1" {
			t.Errorf("%s: %q, %v, want %q", name, got, err, test.want)
		}
	}
}

// TestAsksAlready: after a rollback, the pods that the spec asks for do not run. Only what the pods refer to could go back.
func TestAsksAlready(t *testing.T) {
	rolledBack := v1.ApplicationStatus{
		Revision: &v1.RevisionStatus{Current: 1, RolledBackFrom: 2},
		Conditions: []metav1.Condition{
			{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonRolledBack},
			{Type: v1.ConditionRolledBack, Status: metav1.ConditionTrue},
		},
	}
	from := []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}}}}
	for want, application := range map[string]*v1.Application{
		": it asks for the pods of revision 2 already":                                                         {},
		": it asks for the pods of revision 2 already, which failed and was rolled back, so revision 1 runs":   {Status: rolledBack},
		": it asks for the pods of revision 2 already. The content of ConfigMaps and Secrets does not go back": {Spec: v1.ApplicationSpec{EnvFrom: from}},
		": it asks for the pods of revision 2 already, which failed and was rolled back, so revision 1 runs. The content of ConfigMaps and Secrets does not go back": {
			Spec: v1.ApplicationSpec{EnvFrom: from}, Status: rolledBack,
		},
	} {
		if got := asksAlready(application, 2); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
