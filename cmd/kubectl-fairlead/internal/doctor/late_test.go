// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/doctor"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/tree"
)

// edit changes an Application that is an hour old, and whose spec of then is observed.
type edit func(*v1.Application)

func application(name string, edits ...edit) v1.Application {
	a := v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Generation: 1, CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))}}
	a.Status.ObservedGeneration = 1
	for _, edit := range edits {
		edit(&a)
	}
	return a
}

// wrote is what the API server keeps of a write; a spec that is written is another generation.
func wrote(subresource string, ago time.Duration) edit {
	return func(a *v1.Application) {
		a.ManagedFields = append(a.ManagedFields, metav1.ManagedFieldsEntry{Manager: "kubectl", Subresource: subresource, Time: new(metav1.NewTime(now.Add(-ago)))})
		if subresource != "status" {
			a.Generation = 2
		}
	}
}

// deleted is a deletion that waits for the finalizer.
func deleted(finalizer string, ago time.Duration) edit {
	return func(a *v1.Application) {
		a.Generation, a.Finalizers, a.DeletionTimestamp = 2, []string{finalizer}, new(metav1.NewTime(now.Add(-ago)))
	}
}

// scaled is a write of the subresource scale. The API server keeps no time of it.
func scaled(a *v1.Application) {
	a.ManagedFields = append(a.ManagedFields, metav1.ManagedFieldsEntry{Manager: "kubectl", Subresource: "scale"})
	a.Generation++
}

func observed(a *v1.Application) { a.Status.ObservedGeneration = a.Generation }
func never(a *v1.Application)    { a.Status.ObservedGeneration = -1 }

// waitsToKeep is a deletion that a policy of the cluster holds up.
func waitsToKeep(a *v1.Application) {
	a.Status.Conditions = []metav1.Condition{{
		Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonDeleting, Message: "Deletion waits to keep Deployment api: the namespace is frozen.",
	}}
}

func suspended(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileSuspend }

// large has more variables than an Application that never waits for a turn.
func large(a *v1.Application) {
	for i := range 256 {
		a.Spec.Env = append(a.Spec.Env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", i), Value: "x"})
	}
}

// find returns the result of one check.
func find(in doctor.Installation, check string) doctor.Result {
	results := doctor.Examine(in, now)
	return results[slices.IndexFunc(results, func(r doctor.Result) bool { return r.Check == check })]
}

// TestLag: what waits for the controller for longer than a minute is wrong, if its age is known.
func TestLag(t *testing.T) {
	const (
		orphan = v1.FinalizerOrphan
		check  = "Check that the controller runs, and that its --namespace covers them."
		again  = "Run this again after a minute. If they are still not observed, check that the controller runs, and that its --namespace covers them."
		// unknownTime is about web alone.
		unknownTime = "; 1 not observed for an unknown time, such as shop/web"
	)
	minute := func(name string) v1.Application { return application(name, wrote("", time.Minute)) }
	for name, test := range map[string]struct {
		applications []v1.Application
		message      string
		next         string
	}{
		"observed": {applications: []v1.Application{application("web", wrote("", time.Hour), observed)}, message: "1 Application, 0 of them with a spec that is not observed yet"},
		"a minute": {applications: []v1.Application{minute("web")}, message: "1 Application, 1 of them with a spec that is not observed yet"},
		"no time": {
			applications: []v1.Application{application("web", func(a *v1.Application) { a.Generation = 2 })},
			message:      "1 Application, 1 of them with a spec that is not observed yet" + unknownTime, next: again,
		},
		"new, and no time": {
			applications: []v1.Application{application("web", func(a *v1.Application) {
				a.Generation, a.CreationTimestamp = 2, metav1.NewTime(now.Add(-time.Minute))
			})},
			message: "1 Application, 1 of them with a spec that is not observed yet",
		},
		"large": {applications: []v1.Application{application("web", wrote("", 20*time.Minute), large)}, message: "1 Application, 1 of them with a spec that is not observed yet"},
		"scaled": {
			applications: []v1.Application{application("web", wrote("", time.Hour), observed, wrote("status", 50*time.Minute), scaled)},
			message:      "1 Application, 1 of them with a spec that is not observed yet" + unknownTime, next: again,
		},
		"scaled, while others wait": {
			applications: []v1.Application{application("api", never), application("web", wrote("", time.Hour), observed, wrote("status", 50*time.Minute), scaled)},
			message: "1 of 2 Applications were never observed, such as shop/api; " +
				"the spec of 1 of 2 Applications is not observed, for an unknown time, such as shop/web",
			next: check,
		},
		"changed since it was scaled": {
			applications: []v1.Application{application("web", wrote("status", time.Hour), scaled, wrote("", 2*time.Minute))},
			message:      "the spec of 1 of 1 Applications is not observed, such as shop/web (2m)", next: check,
		},
		"large and late": {
			applications: []v1.Application{application("web", wrote("", 21*time.Minute), large)},
			message:      "the spec of 1 of 1 Applications is not observed, such as shop/web (21m)", next: check,
		},
		"being deleted":      {applications: []v1.Application{application("web", deleted(orphan, time.Minute))}, message: "1 Application, 0 of them with a spec that is not observed yet, 1 being deleted"},
		"held by others":     {applications: []v1.Application{application("web", deleted("example.com/backup", time.Hour), observed)}, message: "1 Application, 0 of them with a spec that is not observed yet, 1 being deleted"},
		"later than a label": {applications: []v1.Application{application("web", wrote("", time.Hour), wrote("", time.Second))}, message: "1 Application, 1 of them with a spec that is not observed yet"},
		"changed": {
			[]v1.Application{application("api", wrote("", 3*time.Hour), wrote("", 2*time.Minute)), minute("cart"), application("web", wrote("", 110*time.Second), wrote("status", time.Second))},
			"the spec of 2 of 3 Applications is not observed, such as shop/api (2m), shop/web (110s)", check,
		},
		"deleted": {
			[]v1.Application{application("api", deleted(orphan, 110*time.Second)), minute("cart"), application("web", deleted(orphan, 110*time.Second), suspended)},
			"the deletion of 2 of 3 Applications waits for Fairlead's finalizer apps.fairlead.dev/orphan, such as shop/api (110s), shop/web (110s)", check,
		},
		"deleted, and the controller says why it waits": {
			[]v1.Application{application("api", deleted(orphan, 2*time.Minute), observed)},
			"the deletion of 1 of 1 Applications waits for Fairlead's finalizer apps.fairlead.dev/orphan, such as shop/api (2m)",
			"The controller has seen them. See why it keeps them: kubectl fairlead -n shop why api",
		},
		"deleted, and the condition says why it waits": {
			[]v1.Application{application("api", deleted(orphan, 2*time.Minute), observed, waitsToKeep)},
			"the deletion of 1 of 1 Applications waits for Fairlead's finalizer apps.fairlead.dev/orphan, such as shop/api (2m)",
			"The controller has seen them, and says of shop/api: Deletion waits to keep Deployment api: the namespace is frozen. Solve that. The controller tries again until it succeeds.",
		},
		"deleted, and the condition of one says why it waits": {
			[]v1.Application{application("api", deleted(orphan, 2*time.Minute), observed, waitsToKeep), application("web", deleted(orphan, 2*time.Minute))},
			"the deletion of 2 of 2 Applications waits for Fairlead's finalizer apps.fairlead.dev/orphan, such as shop/api (2m), shop/web (2m)",
			check + " Of shop/api it says: Deletion waits to keep Deployment api: the namespace is frozen.",
		},
		"deleted, and one of them not seen": {
			[]v1.Application{application("api", deleted(orphan, 2*time.Minute), observed), application("web", deleted(orphan, 2*time.Minute))},
			"the deletion of 2 of 2 Applications waits for Fairlead's finalizer apps.fairlead.dev/orphan, such as shop/api (2m), shop/web (2m)", check,
		},
		"deleted, for others to finish": {
			[]v1.Application{application("web", deleted("example.com/backup", time.Hour))},
			"the spec of 1 of 1 Applications is not observed, such as shop/web (60m)", check,
		},
		"all": {
			[]v1.Application{application("a", never), application("b", never), application("c", never), application("d", never), application("e", wrote("", 2*time.Minute)), application("f", deleted(orphan, 2*time.Minute))},
			"4 of 6 Applications were never observed, such as shop/a, shop/b, shop/c; the spec of 1 of 6 Applications is not observed, such as shop/e (2m); " +
				"the deletion of 1 of 6 Applications waits for Fairlead's finalizer apps.fairlead.dev/orphan, such as shop/f (2m)", check,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := healthy(t)
			in.Applications = test.applications
			want := doctor.Result{Check: doctor.Lag, Health: tree.Healthy, Message: test.message, Next: test.next}
			if test.next != "" {
				want.Health = tree.Degraded
			}
			if test.next == again { // Perhaps nothing is wrong.
				want.Health = tree.Progressing
			}
			if diff := cmp.Diff(want, find(in, doctor.Lag)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// terminating is a CRD that the API server deletes, and is still established.
func terminating(name string) apiextensionsv1.CustomResourceDefinition {
	d := definition(name)
	d.DeletionTimestamp = new(metav1.NewTime(now.Add(-2 * time.Minute)))
	d.Status.Conditions = append(d.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue, Message: "CustomResource deletion is in progress",
	})
	return d
}

// TestCRDIsDeleted: a CRD that is being deleted is established until the last of its objects is gone.
func TestCRDIsDeleted(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*doctor.Installation)
		message string
	}{
		"with Applications": {
			func(in *doctor.Installation) {
				in.Applications = []v1.Application{application("api"), application("web")}
			},
			"applications.apps.fairlead.dev is being deleted, for 2m, and waits until 2 Applications are gone, such as shop/api, shop/web",
		},
		"with one, and the other CRD is gone": {
			func(in *doctor.Installation) { in.Definitions = in.Definitions[:1] },
			"applications.apps.fairlead.dev is being deleted, for 2m, and waits until 1 Application is gone, such as shop/web; applicationclasses.apps.fairlead.dev not established",
		},
		"without": {
			func(in *doctor.Installation) { in.Applications = nil },
			"applications.apps.fairlead.dev is being deleted, for 2m: CustomResource deletion is in progress",
		},
		"of the classes": {
			func(in *doctor.Installation) {
				in.Definitions = []apiextensionsv1.CustomResourceDefinition{definition("applications"), terminating("applicationclasses")}
			},
			"applicationclasses.apps.fairlead.dev is being deleted, for 2m: CustomResource deletion is in progress",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := healthy(t)
			in.Definitions[0] = terminating("applications")
			test.change(&in)
			want := doctor.Result{
				Check: doctor.Definitions, Health: tree.Degraded, Message: test.message,
				Next: "The deletion cannot be undone, and ends when nothing holds the objects of the CRD any more. Then run 'make install' in a checkout of Fairlead to install the CRDs",
			}
			if diff := cmp.Diff(want, find(in, doctor.Definitions)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoControllerRuns shows what an administrator reads when the CRDs were deleted with no controller to finish the deletions.
func TestNoControllerRuns(t *testing.T) {
	in := healthy(t)
	in.Definitions[0] = terminating("applications")
	in.Applications = []v1.Application{application("api", deleted(v1.FinalizerOrphan, 110*time.Second)), application("web", deleted(v1.FinalizerOrphan, 110*time.Second))}
	results := doctor.Examine(in, now)
	golden.Screens(t, "late", func(to *screen.Screen) {
		doctor.Print(to, []doctor.Result{find(in, doctor.Definitions), find(in, doctor.Lag)})
	})
	if !doctor.Wrong(results) {
		t.Error("nothing is wrong")
	}
}
