// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

func TestApply(t *testing.T) {
	f := newFixture(t)
	f.do(f.create(child.ConfigMap, owned+"data: {keep: '1', change: '1', drop: '1'}"))
	applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Data["theirs"] = "1" })

	result := f.do(f.apply(child.ConfigMap, owned+"data: {keep: '1', change: '2', add: '2'}"))
	// Without the conversion of managed fields, "drop" would stay, owned by the POST.
	f.wantStored(child.ConfigMap, "add: \"2\"\nchange: \"2\"\nkeep: \"1\"\ntheirs: \"1\"\n", "data")
	if got := f.managers(child.ConfigMap); !slices.Contains(got, "fairlead Apply") || slices.Contains(got, "fairlead Update") {
		t.Errorf("the fields are managed by %v", got)
	}
	if stored := f.cached(child.ConfigMap); result.ResourceVersion != stored.GetResourceVersion() || result.UID != stored.GetUID() {
		t.Errorf("the result is about %s at %s", result.UID, result.ResourceVersion)
	}
	if !f.waits(child.ConfigMap) {
		t.Error("the next sync does not wait for the write")
	}
}

// The conversion costs a read and a write, but only before the first change.
func TestConversionHappensOnce(t *testing.T) {
	f := newFixture(t)
	f.do(f.create(child.ConfigMap, owned+"data: {a: '1'}"))
	f.do(f.apply(child.ConfigMap, owned+"data: {a: '2'}"))
	f.do(f.apply(child.ConfigMap, owned+"data: {b: '3'}"))
	f.wantStored(child.ConfigMap, "b: \"3\"\n", "data")
	want := []string{
		"create as fairlead",
		"get", "json-patch as fairlead", "apply as fairlead",
		"apply as fairlead",
	}
	if got := f.requests(); !slices.Equal(got, want) {
		t.Errorf("the requests were %q, want %q", got, want)
	}
}

// An apply with all fields of the POST removes none, so it needs no conversion.
func TestApplyOfTheSameShape(t *testing.T) {
	f := newFixture(t)
	shaped := func(step plan.Step, shape string) plan.Step {
		step.FieldSet = shape
		return step
	}
	f.do(shaped(f.create(child.ConfigMap, owned+"data: {a: '1', b: '1'}"), "ab"))
	f.do(shaped(f.apply(child.ConfigMap, owned+"data: {a: '2', b: '1'}"), "ab"))
	f.wantStored(child.ConfigMap, "a: \"2\"\nb: \"1\"\n", "data")
	f.do(shaped(f.apply(child.ConfigMap, owned+"data: {a: '3'}"), "a"))
	f.wantStored(child.ConfigMap, "a: \"3\"\n", "data")
	if _, found := f.cached(child.ConfigMap).GetAnnotations()[v1.AnnotationCreatedFieldSet]; found {
		t.Error("it still has the shape of its creation")
	}
	f.do(shaped(f.apply(child.ConfigMap, owned+"data: {a: '4'}"), ""))
	want := []string{
		"create as fairlead",
		"apply as fairlead",
		"get", "json-patch as fairlead", "apply as fairlead",
		"apply as fairlead",
	}
	if got := f.requests(); !slices.Equal(got, want) {
		t.Errorf("the requests were %q, want %q", got, want)
	}
}

// Another writer converted in between, or the cache lagged behind.
func TestConversionThatIsDoneAlready(t *testing.T) {
	f := newFixture(t)
	f.do(f.create(child.ConfigMap, owned+"data: {a: '1'}"))
	step := f.apply(child.ConfigMap, owned+"data: {a: '2'}")
	f.do(step)
	step.Desired = f.desired(child.ConfigMap, owned+"data: {a: '3'}")
	f.do(step) // Its Live is still the one of the POST.
	f.wantStored(child.ConfigMap, "a: \"3\"\n", "data")
}

func TestApplyMeetsAnotherObject(t *testing.T) {
	const before, after = owned + "data: {a: '1'}", owned + "data: {a: '2'}"
	replace := func(f *fixture) {
		f.server.Delete(child.ConfigMap, "shop", "web")
		theirs := &corev1.ConfigMap{}
		theirs.Namespace, theirs.Name, theirs.Data = "shop", "web", map[string]string{"theirs": "1"}
		applytest.Put(f.server, child.ConfigMap, theirs)
	}
	for _, test := range []struct {
		name   string
		happen func(*fixture, *plan.Step)
		is     func(error) bool
		stored string
	}{
		{
			"replaced by an object of the same name", func(f *fixture, _ *plan.Step) { replace(f) },
			apierrors.IsConflict, "theirs: \"1\"\n",
		},
		{
			// The API server reports another UID as an invalid change of an immutable field. Users would take that for a
			// fault of the child, but only the plan is out of date.
			"replaced, after the conversion", func(f *fixture, step *plan.Step) {
				replace(f)
				step.Live.SetManagedFields(nil)
			},
			apierrors.IsConflict, "theirs: \"1\"\n",
		},
		{
			"replaced while the ownership is converted", func(f *fixture, _ *plan.Step) {
				f.on("patch", once(func() error { replace(f); return nil }))
			},
			apierrors.IsConflict, "theirs: \"1\"\n",
		},
		{
			"changed while the ownership is converted", func(f *fixture, _ *plan.Step) {
				f.on("patch", once(func() error {
					applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Data["b"] = "b" })
					return nil
				}))
			},
			apierrors.IsConflict, "a: \"1\"\nb: b\n",
		},
		{
			"deleted", func(f *fixture, _ *plan.Step) { f.server.Delete(child.ConfigMap, "shop", "web") },
			apierrors.IsNotFound, "gone",
		},
		{
			"deleted, after the conversion", func(f *fixture, step *plan.Step) {
				f.server.Delete(child.ConfigMap, "shop", "web")
				step.Live.SetManagedFields(nil)
			},
			apierrors.IsConflict, "gone",
		},
		{
			"the connection breaks", func(f *fixture, _ *plan.Step) { f.on("patch", func() error { return errBroken }) },
			func(err error) bool { return errors.Is(err, errBroken) }, "a: \"1\"\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.do(f.create(child.ConfigMap, before))
			step := f.apply(child.ConfigMap, after)
			test.happen(f, &step)
			result := f.try(step)
			if !test.is(result.Err) {
				t.Errorf("the error is %v", result.Err)
			}
			if result.ResourceVersion != "" {
				t.Errorf("the result has the version %s although nothing was applied", result.ResourceVersion)
			}
			if got := f.stored(child.ConfigMap, "data"); got != test.stored {
				t.Errorf("stored is %s, want %s", got, test.stored)
			}
		})
	}
}

// Another writer's change of a field that Fairlead does not set does not block the apply.
func TestApplyOverAChangeOfOthers(t *testing.T) {
	f := newFixture(t)
	f.do(f.create(child.ConfigMap, owned+"data: {a: '1'}"))
	step := f.apply(child.ConfigMap, owned+"data: {a: '2'}")
	applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Data["b"], c.Data["a"] = "b", "x" })
	f.do(step)
	f.wantStored(child.ConfigMap, "a: \"2\"\nb: b\n", "data")
}

// A configuration that has values of the live object must not overwrite later ones.
func TestApplyIfUnchanged(t *testing.T) {
	f := newFixture(t)
	f.do(f.create(child.ConfigMap, owned+"data: {a: '1'}"))
	f.do(f.apply(child.ConfigMap, owned+"data: {a: '2'}"))
	step := f.apply(child.ConfigMap, owned+"data: {a: '3'}")
	step.Desired.IfUnchanged = true
	applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Data["a"] = "x" })
	if result := f.try(step); !apierrors.IsConflict(result.Err) {
		t.Errorf("the error is %v, want a conflict", result.Err)
	}
	f.wantStored(child.ConfigMap, "a: x\n", "data")
	step = f.apply(child.ConfigMap, owned+"data: {a: '3'}")
	step.Desired.IfUnchanged = true
	f.do(step)
	f.wantStored(child.ConfigMap, "a: \"3\"\n", "data")
}

const (
	deploymentHead = owned + `
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: 'web:1'}]}}
`
	fixedReplicas = deploymentHead + "  replicas: 3\n"
	freeReplicas  = deploymentHead
)

func TestHandOverReplicas(t *testing.T) {
	f := newFixture(t)
	f.do(f.create(child.Deployment, fixedReplicas))
	step := f.apply(child.Deployment, freeReplicas)
	step.HandOver = new(int32(3))
	f.do(step)
	f.wantStored(child.Deployment, "3\n", "spec", "replicas")
	if got := f.managers(child.Deployment); !slices.Equal(sorted(got), []string{"fairlead Apply", "fairlead-hand-over Apply"}) {
		t.Errorf("the fields are managed by %v", got)
	}
	want := []string{
		"create as fairlead",
		"apply as fairlead-hand-over",
		"get", "json-patch as fairlead", "apply as fairlead",
	}
	if got := f.requests(); !slices.Equal(got, want) {
		t.Errorf("the requests were %q, want %q", got, want)
	}

	// The next writer that scales takes the field over. From now on Fairlead does not set it.
	applytest.Edit(f.server, child.Deployment, "shop", "web", func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(7)) })
	f.do(f.apply(child.Deployment, freeReplicas+"  minReadySeconds: 5\n"))
	f.wantStored(child.Deployment, "7\n", "spec", "replicas")
}

// Without a hand-over, the number would fall back to its default of 1.
func TestWithoutHandOver(t *testing.T) {
	f := newFixture(t)
	f.do(f.create(child.Deployment, fixedReplicas))
	f.do(f.apply(child.Deployment, freeReplicas))
	f.wantStored(child.Deployment, "1\n", "spec", "replicas")
}

// Fairlead takes the field back, and later hands it over again with another number.
func TestHandOverTwice(t *testing.T) {
	f := newFixture(t)
	f.do(f.create(child.Deployment, fixedReplicas))
	free := func(number int32) {
		step := f.apply(child.Deployment, freeReplicas)
		step.HandOver = &number
		f.do(step)
	}
	free(3)
	f.do(f.apply(child.Deployment, deploymentHead+"  replicas: 5\n"))
	f.wantStored(child.Deployment, "5\n", "spec", "replicas")
	free(5)
	f.wantStored(child.Deployment, "5\n", "spec", "replicas")
}

// The hand-over must not overwrite a number that another writer has just set.
func TestHandOverMeetsAChange(t *testing.T) {
	f := newFixture(t)
	f.do(f.create(child.Deployment, fixedReplicas))
	step := f.apply(child.Deployment, freeReplicas)
	step.HandOver = new(int32(3))
	applytest.Edit(f.server, child.Deployment, "shop", "web", func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(9)) })
	if result := f.try(step); !apierrors.IsConflict(result.Err) {
		t.Errorf("the error is %v, want a conflict", result.Err)
	}
	f.wantStored(child.Deployment, "9\n", "spec", "replicas")
}

// No later sync could know that the autoscaler is new and the Deployment still has 0 replicas.
func TestAutoscalerWaitsForTheHandOver(t *testing.T) {
	const autoscaler = owned + "spec: {maxReplicas: 5, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n"
	for _, test := range []struct {
		name    string
		happen  func(d *appsv1.Deployment)
		created bool
	}{
		{"handed over", nil, true},
		{"met a change", func(d *appsv1.Deployment) { d.Annotations["others"] = "1" }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.do(f.create(child.Deployment, deploymentHead+"  replicas: 0\n"))
			wake := f.apply(child.Deployment, freeReplicas)
			wake.HandOver = new(int32(2))
			if test.happen != nil {
				applytest.Edit(f.server, child.Deployment, "shop", "web", test.happen)
			}
			results := executed(t, t.Context(), f.writer, f.application, []plan.Step{
				f.create(child.ServiceAccount, owned), wake,
				f.create(child.HorizontalPodAutoscaler, autoscaler), f.create(child.ConfigMap, owned),
			})
			if got := applytest.Get[child.Object](f.server, child.HorizontalPodAutoscaler, "shop", "web") != nil; got != test.created {
				t.Errorf("the autoscaler is there: %t, want %t", got, test.created)
			}
			if err := results[2].Err; (err == nil) != test.created || err != nil && !apierrors.IsConflict(err) {
				t.Errorf("its error is %v", err)
			}
			if results[0].Err != nil || results[3].Err != nil {
				t.Errorf("the others failed too: %v, %v", results[0].Err, results[3].Err)
			}
		})
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// A repair that leaves the child as it was is none: an admission webhook has undone it, or the API server does not know the field.
func TestApplyThatChangesNothing(t *testing.T) {
	f := newFixture(t)
	const service = owned + "spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: http, protocol: TCP}]}"
	f.do(f.create(child.Service, service))
	f.do(f.apply(child.Service, service)) // Now the apply owns the fields.
	step := f.apply(child.Service, service)
	step.Drift, step.Fields, step.Values = true, []string{".spec.selector.app"}, map[string]string{".spec.selector.app": "hash"}
	result := f.do(step)
	if result.Action != plan.Keep || result.Changed() || len(result.Admitted) != 1 {
		t.Errorf("%s, changed %t, admitted %v", result.Action, result.Changed(), result.Admitted)
	}
}
