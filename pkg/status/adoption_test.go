// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/plan"
)

// adoptable is a live Deployment with the selector of a chart. updated is the number of its 3 pods that are new.
func adoptable(updated int32) *appsv1.Deployment {
	live := newDeployment()
	live.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}}
	live.Spec.Template.Labels = map[string]string{"app": "shop"}
	counts(live, 3, updated, 3)
	return live
}

func TestAdopted(t *testing.T) {
	foreign := func(kind child.Kind, adoption plan.Adoption, reason string) plan.Result {
		r := result(plan.NotOwned, kind, "web", adoptable(3))
		r.Adoption, r.Reason = adoption, reason
		return r
	}
	adopt := result(plan.Adopt, child.Deployment, "web", adoptable(3))
	adopt.UID, adopt.Generation, adopt.Fields = deploymentUID, 5, []string{".metadata.labels.a", ".spec.template.spec.containers"}
	failed := adopt
	failed.Err = errors.New("no")
	none := adoptable(0)
	none.Spec.Replicas, none.Spec.Paused = new(int32(0)), true
	counts(none, 0, 0, 0)
	older := adoptable(2)
	older.Status.ObservedGeneration = older.Generation - 1
	failing := func(action plan.Action, live child.Object) plan.Result {
		r := result(action, child.Service, "web", live)
		r.Err = apierrors.NewForbidden(corev1.Resource("services"), "web", errors.New("exceeded quota: services"))
		return r
	}
	gone := failing(plan.Apply, newService())
	gone.Err = apierrors.NewNotFound(corev1.Resource("services"), "web")
	kept := func(updated int32) plan.Result { return result(plan.Keep, child.Deployment, "web", adoptable(updated)) }
	for _, test := range []struct {
		name    string
		policy  v1.AdoptionPolicy
		paused  bool
		observe bool
		missing string
		results []plan.Result
		want    string
		status  *v1.AdoptionStatus
		selects string
	}{
		{name: "nothing to adopt", policy: v1.AdoptionNever, results: []plan.Result{result(plan.Keep, child.Deployment, "web", newDeployment())}},
		{name: "no consent", policy: v1.AdoptionConsented, results: []plan.Result{foreign(child.Deployment, plan.AdoptionAwaitsConsent, "no consent")},
			want: "False AwaitingConsent No consent.", status: &v1.AdoptionStatus{Awaiting: []string{"Deployment web"}}},
		{name: "refused", policy: v1.AdoptionConsented, results: []plan.Result{foreign(child.Deployment, plan.AdoptionRefused, "because of spec.paused")},
			want: "False Refused Because of spec.paused."},
		{name: "it waits for another object", policy: v1.AdoptionConsented, results: []plan.Result{foreign(child.Deployment, plan.AdoptionHeld, "it refers to another")},
			want: "False Adopting Deployment web is not adopted yet: it refers to another."},
		{name: "only observed", policy: v1.AdoptionConsented, observe: true, results: []plan.Result{adopt},
			want: "False Adopting The objects with a consent are not adopted yet.", status: &v1.AdoptionStatus{PodsToReplace: 3, PodFields: []string{".spec.template.spec.containers"}}},
		{name: "failed", policy: v1.AdoptionConsented, results: []plan.Result{failed}, want: "False Adopting The objects with a consent are not adopted yet."},
		{name: "just adopted", policy: v1.AdoptionConsented, paused: true, results: []plan.Result{adopt},
			want: "False PodsHeld", status: &v1.AdoptionStatus{Selector: "app=shop", PodsToReplace: 3}, selects: "app=shop"},
		{name: "held", policy: v1.AdoptionConsented, paused: true, results: []plan.Result{kept(0)},
			want: "False PodsHeld", status: &v1.AdoptionStatus{Selector: "app=shop", PodsToReplace: 3}, selects: "app=shop"},
		{name: "held, although the policy is Never again", policy: v1.AdoptionNever, paused: true, results: []plan.Result{kept(0)},
			want: "False PodsHeld", status: &v1.AdoptionStatus{Selector: "app=shop", PodsToReplace: 3}, selects: "app=shop"},
		{name: "held, and scaled to zero", policy: v1.AdoptionConsented, paused: true, results: []plan.Result{result(plan.Keep, child.Deployment, "web", none)},
			want: "False PodsHeld No pod runs. Set spec.paused to false, so that new pods have the labels app=shop.", status: &v1.AdoptionStatus{Selector: "app=shop"}, selects: "app=shop"},
		{name: "paused in the rollout", policy: v1.AdoptionConsented, paused: true, results: []plan.Result{kept(1)},
			want:   "False Paused The rollout that replaces the pods of before the adoption has begun, and spec.paused pauses it: 1 of 3 pods are updated. Set spec.paused to false to go on.",
			status: &v1.AdoptionStatus{Selector: "app=shop", PodsToReplace: 2}, selects: "app=shop"},
		{name: "held, and the status of the Deployment is older", policy: v1.AdoptionConsented, paused: true, results: []plan.Result{result(plan.Keep, child.Deployment, "web", older)},
			want: "False PodsHeld The pods run as before the adoption.", status: &v1.AdoptionStatus{Selector: "app=shop", PodsToReplace: 1}, selects: "app=shop"},
		{name: "the Service waits for pods that a pause keeps from starting", policy: v1.AdoptionConsented, paused: true, results: []plan.Result{kept(3), foreign(child.Service, plan.AdoptionHeld, "Service web waits for the pods")},
			want: "False Paused Service web waits for the pods; spec.paused pauses rollouts."},
		{name: "released, and a Secret is missing", policy: v1.AdoptionConsented, missing: "Secret db does not exist", results: []plan.Result{result(plan.WaitDependency, child.Deployment, "web", adoptable(0))},
			want: "False RollingOut The pods run as before the adoption: Secret db does not exist.", status: &v1.AdoptionStatus{Selector: "app=shop", PodsToReplace: 3}, selects: "app=shop"},
		{name: "rolling out", policy: v1.AdoptionConsented, results: []plan.Result{kept(2)},
			want: "False RollingOut", status: &v1.AdoptionStatus{Selector: "app=shop", PodsToReplace: 1}, selects: "app=shop"},
		{name: "the Service waits", policy: v1.AdoptionConsented, results: []plan.Result{kept(3), foreign(child.Service, plan.AdoptionHeld, "held")}, want: "False RollingOut"},
		{name: "the Service has other pods", policy: v1.AdoptionConsented, results: []plan.Result{kept(3), foreign(child.Service, plan.AdoptionShared, "it selects pod a")},
			want: "False SelectorShared It selects pod a."},
		{name: "adopted", policy: v1.AdoptionConsented, results: []plan.Result{kept(3)}, want: "True Adopted The Application owns the Deployment, and every pod carries its label."},
		{name: "adopted, with a Service", policy: v1.AdoptionConsented, results: []plan.Result{kept(3), result(plan.Keep, child.Service, "web", nil)},
			want: "True Adopted The Application owns the Deployment and the Service, and every pod carries its label."},
		{name: "adopted, and a new Service", policy: v1.AdoptionConsented, results: []plan.Result{kept(3), result(plan.Create, child.Service, "web", nil)},
			want: "True Adopted The Application owns the Deployment and the Service, and every pod carries its label."},
		{name: "adopted, and a Service whose apply fails", policy: v1.AdoptionConsented, results: []plan.Result{kept(3), failing(plan.Apply, newService())},
			want: "True Adopted The Application owns the Deployment and the Service, and every pod carries its label."},
		{name: "adopted, and the Service stays another owner's, as the policy is Never again", policy: v1.AdoptionNever, results: []plan.Result{kept(3), foreign(child.Service, "", "it is headless")},
			want: "True Adopted The Application owns the Deployment, but not the Service, and every pod carries its label."},
		{name: "adopted, and a quota refuses the Service", policy: v1.AdoptionConsented, results: []plan.Result{kept(3), failing(plan.Create, nil)},
			want: "True Adopted The Application owns the Deployment, but has no Service yet, and every pod carries its label."},
		{name: "adopted, and the Service is observed only", policy: v1.AdoptionConsented, observe: true, results: []plan.Result{kept(3), result(plan.Create, child.Service, "web", nil)},
			want: "True Adopted The Application owns the Deployment, but has no Service yet, and every pod carries its label."},
		{name: "adopted, and another client keeps deleting the Service", policy: v1.AdoptionConsented, results: []plan.Result{kept(3), result(plan.Backoff, child.Service, "web", nil)},
			want: "True Adopted The Application owns the Deployment, but has no Service yet, and every pod carries its label."},
		{name: "adopted, and another client deleted the Service", policy: v1.AdoptionConsented, results: []plan.Result{kept(3), gone},
			want: "True Adopted The Application owns the Deployment, but has no Service yet, and every pod carries its label."},
	} {
		t.Run(test.name, func(t *testing.T) {
			application := newApplication()
			application.Spec.AdoptionPolicy, application.Spec.Paused = test.policy, &test.paused
			if test.observe {
				application.Spec.ReconcilePolicy = v1.ReconcileObserve
			}
			snapshot := child.Snapshot{Application: application, Children: map[child.Ref]child.Object{}}
			for _, r := range test.results {
				if r.Action == plan.Keep || r.Action == plan.WaitDependency {
					snapshot.Children[r.Ref] = r.Live
				}
			}
			got := Compute(Input{Snapshot: snapshot, Health: health.Assess(snapshot, noon), Results: test.results, Missing: test.missing}, noon)
			condition := ""
			if c := meta.FindStatusCondition(got.Conditions, v1.ConditionAdopted); c != nil {
				condition = fmt.Sprint(c.Status, " ", c.Reason, " ", c.Message)
			}
			if !strings.HasPrefix(condition, test.want) || test.want == "" && condition != "" {
				t.Errorf("the condition is %q, want %q", condition, test.want)
			}
			if diff := cmp.Diff(test.status, got.Adoption); diff != "" {
				t.Errorf("status.adoption (-want +got):\n%s", diff)
			}
			if want := test.selects; want == "" && got.Selector != v1.LabelApplication+"=web" || want != "" && got.Selector != want {
				t.Errorf("the selector is %q", got.Selector)
			}
		})
	}
}

// The pods of a Deployment that was just adopted run as before. The snapshot of that sync has it as another owner's.
func TestJustAdopted(t *testing.T) {
	application := newApplication()
	application.Spec.AdoptionPolicy, application.Spec.Paused = v1.AdoptionConsented, new(true)
	r := result(plan.Adopt, child.Deployment, "web", adoptable(3))
	r.UID, r.Generation = deploymentUID, 5
	got := Compute(Input{Snapshot: child.Snapshot{Application: application}, Results: []plan.Result{r}}, noon)
	ready := meta.FindStatusCondition(got.Conditions, v1.ConditionReady)
	const want = "The Deployment is adopted, and spec.paused pauses its rollout. 0 of 3 pods are updated, 3 available; 3 of an older revision."
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != v1.ReasonPaused || ready.Message != want {
		t.Errorf("Ready is %+v", ready)
	}
	if got.Replicas != 3 || got.DesiredReplicas != 3 || got.AvailableReplicas != 3 || got.UpdatedReplicas != 0 {
		t.Errorf("%d pods of %d, %d available, %d updated", got.Replicas, got.DesiredReplicas, got.AvailableReplicas, got.UpdatedReplicas)
	}
	if progressing := meta.FindStatusCondition(got.Conditions, v1.ConditionProgressing); progressing == nil || progressing.Reason == v1.ReasonRollingOut {
		t.Errorf("Progressing is %+v", progressing)
	}
}

// The pods of an adopted Deployment run the image that it had before, until a rollout of the spec is complete.
func TestImageOfAdoptedPods(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   string
	}{
		"rolled out":     {func(*appsv1.Deployment) {}, "web:1"},
		"in a rollout":   {func(d *appsv1.Deployment) { counts(d, 3, 2, 3) }, ""},
		"not observed":   {func(d *appsv1.Deployment) { d.Generation++ }, ""},
		"scaled to zero": {func(d *appsv1.Deployment) { counts(d, 0, 0, 0) }, ""},
		"its container has another name": {func(d *appsv1.Deployment) {
			containers := d.Spec.Template.Spec.Containers
			containers[0].Name, containers[1].Name = "shop", "proxy"
		}, "web:1"},
		"two containers have other names": {func(d *appsv1.Deployment) {
			containers := d.Spec.Template.Spec.Containers
			containers[0].Name, containers[1].Name = "shop", "agent"
		}, ""},
	} {
		application, live := newApplication(), adoptable(3)
		live.Spec.Template.Spec.Containers[0].Image = "web:1"
		test.change(live)
		application.Spec.AdoptionPolicy = v1.AdoptionConsented
		application.Spec.Sidecars = []corev1.Container{{Name: "proxy", Image: "proxy:1"}}
		r := result(plan.Adopt, child.Deployment, "web", live)
		r.UID, r.Generation = deploymentUID, live.Generation+1
		in := Input{Snapshot: child.Snapshot{Application: application}, Results: []plan.Result{r}}
		application.Status = Compute(in, noon)
		if got := application.Status.Image; got != test.want {
			t.Errorf("%s: just adopted, the image is %q, want %q", name, got, test.want)
		}
		// The next sync finds the Deployment as it was written, with the pods of before.
		live = adoptable(0)
		in.Snapshot.Children = map[child.Ref]child.Object{r.Ref: live}
		in.Results, in.Health = []plan.Result{result(plan.Keep, child.Deployment, "web", live)}, health.Assess(in.Snapshot, noon)
		if got := Compute(in, noon).Image; got != test.want {
			t.Errorf("%s: later, the image is %q, want %q", name, got, test.want)
		}
	}
}

// The UID in the status makes an object the Application's. That of a foreign one must not be there.
func TestForeignUIDsAreNotInTheStatus(t *testing.T) {
	for _, test := range []struct {
		name    string
		action  plan.Action
		err     error
		observe bool
		want    bool
	}{
		{"adopted", plan.Adopt, nil, false, true},
		{"not adopted", plan.Adopt, errors.New("no"), false, false},
		{"only observed", plan.Adopt, nil, true, false},
		{"refused", plan.NotOwned, nil, false, false},
	} {
		r := result(test.action, child.Deployment, "web", adoptable(3))
		r.Err, r.UID = test.err, deploymentUID
		application := newApplication()
		if test.observe {
			application.Spec.ReconcilePolicy = v1.ReconcileObserve
		}
		got := Compute(Input{Snapshot: child.Snapshot{Application: application}, Results: []plan.Result{r}}, noon)
		if (got.Resources[0].UID != "") != test.want {
			t.Errorf("%s: status.resources has %+v", test.name, got.Resources[0])
		}
	}
}
