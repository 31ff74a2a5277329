// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package edit_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

func application() *v1.Application {
	a := &v1.Application{}
	a.Name, a.Namespace, a.UID, a.ResourceVersion = "web", "shop", "uid", "7"
	a.Spec = v1.ApplicationSpec{Image: "web:1", Replicas: new(int32(2)), Sidecars: []corev1.Container{{Name: "proxy", Image: "proxy:1"}}}
	return a
}

// TestEdits wants what each edit says, and the patch, with its precondition.
func TestEdits(t *testing.T) {
	scaled := func(a *v1.Application) { a.Spec.Replicas, a.Spec.Autoscaling = nil, &v1.Autoscaling{MaxReplicas: 9} }
	atZero := func(a *v1.Application) {
		scaled(a)
		a.Status.DesiredReplicas = 0
		meta.SetStatusCondition(&a.Status.Conditions, metav1.Condition{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonPodsUnavailable})
	}
	unset := func(a *v1.Application) {
		a.Spec.Replicas = nil
		a.Status.Resources = []v1.ResourceStatus{{Group: "apps", Kind: "Deployment", Name: "web", State: v1.ResourceConflict}}
	}
	stopped := func(a *v1.Application) { a.Spec.Paused, a.Spec.ReconcilePolicy = new(true), v1.ReconcileSuspend }
	refused := func(a *v1.Application) {
		a.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonClassLimitExceeded}}
	}
	changedSince := func(a *v1.Application) { a.Status.Revision = &v1.RevisionStatus{Current: 1, RolledBackFrom: 2} }
	rolledBack := func(a *v1.Application) {
		changedSince(a)
		a.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Reason: v1.ReasonRolledBack}, {Type: v1.ConditionRolledBack, Status: metav1.ConditionTrue}}
	}
	refusedSince := func(a *v1.Application) { rolledBack(a); a.Status.Conditions[0].Reason = v1.ReasonClassLimitExceeded }
	suspendedSince := func(a *v1.Application) {
		rolledBack(a)
		a.Spec.ReconcilePolicy, a.Status.Conditions[0].Reason = v1.ReconcileSuspend, v1.ReasonSuspended
	}
	rolledBackAndPaused := func(a *v1.Application) { rolledBack(a); a.Spec.Paused = new(true) }
	const precondition = `"metadata":{"resourceVersion":"7","uid":"uid"}`
	for name, test := range map[string]struct {
		given             func(*v1.Application)
		edit              edit.Edit
		what, patch, fail string
	}{
		"pause": {edit: edit.Pause(2), what: "rollouts are paused", patch: `{` + precondition + `,"spec":{"paused":true}}`},
		"pause of a refused spec": {
			given: refused, edit: edit.Pause(-1), patch: `{` + precondition + `,"spec":{"paused":true}}`,
			what: "spec.paused is set, but a rollout that has begun goes on until Fairlead carries out the spec (ClassLimitExceeded). To stop it now: kubectl rollout pause deployment/web",
		},
		"pause of a refused spec without a rollout": {
			given: refused, edit: edit.Pause(0), patch: `{` + precondition + `,"spec":{"paused":true}}`,
			what: "spec.paused is set, for rollouts that begin once Fairlead carries out the spec (ClassLimitExceeded)",
		},
		"pause of a suspended rollout": {
			given: func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileSuspend },
			edit:  edit.Pause(3), patch: `{` + precondition + `,"spec":{"paused":true}}`,
			what: "spec.paused is set, but a rollout that has begun goes on until Fairlead carries out the spec (reconcilePolicy: Suspend). To stop it now: kubectl rollout pause deployment/web",
		},
		"pause under Observe": {
			given: func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileObserve },
			edit:  edit.Pause(0), patch: `{` + precondition + `,"spec":{"paused":true}}`,
			what: "spec.paused is set, for rollouts that begin once Fairlead carries out the spec (reconcilePolicy: Observe)",
		},
		"observe a refused spec": {
			given: refused, edit: edit.Observe, patch: `{` + precondition + `,"spec":{"reconcilePolicy":"Observe"}}`,
			what: "Fairlead changes no child until you resume it (reconcilePolicy: Observe), and reports differences only once it accepts the spec (now ClassLimitExceeded)",
		},
		"pause again":    {given: stopped, edit: edit.Pause(2), what: "rollouts are paused"},
		"resume":         {given: stopped, edit: edit.Resume, what: "rollouts go on; Fairlead enforces the children again (reconcilePolicy Suspend → Enforce)", patch: `{` + precondition + `,"spec":{"paused":null,"reconcilePolicy":"Enforce"}}`},
		"resume nothing": {edit: edit.Resume},
		"resume a held adoption": {
			given: func(a *v1.Application) {
				a.Spec.Paused, a.Spec.AdoptionPolicy = new(true), v1.AdoptionConsented
				a.Status.Conditions = []metav1.Condition{{Type: v1.ConditionAdopted, Status: metav1.ConditionFalse, Reason: v1.ReasonPodsHeld}}
			},
			edit: edit.Resume, what: "rollouts go on, without what kubectl fairlead adopt web --rollout checks before it replaces the pods",
			patch: `{` + precondition + `,"spec":{"paused":null}}`,
		},
		"suspend": {edit: edit.Suspend, what: "Fairlead does nothing until you resume it, and status shows the state before that (reconcilePolicy: Suspend)", patch: `{` + precondition + `,"spec":{"reconcilePolicy":"Suspend"}}`},
		"observe": {edit: edit.Observe, what: "Fairlead reports differences and changes no child until you resume it (reconcilePolicy: Observe)", patch: `{` + precondition + `,"spec":{"reconcilePolicy":"Observe"}}`},
		"restart": {edit: edit.Restart(treetest.Now, true), what: "a restart of the pods", patch: `{` + precondition + `,"spec":{"podMetadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-11-24T02:40:00Z"}}}}`},
		"restart twice in a second": {
			given: func(a *v1.Application) {
				a.Spec.PodMetadata = &v1.PodMetadata{Annotations: map[string]string{v1.AnnotationRestartedAt: "2026-11-24T02:40:00Z"}}
			},
			edit: edit.Restart(treetest.Now, true),
			fail: "it was restarted in this very second already, so nothing was written: to restart it once more, run the command again",
		},
		"restart a second later": {
			given: func(a *v1.Application) {
				a.Spec.PodMetadata = &v1.PodMetadata{Annotations: map[string]string{v1.AnnotationRestartedAt: "2026-11-24T02:39:59Z"}}
			},
			edit: edit.Restart(treetest.Now, true), what: "a restart of the pods",
			patch: `{` + precondition + `,"spec":{"podMetadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-11-24T02:40:00Z"}}}}`,
		},
		"restart of what failed": {given: rolledBack, edit: edit.Restart(treetest.Now, true), fail: "revision 2 failed and was rolled back, and a restart would try it again. " +
			"To try it again, change the pods in the spec, such as by an annotation in spec.podMetadata; to restart what runs, which is revision 1: kubectl rollout restart deployment/web"},
		"restart of what failed, paused": {given: rolledBackAndPaused, edit: edit.Restart(treetest.Now, true), fail: "revision 2 failed and was rolled back, and a restart would try it again. " +
			"To try it again, change the pods in the spec, such as by an annotation in spec.podMetadata"},
		"restart of what failed, without a Deployment": {given: rolledBack, edit: edit.Restart(treetest.Now, false), fail: "revision 2 failed and was rolled back, and a restart would try it again. " +
			"To try it again, change the pods in the spec, such as by an annotation in spec.podMetadata"},
		"restart of a spec that changed since, and waits": {
			given: changedSince, edit: edit.Restart(treetest.Now, true), what: "a restart of the pods",
			patch: `{` + precondition + `,"spec":{"podMetadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-11-24T02:40:00Z"}}}}`,
		},
		"restart of a spec that changed since, and is refused": {
			given: refusedSince, edit: edit.Restart(treetest.Now, true), what: "a restart of the pods",
			patch: `{` + precondition + `,"spec":{"podMetadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-11-24T02:40:00Z"}}}}`,
		},
		"restart of what failed, suspended": {
			given: suspendedSince, edit: edit.Restart(treetest.Now, true),
			what:  "a restart of the pods; revision 2 failed and was rolled back: if the spec still asks for it, the restart tries it again",
			patch: `{` + precondition + `,"spec":{"podMetadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-11-24T02:40:00Z"}}}}`,
		},
		"restart before the next is observed": {
			given: func(a *v1.Application) { rolledBack(a); a.Generation++ },
			edit:  edit.Restart(treetest.Now, true), what: "a restart of the pods", patch: `{` + precondition + `,"spec":{"podMetadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-11-24T02:40:00Z"}}}}`,
		},
		"scale": {edit: edit.Scale(5, 2), what: "replicas 2 → 5", patch: `{` + precondition + `,"spec":{"replicas":5}}`},
		"scale to 0 and back": {
			given: func(a *v1.Application) { unset(a); a.Status.Resources[0].State = v1.ResourceSynced },
			edit:  edit.Scale(5, 0), what: "replicas 0 → 5", patch: `{` + precondition + `,"spec":{"replicas":5}}`,
		},
		"scale, and the status has the number": {
			given: func(a *v1.Application) { unset(a); a.Status.DesiredReplicas = 3 },
			edit:  edit.Scale(5, 3), what: "replicas 3 → 5", patch: `{` + precondition + `,"spec":{"replicas":5}}`,
		},
		"scale before the adoption": {given: unset, edit: edit.Scale(5, -1), what: "replicas set to 5", patch: `{` + precondition + `,"spec":{"replicas":5}}`},
		"scale before the adoption, from a number": {
			given: unset, edit: edit.Scale(5, 3),
			fail: "neither the spec nor the status says how many pods are desired, so nothing was written: leave out --current-replicas",
		},
		"scale otherwise": {edit: edit.Scale(5, 3), fail: "the desired number of pods is 2, not 3 as --current-replicas expects"},
		"scale what is fixed": {
			given: func(a *v1.Application) { scaled(a); a.Spec.Autoscaling.MinReplicas = new(int32(9)) }, edit: edit.Scale(5, -1),
			fail: "spec.autoscaling sets the number of pods to 9: change its minReplicas and maxReplicas instead",
		},
		"scale what the default minimum fixes": {
			given: func(a *v1.Application) { scaled(a); a.Spec.Autoscaling.MaxReplicas = 1 }, edit: edit.Scale(5, -1),
			fail: "spec.autoscaling sets the number of pods to 1: change its minReplicas and maxReplicas instead",
		},
		"scale what was stopped": {
			given: atZero, edit: edit.Scale(50, -1),
			fail: "the Deployment was scaled to 0, where its autoscaler does nothing: start it again with kubectl scale deployment web --replicas=9",
		},
		"scale autoscaled": {given: scaled, edit: edit.Scale(5, -1), fail: "an autoscaler decides the number of pods, up to 9: change spec.autoscaling.minReplicas and maxReplicas instead"},
		"scale autoscaled to 0": {
			given: scaled, edit: edit.Scale(0, -1),
			fail: "an autoscaler decides the number of pods: to have no pods on purpose, remove spec.autoscaling and set spec.replicas to 0",
		},
		"scale what is fixed to 0": {
			given: func(a *v1.Application) { scaled(a); a.Spec.Autoscaling.MinReplicas = new(int32(9)) }, edit: edit.Scale(0, -1),
			fail: "spec.autoscaling sets the number of pods to 9: to have no pods on purpose, remove spec.autoscaling and set spec.replicas to 0",
		},
		"scale what is fixed, to the same": {
			given: func(a *v1.Application) { scaled(a); a.Spec.Autoscaling.MinReplicas = new(int32(9)) }, edit: edit.Scale(9, -1),
		},
		"scale what is fixed at 0, to the same": {
			given: func(a *v1.Application) {
				scaled(a)
				a.Spec.Autoscaling.MinReplicas, a.Spec.Autoscaling.MaxReplicas = new(int32(0)), 0
			},
			edit: edit.Scale(0, -1),
		},
		"scale what was stopped to 0": {
			given: atZero, edit: edit.Scale(0, -1),
			fail: "the Deployment was scaled to 0 already, where its autoscaler does nothing: to have no pods on purpose, remove spec.autoscaling and set spec.replicas to 0",
		},
		"image":            {edit: edit.SetImages(edit.Image{Image: "web:2"}), what: "image of container web: web:1 → web:2", patch: `{` + precondition + `,"spec":{"image":"web:2"}}`},
		"image of sidecar": {edit: edit.SetImages(edit.Image{Container: "proxy", Image: "proxy:2"}), what: "image of container proxy: proxy:1 → proxy:2", patch: `{` + precondition + `,"spec":{"sidecars":[{"image":"proxy:2","name":"proxy","resources":{}}]}}`},
		"two images": {
			edit:  edit.SetImages(edit.Image{Container: "proxy", Image: "proxy:2"}, edit.Image{Image: "web:2"}),
			what:  "image of container proxy: proxy:1 → proxy:2; image of container web: web:1 → web:2",
			patch: `{` + precondition + `,"spec":{"image":"web:2","sidecars":[{"image":"proxy:2","name":"proxy","resources":{}}]}}`,
		},
		"two images of one container": {
			edit: edit.SetImages(edit.Image{Image: "web:2"}, edit.Image{Container: "web", Image: "web:3"}),
			fail: "web:2 and web:3 are both for container web: pass one of them",
		},
		"no container": {edit: edit.SetImages(edit.Image{Container: "x", Image: "x:2"}), fail: `there is no container "x": it has web, proxy`},
	} {
		t.Run(name, func(t *testing.T) {
			given := application()
			if test.given != nil {
				test.given(given)
			}
			edited, what, err := edit.Apply(given, test.edit)
			if test.fail != "" {
				if err == nil || err.Error() != test.fail {
					t.Errorf("error %v, want %s", err, test.fail)
				}
				return
			}
			if err != nil || what != test.what {
				t.Errorf("%q, %v, want %q", what, err, test.what)
			}
			patch, err := edit.Patch(given, edited)
			if err != nil {
				t.Fatal(err)
			}
			var sorted any
			if len(patch) > 0 {
				if err := json.Unmarshal(patch, &sorted); err != nil {
					t.Fatal(err)
				}
			}
			if string(patch) != test.patch {
				t.Errorf("patch %s, want %s", patch, test.patch)
			}
		})
	}
}

// TestUndo wants the revision to go back to, and its pods in the spec.
func TestUndo(t *testing.T) {
	objects, _ := treetest.Load(t, "crash")
	revisions := edit.History(objects)
	if len(revisions) != 2 || !revisions[0].RolledBack || !revisions[1].Current || revisions[1].Image != "example.com/web:1" {
		t.Fatalf("%+v", revisions)
	}
	for number, want := range map[int64]int64{0: 1, 1: 1, 2: 2, 3: 0} {
		target, err := edit.Target(revisions, 1, number)
		if target.Number != want || (err != nil) != (want == 0) {
			t.Errorf("to %d: %d, %v, want %d", number, target.Number, err, want)
		}
	}
	pinned := objects.Application.DeepCopy()
	pinned.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(7))}
	edited, what, err := edit.Apply(pinned, edit.Undo(revisions[1], objects.Children, false))
	if err != nil {
		t.Fatal(err)
	}
	if edited.Spec.Image != "example.com/web:1" || edited.Spec.Rollback != nil ||
		what != "the pods of revision 1 (example.com/web:1) in the spec; rollback.toRevision 7 is removed" {
		t.Errorf("%s: %s", edited.Spec.Image, what)
	}
}

// TestOneEditOfMany: an edit is made of several Applications, each with a container of its own name.
func TestOneEditOfMany(t *testing.T) {
	set := edit.SetImages(edit.Image{Image: "both:2"})
	for _, name := range []string{"web", "api"} {
		given := application()
		given.Name = name
		if edited, _, err := edit.Apply(given, set); err != nil || edited.Spec.Image != "both:2" {
			t.Errorf("%s: %v, %v", name, edited, err)
		}
	}
}
