// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clienttesting "k8s.io/client-go/testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

// TestWrite wants a write of status by the controller not to stop an edit, and a change of the spec to stop it.
func TestWrite(t *testing.T) {
	for name, test := range map[string]struct {
		generation int64
		want       error
	}{
		"status was written": {generation: 1},
		"spec was changed":   {generation: 2, want: errChanged},
	} {
		t.Run(name, func(t *testing.T) {
			before := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid", Generation: 1, ResourceVersion: "1"}}
			now := before.DeepCopy()
			now.ResourceVersion, now.Generation = "2", test.generation
			after := before.DeepCopy()
			after.Spec.Image = "web:2"
			client := fake.NewClientset(now)
			var patches []string
			client.PrependReactor("patch", "applications", func(action clienttesting.Action) (bool, runtime.Object, error) {
				patches = append(patches, string(action.(clienttesting.PatchAction).GetPatch()))
				if len(patches) == 1 {
					return true, nil, apierrors.NewConflict(v1.Resource("applications"), "web", errors.New("modified"))
				}
				return true, after, nil
			})
			_, err := write(t.Context(), &cluster.Clients{Fairlead: client}, before, after, metav1.PatchOptions{})
			if !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			want := []string{`{"metadata":{"resourceVersion":"1","uid":"uid"},"spec":{"image":"web:2"}}`, `{"metadata":{"resourceVersion":"2","uid":"uid"},"spec":{"image":"web:2"}}`}
			if test.want != nil {
				want = want[:1]
			}
			if len(patches) != len(want) || patches[len(patches)-1] != want[len(want)-1] {
				t.Errorf("patches %q, want %q", patches, want)
			}
		})
	}
}

// TestUnknownEffect: a spec that is refused changes no pod, so the effect is known.
func TestUnknownEffect(t *testing.T) {
	limit := field.Invalid(field.NewPath("spec", "replicas"), 9, "at most 4")
	want := "The edit replaces no pod, because such a spec is not carried out (ClassLimitExceeded): spec.replicas: Invalid value: 9: at most 4"
	err := refused(v1.ReasonClassLimitExceeded, field.ErrorList{limit})
	if got := unknownEffect(err); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// diff and render end with the reason, in one line.
	want = "the Application would be refused (ClassLimitExceeded): spec.replicas: Invalid value: 9: at most 4"
	if got := explain(err); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// The API server stores a spec that names a revision which Fairlead does not run.
	pin := field.NewPath("spec", "rollback", "toRevision")
	for want, err := range map[string]error{
		"the Application would be stored, but not carried out (ClassLimitExceeded): " +
			"spec.replicas: Invalid value: 9: in revision 1, which spec.rollback.toRevision asks for: at most 4; no edit of the spec changes a revision: name another one, or remove toRevision": refused(v1.ReasonClassLimitExceeded,
			field.ErrorList{field.Invalid(field.NewPath("spec", "replicas"), 9, "in revision 1, which spec.rollback.toRevision asks for: at most 4; no edit of the spec changes a revision: name another one, or remove toRevision")}),
		"the Application would be stored, but not carried out (RevisionMissing): spec.rollback.toRevision: Not found: 7": refused(v1.ReasonRevisionMissing,
			field.ErrorList{field.NotFound(pin, 7)}),
	} {
		if got := explain(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// The flag --class-file is not in the help of an edit.
	want = "The effect on the pods is not known: cannot list\nIts class decides what an Application becomes. " +
		"Ask for get and list of applicationclasses.apps.fairlead.dev in the whole cluster. The edit does not need that."
	if got := unknownEffect(&classesForbiddenError{errors.New("cannot list")}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := unknownEffect(errors.New("no answer")), "The effect on the pods is not known: no answer"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestStoredClass: an edit that pins an Application to the default class says so, and an edit that does not says nothing.
func TestStoredClass(t *testing.T) {
	classed := func(name string) *v1.Application { return &v1.Application{Spec: v1.ApplicationSpec{ClassName: name}} }
	for _, test := range []struct {
		edited, written string
		dryRun          bool
		want            string
	}{
		{"", "std", false, "The edit also stored the default class std in spec.className: it stays when another class becomes the default."},
		{"", "std", true, "The edit would also store the default class std in spec.className: it would stay when another class becomes the default."},
		{"std", "std", false, ""},
		{"", "", false, ""},
	} {
		if got := storedClass(classed(test.edited), classed(test.written), test.dryRun); got != test.want {
			t.Errorf("%q → %q: %q, want %q", test.edited, test.written, got, test.want)
		}
	}
}
