// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

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
