// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/render/rendertest"
)

var differ = plan.NewDiffer(scheme.Scheme)

// fataler is what a *testing.T, a *testing.B and a *rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

const applicationUID types.UID = "application-uid"

// application is shop/web with a spec in YAML.
func application(t fataler, spec string) *v1.Application {
	t.Helper()
	app := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: applicationUID, Generation: 1}}
	if err := yaml.UnmarshalStrict([]byte(spec), &app.Spec); err != nil {
		t.Fatalf("spec: %v\n%s", err, spec)
	}
	if app.Spec.Image == "" {
		app.Spec.Image = "web:1"
	}
	return app
}

// facts has a revision that stays the same whatever the spec says. To give it another name with each spec
// is not the business of a plan.
func facts() render.Facts {
	return render.Facts{Revision: render.Revision{Name: "web-1", Number: 1, Data: []byte(`{"spec":{"image":"web:1"}}`)}}
}

func rendered(t fataler, app *v1.Application) []child.Desired {
	t.Helper()
	desired, err := render.Children(app, facts())
	if err != nil {
		t.Fatalf("render: %v", err)
	}
	return desired
}

// stored is a rendered child as an informer shows it after it was created: of its own type, with
// what the API server adds to the metadata.
func stored(t fataler, desired child.Desired) child.Object {
	t.Helper()
	live, err := typed(desired.Kind, rendertest.Object(t, desired).Object)
	if err != nil {
		t.Fatalf("%s: %v", desired.Ref, err)
	}
	live.SetUID(types.UID("uid-of-" + desired.Kind.Resource + "-" + desired.Name))
	live.SetResourceVersion("100")
	live.SetGeneration(1)
	return live
}

// typed reads an object from its JSON form.
func typed(kind child.Kind, fields map[string]any) (child.Object, error) {
	object, err := scheme.Scheme.New(kind.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, object); err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind())
	return object.(child.Object), nil
}

// settled is what is seen of an Application whose children are all as they were rendered.
func settled(t fataler, app *v1.Application) child.Snapshot {
	t.Helper()
	snapshot := child.Snapshot{Application: app, Children: map[child.Ref]child.Object{}}
	for _, desired := range rendered(t, app) {
		snapshot.Children[desired.Ref] = stored(t, desired)
	}
	return snapshot
}

// known lists the children in the status, as the sync that made them did.
func known(snapshot child.Snapshot) {
	for ref, live := range snapshot.Children {
		snapshot.Application.Status.Resources = append(snapshot.Application.Status.Resources, v1.ResourceStatus{
			Group: ref.Kind.Group, Kind: ref.Kind.Kind, Name: ref.Name, UID: live.GetUID(),
		})
	}
}

func ref(kind child.Kind) child.Ref { return child.Ref{Kind: kind, Namespace: "shop", Name: "web"} }

// live is a child of the snapshot, to be changed as others do.
func live[T child.Object](s child.Snapshot, kind child.Kind) T { return child.Get[T](s, kind, "web") }

func compute(t fataler, snapshot child.Snapshot, held ...child.Ref) []plan.Step {
	t.Helper()
	in := plan.Input{Snapshot: snapshot, InBackoff: map[child.Ref]bool{}, CreateBackoff: map[child.Ref]bool{}}
	for _, r := range held {
		in.InBackoff[r], in.CreateBackoff[r] = true, true
	}
	return computeFrom(t, in)
}

// computeFrom renders the Application of the snapshot and plans.
func computeFrom(t fataler, in plan.Input) []plan.Step {
	t.Helper()
	in.Desired = rendered(t, in.Snapshot.Application)
	steps, err := plan.Compute(differ, in)
	if err != nil {
		t.Fatalf("plan: %v", err)
	}
	return steps
}

// lines are the steps for people and for comparing: one a line, with what is set of it. Steps that
// keep a child are left out.
func lines(steps []plan.Step) []string {
	all := []string{}
	for _, s := range steps {
		if s.Action == plan.Keep {
			continue
		}
		line := fmt.Sprintf("%s %s: %s", s.Action, s.Ref, s.Reason)
		if s.Drift {
			line += "; drift"
		}
		if len(s.Fields) > 0 {
			line += "; " + strings.Join(s.Fields, " ")
		}
		if s.HandOver != nil {
			line += fmt.Sprintf("; hand over %d", *s.HandOver)
		}
		if s.PrePatch != nil {
			line += "; rekey"
		}
		all = append(all, line)
	}
	return all
}

func wantSteps(t *testing.T, steps []plan.Step, want ...string) {
	t.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, lines(steps)); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// step returns the step for a child.
func step(t fataler, steps []plan.Step, r child.Ref) plan.Step {
	t.Helper()
	for _, s := range steps {
		if s.Ref == r {
			return s
		}
	}
	t.Fatalf("no step for %s", r)
	return plan.Step{}
}
