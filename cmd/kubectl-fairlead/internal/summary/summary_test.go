// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package summary_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/summary"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

func TestPrint(t *testing.T) {
	for _, name := range treetest.Names(t) {
		t.Run(name, func(t *testing.T) {
			s := summary.Of(clustertest.Load(t, name))
			golden.Screens(t, name, func(to *screen.Screen) { s.Print(to, treetest.Now, false) })
			if name == "crash" {
				golden.Screens(t, name+".wide", func(to *screen.Screen) { s.Print(to, treetest.Now, true) })
			}
		})
	}
}

// TestJSON pins the format for programs.
func TestJSON(t *testing.T) {
	encoded, err := json.MarshalIndent(summary.Of(clustertest.Load(t, "image")), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "image.json", append(encoded, '\n'))
}

// TestOldStatus wants an Application not ready while its status is about an older generation.
func TestOldStatus(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	if !summary.Of(loaded).Ready {
		t.Fatal("the case is not ready")
	}
	loaded.Application.Generation++
	if s := summary.Of(loaded); s.Ready || s.Stalled {
		t.Errorf("ready %t, stalled %t, although the controller has not observed the spec", s.Ready, s.Stalled)
	}
}

// TestDeleting wants no status from before the deletion: the controller may never observe the deletion.
func TestDeleting(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	loaded.Application.DeletionTimestamp, loaded.Application.Finalizers = &metav1.Time{Time: treetest.Now}, []string{"example.com/hold"}
	const want = "The Application is being deleted. It waits for example.com/hold."
	if s := summary.Of(loaded); s.Ready || s.Reason != v1.ReasonDeleting || s.Message != want {
		t.Errorf("ready %t, %s, %q, want %q", s.Ready, s.Reason, s.Message, want)
	}
}

// TestMissingRevision: pods do not stay at a revision that does not exist.
func TestMissingRevision(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	loaded.Application.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(77))}
	want := "revision 77 is asked for, and does not run yet (spec.rollback.toRevision)"
	if s := summary.Of(loaded); !slices.Contains(s.Policies, want) {
		t.Errorf("%q lacks %q", s.Policies, want)
	}
	loaded.Application.Status.Revision.Current = 77
	want = "the pods stay at revision 77, whatever the spec says about them (spec.rollback.toRevision)"
	if s := summary.Of(loaded); !slices.Contains(s.Policies, want) {
		t.Errorf("%q lacks %q", s.Policies, want)
	}
	loaded.Application.Spec.Paused = new(true)
	want = "revision 77 is asked for; if it does not run yet, it waits too (spec.rollback.toRevision)"
	if s := summary.Of(loaded); !slices.Contains(s.Policies, want) {
		t.Errorf("%q lacks %q", s.Policies, want)
	}
	meta.FindStatusCondition(loaded.Application.Status.Conditions, v1.ConditionReady).Reason = v1.ReasonRevisionMissing
	want = "nothing changes, because revision 77 does not exist (spec.rollback.toRevision)"
	if s := summary.Of(loaded); !slices.Contains(s.Policies, want) {
		t.Errorf("%q lacks %q", s.Policies, want)
	}
}

// TestForeignAutoscaler: the numbers of an autoscaler that is not the Application's say nothing about it.
func TestForeignAutoscaler(t *testing.T) {
	loaded := clustertest.Load(t, "autoscaler")
	for _, object := range loaded.Children {
		if object.GetObjectKind().GroupVersionKind().Kind == child.HorizontalPodAutoscaler.Kind {
			object.SetOwnerReferences(nil)
			object.SetAnnotations(nil)
		}
	}
	if s := summary.Of(loaded); s.Autoscaler != nil {
		t.Errorf("the autoscaler is %+v", s.Autoscaler)
	}
}

// TestSince: the time beside a reason is since when the Application is not ready for it, where a condition shows that.
func TestSince(t *testing.T) {
	condition := func(kind, reason string, minutes int) metav1.Condition {
		status := metav1.ConditionTrue
		if kind == v1.ConditionReady {
			status = metav1.ConditionFalse
		}
		return metav1.Condition{Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(treetest.Now.Add(time.Duration(-minutes) * time.Minute))}
	}
	for want, conditions := range map[string][]metav1.Condition{
		"Not ready for 9m: RollingOut": {condition(v1.ConditionReady, v1.ReasonRollingOut, 9)},
		"Not ready: RolledBack (stalled), for 5m": {
			condition(v1.ConditionReady, v1.ReasonRolledBack, 9), condition(v1.ConditionStalled, v1.ReasonRolledBack, 7), condition(v1.ConditionRolledBack, v1.ReasonRolledBack, 5),
		},
		"Not ready: Paused, for 8m": {condition(v1.ConditionReady, v1.ReasonPaused, 8), condition(v1.ConditionPaused, v1.ReasonPaused, 30)},
		"Not ready: Paused, for 6m": {condition(v1.ConditionReady, v1.ReasonPaused, 30), condition(v1.ConditionPaused, v1.ReasonPaused, 6)},
		"Not ready for 9m: ConfigMissing": {
			condition(v1.ConditionReady, v1.ReasonConfigMissing, 9), condition(v1.ConditionPaused, v1.ReasonPaused, 30),
		},
		"Not ready for 9m: Invalid (stalled)": {condition(v1.ConditionReady, v1.ReasonInvalid, 9), condition(v1.ConditionStalled, v1.ReasonInvalid, 4)},
	} {
		loaded := clustertest.Load(t, "image")
		loaded.Application.Status.Conditions = conditions
		streams, _, out, _ := genericiooptions.NewTestIOStreams()
		summary.Of(loaded).Print(screen.New(streams.Out, func(string) string { return "" }), treetest.Now, false)
		if first, _, _ := strings.Cut(out.String(), "\n"); !strings.HasSuffix(first, "  "+want) {
			t.Errorf("%q, want %q", first, want)
		}
	}
}

// TestUnreadable names what the user may not read.
func TestUnreadable(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	loaded.Unreadable["pods"] = errors.New("forbidden")
	loaded.Pods = nil
	golden.Screens(t, "unreadable", func(to *screen.Screen) { summary.Of(loaded).Print(to, treetest.Now, false) })
}

// TestUnreadableAbovePods: without the Deployment or its ReplicaSets, it is not known which pods are the Application's.
func TestUnreadableAbovePods(t *testing.T) {
	for _, hidden := range []string{"deployments", "replicasets"} {
		loaded := clustertest.Load(t, "healthy")
		loaded.Application.Status.Image = "example.com/former:1"
		loaded.Unreadable[hidden] = errors.New("forbidden")
		if loaded.ReplicaSets = nil; hidden == "deployments" {
			loaded.Children = nil
		}
		streams, _, out, _ := genericiooptions.NewTestIOStreams()
		summary.Of(loaded).Print(screen.New(streams.Out, func(string) string { return "" }), treetest.Now, false)
		text := out.String()
		if strings.Contains(text, "\nPods ") || strings.Contains(text, "which no pod of the Application runs") || !strings.Contains(text, "you may not list "+hidden+"\n") {
			t.Errorf("%s: %s", hidden, text)
		}
	}
}

// TestImageOfAdoptedPods: the pods of an adopted Deployment run, and no revision names their image.
func TestImageOfAdoptedPods(t *testing.T) {
	s := summary.Of(clustertest.Load(t, "healthy"))
	s.RunningImage, s.Rollout.Updated = "", 0
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	s.Print(screen.New(streams.Out, func(string) string { return "" }), treetest.Now, false)
	if text := out.String(); !strings.Contains(text, s.Image) || strings.Contains(text, "which no pod of the Application runs") {
		t.Errorf("%s", text)
	}
}

// TestImageThatNoPodRuns: the last complete rollout had another image, and no pod of it is left.
func TestImageThatNoPodRuns(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	loaded.Application.Status.Image = "example.com/former:1"
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	summary.Of(loaded).Print(screen.New(streams.Out, func(string) string { return "" }), treetest.Now, false)
	loaded.Pods = nil
	summary.Of(loaded).Print(screen.New(streams.Out, func(string) string { return "" }), treetest.Now, false)
	for _, want := range []string{"example.com/former:1 runs; the spec says ", loaded.Application.Spec.Image + ", which no pod of the Application runs"} {
		if text := out.String(); !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
}

// TestAdmittedNote: what admission makes of a child is said once, beside the images that differ for that reason.
func TestAdmittedNote(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	resources := loaded.Application.Status.Resources
	for i := range resources {
		if resources[i].Kind == child.Deployment.Kind {
			resources[i].Message = "The API server does not store .spec.template.spec.containers[name=\"cart\"].image as Fairlead writes it: an admission webhook or policy changes it, or the API server does not support it."
		}
	}
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	summary.Of(loaded).Print(screen.New(streams.Out, func(string) string { return "" }), treetest.Now, false)
	const want = `Deployment cart: The API server does not store .spec.template.spec.containers[name="cart"].image as Fairlead writes it: an admission webhook or policy changes it, or the API server does not support it.`
	if strings.Count(out.String(), want) != 1 {
		t.Errorf("%q is not there once:\n%s", want, out)
	}
}

// TestSuspendedDuringRollout: Kubernetes goes on with the rollout, and the status is that of before.
func TestSuspendedDuringRollout(t *testing.T) {
	for _, test := range []struct {
		name          string
		live          appsv1.DeploymentStatus
		image, status string
	}{
		{"in the middle", appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 1, AvailableReplicas: 2}, "example.com/former:1 runs; the spec says ", "1 of 3 pods updated, 2 available"},
		{"complete", appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3}, "", "3 of 3 pods updated, 3 available"},
		{"not observed", appsv1.DeploymentStatus{ObservedGeneration: -1, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3}, "example.com/former:1 runs; the spec says ", "0 of 3 pods updated, 3 available"},
	} {
		loaded := clustertest.Load(t, "healthy")
		application := loaded.Application
		application.Spec.ReconcilePolicy, application.Status.Image, application.Status.UpdatedReplicas = v1.ReconcileSuspend, "example.com/former:1", 0
		deployment := child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, application.Name)
		test.live.ObservedGeneration += deployment.Generation
		deployment.Status = test.live
		streams, _, out, _ := genericiooptions.NewTestIOStreams()
		summary.Of(loaded).Print(screen.New(streams.Out, func(string) string { return "" }), treetest.Now, false)
		for _, want := range []string{"Image        " + test.image + application.Spec.Image + "\n", test.status} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", test.name, want, out)
			}
		}
	}
}

// TestRevisionWhileSuspended names the revision of status only where it is known to run: others may have changed the pods, or deleted the
// Deployment, and the controller does not notice.
func TestRevisionWhileSuspended(t *testing.T) {
	entry := func(manager, fields string, after time.Duration) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Time: new(metav1.NewTime(treetest.Now.Add(after))),
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	const image = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"cart\"}":{"f:image":{}}}}}}}`
	scaled, status := entry("kubectl", `{"f:spec":{"f:replicas":{}}}`, time.Minute), entry("kube-controller-manager", image, time.Minute)
	status.Subresource = "status"
	for _, test := range []struct {
		name   string
		policy v1.ReconcilePolicy
		others []metav1.ManagedFieldsEntry
		gone   bool
		want   bool
	}{
		{"unchanged", v1.ReconcileSuspend, nil, false, true},
		{"changed before Fairlead wrote it", v1.ReconcileSuspend, []metav1.ManagedFieldsEntry{entry("kubectl", image, -time.Hour)}, false, true},
		{"scaled", v1.ReconcileSuspend, []metav1.ManagedFieldsEntry{scaled, status}, false, true},
		{"changed", v1.ReconcileSuspend, []metav1.ManagedFieldsEntry{entry("kubectl", image, time.Minute)}, false, false},
		{"changed, and not suspended", v1.ReconcileEnforce, []metav1.ManagedFieldsEntry{entry("kubectl", image, time.Minute)}, false, true},
		{"gone", v1.ReconcileSuspend, nil, true, false},
	} {
		loaded := clustertest.Load(t, "healthy")
		loaded.Application.Spec.ReconcilePolicy = test.policy
		deployment := child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, loaded.Application.Name)
		deployment.ManagedFields = slices.Concat(test.others, []metav1.ManagedFieldsEntry{entry(apply.FieldManager, image, 0)})
		if test.gone {
			loaded.Children = slices.DeleteFunc(loaded.Children, func(object child.Object) bool { return object == child.Object(deployment) })
		}
		streams, _, out, _ := genericiooptions.NewTestIOStreams()
		summary.Of(loaded).Print(screen.New(streams.Out, func(string) string { return "" }), treetest.Now, false)
		if got := strings.Contains(out.String(), "; revision 1"); got != test.want {
			t.Errorf("%s: revision is %t, want %t:\n%s", test.name, got, test.want, out)
		}
		if got := strings.Contains(out.String(), "Rollout      no Deployment\n"); got != test.gone {
			t.Errorf("%s: the Deployment is gone is %t, want %t:\n%s", test.name, got, test.gone, out)
		}
	}
}

// TestOutdated: all pods are updated to what the Deployment says, which is not what the spec says.
func TestOutdated(t *testing.T) {
	pending := func(a *v1.Application, revision string) {
		for i := range a.Status.Resources {
			switch resource := &a.Status.Resources[i]; resource.Kind {
			case child.ControllerRevision.Kind:
				resource.Name, resource.State = revision, v1.ResourcePending
			case child.Deployment.Kind:
				resource.State = v1.ResourcePending
			}
		}
	}
	const deployed = "cart-75b0b5ecf7"
	for _, test := range []struct {
		name   string
		change func(*v1.Application)
		want   bool
	}{
		{"nothing", func(*v1.Application) {}, false},
		{"an image", func(a *v1.Application) { a.Spec.Image = "example.com/cart:next" }, true},
		{"an image that admission changed", func(a *v1.Application) {
			a.Spec.Image = "example.com/cart:next"
			for i := range a.Status.Resources {
				if a.Status.Resources[i].Kind == child.Deployment.Kind {
					a.Status.Resources[i].Message = "An admission webhook changes it."
				}
			}
		}, false},
		{"an image while suspended", func(a *v1.Application) {
			a.Spec.Image, a.Spec.ReconcilePolicy = "example.com/cart:next", v1.ReconcileSuspend
		}, true},
		{"a spec that is not observed", func(a *v1.Application) { a.Spec.Image, a.Generation = "example.com/cart:next", a.Generation+1 }, false},
		{"pods that wait for a Secret", func(a *v1.Application) { pending(a, "cart-0123456789") }, true},
		{"an unchanged Deployment that waits for a ServiceAccount, or is recreated", func(a *v1.Application) { pending(a, deployed) }, false},
		{"a Secret with other content", func(a *v1.Application) { pending(a, deployed+"-0123456789") }, false},
		{"a status with too many objects to list", func(a *v1.Application) { a.Status.Resources = nil }, false},
		{"a spec that another revision replaces", func(a *v1.Application) {
			a.Spec.Image, a.Spec.Rollback = "example.com/cart:next", &v1.Rollback{ToRevision: new(int64(1))}
		}, false},
		{"a spec that was rolled back", func(a *v1.Application) {
			a.Spec.Image, a.Status.Revision.RolledBackFrom = "example.com/cart:next", 2
			a.Status.Conditions = append(a.Status.Conditions, metav1.Condition{Type: v1.ConditionRolledBack, Status: metav1.ConditionTrue})
		}, false},
		{"a spec that changed after a way back, and waits", func(a *v1.Application) { a.Spec.Image, a.Status.Revision.RolledBackFrom = "example.com/cart:next", 2 }, true},
		{"a way back that waits", func(a *v1.Application) {
			pending(a, "cart-older")
			ready := meta.FindStatusCondition(a.Status.Conditions, v1.ConditionReady)
			ready.Reason, ready.Message = v1.ReasonConfigMissing, "Revision 2 failed. Fairlead goes back to revision 1, which waits: Secret db does not exist."
		}, false},
	} {
		loaded := clustertest.Load(t, "healthy")
		test.change(loaded.Application)
		streams, _, out, _ := genericiooptions.NewTestIOStreams()
		summary.Of(loaded).Print(screen.New(streams.Out, func(string) string { return "" }), treetest.Now, false)
		if got := strings.Contains(out.String(), "; the spec asks for other pods\n"); got != test.want {
			t.Errorf("%s: outdated is %t, want %t:\n%s", test.name, got, test.want, out)
		}
	}
}

// TestOrphanIsPromised: before the controller has set its finalizer, the garbage collector would take the children along.
func TestOrphanIsPromised(t *testing.T) {
	const only = "children outlive the Application (deletionPolicy: Orphan) only "
	for _, test := range []struct {
		finalizers         []string
		deleted, isOrphans bool
		want               string
	}{
		{finalizers: []string{v1.FinalizerOrphan}, want: "children outlive the Application (deletionPolicy: Orphan)"},
		{want: only + "once a controller has seen that: do not delete it before"},
		{finalizers: []string{"example.com/hold"}, deleted: true, isOrphans: true, want: "children were left behind (deletionPolicy: Orphan)"},
		{finalizers: []string{"example.com/hold"}, deleted: true, want: only + "if a controller saw that before the deletion"},
	} {
		loaded := clustertest.Load(t, "healthy")
		loaded.Application.Spec.DeletionPolicy, loaded.Application.Finalizers = v1.DeletionOrphan, test.finalizers
		if test.deleted {
			loaded.Application.DeletionTimestamp = &metav1.Time{Time: treetest.Now}
		}
		for _, live := range loaded.Children {
			if test.isOrphans {
				live.SetOwnerReferences(nil)
			}
		}
		if got := summary.Of(loaded).Policies; !slices.Equal(got, []string{test.want}) {
			t.Errorf("finalizers %q: %q, want %q", test.finalizers, got, test.want)
		}
	}
}

// TestPausedButNotCarriedOut: what is not carried out stops no rollout, and reports no difference.
func TestPausedButNotCarriedOut(t *testing.T) {
	const goesOn = "spec.paused is set, but Fairlead does not carry the spec out, so a rollout that has begun goes on"
	for reason, want := range map[string][]string{
		v1.ReasonSuspended:          {goesOn, "Fairlead does nothing (reconcilePolicy: Suspend)"},
		v1.ReasonClassLimitExceeded: {goesOn, "no child is changed, and differences are reported once Fairlead accepts the spec (reconcilePolicy: Observe)"},
	} {
		loaded := clustertest.Load(t, "healthy")
		loaded.Application.Spec.Paused, loaded.Application.Spec.ReconcilePolicy = new(true), v1.ReconcileSuspend
		if reason != v1.ReasonSuspended {
			loaded.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
		}
		meta.FindStatusCondition(loaded.Application.Status.Conditions, v1.ConditionReady).Reason = reason
		if got := summary.Of(loaded).Policies; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", reason, got, want)
		}
	}
}
