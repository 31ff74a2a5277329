// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/summary"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestLostDeployment: while no controller runs, the status stays Ready, whatever happens to the Deployment.
func TestLostDeployment(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	const headline = "default/cart has no Deployment, although its status says that it is ready.\n"
	text, _ := printed(t, loaded)
	wantParts(t, "with a Deployment", text, map[string]bool{headline: false})
	remove(loaded, child.Deployment)
	text, _ = printed(t, loaded)
	wantParts(t, "without", text, map[string]bool{headline: true, "The controller has not noticed.\n": true, "kubectl fairlead doctor\n": true, "is ready:": false})
	if s := summary.Of(loaded); s.Ready || s.Reason != v1.ReasonDeploymentNotFound {
		t.Errorf("status is ready %t, %s", s.Ready, s.Reason)
	}
	loaded.Unreadable[child.Deployment.Resource] = errors.New("forbidden")
	text, _ = printed(t, loaded)
	wantParts(t, "unknown", text, map[string]bool{headline: false})
}

// TestLostDeploymentNotReady: whatever the status says of a rollback or a pause is of before, and so are its numbers.
func TestLostDeploymentNotReady(t *testing.T) {
	const (
		headline = "/web has no Deployment, and its status does not show that.\n"
		nothing  = "There is no Deployment of the Application, so no pods serve it. The controller has not noticed.\n"
		doctor   = "kubectl fairlead doctor\n"
	)
	lose := func(loaded *cluster.Loaded) {
		loaded.Children = slices.DeleteFunc(loaded.Children, func(object child.Object) bool { _, is := object.(*appsv1.Deployment); return is })
		loaded.Pods, loaded.ReplicaSets = nil, nil
	}
	for name, parts := range map[string]map[string]bool{
		"crash": {
			headline: true, nothing: true, doctor: true, "so the last healthy revision runs instead": false, "undo web": false,
			"so Fairlead went back to the last healthy revision. Fairlead did not change the spec.\n": true,
		},
		"paused": {
			headline: true, nothing: true, doctor: true, "it waits until you resume it": false, "A rollout waits": false,
			"Rollouts are paused: a Deployment that Fairlead creates now starts no pods before you resume them.\n": true,
		},
		"image":   {headline: true, nothing: true, doctor: true, "cannot be pulled": false, "until someone acts": false},
		"observe": {"although its status says that it is ready.\n": true, nothing: true},
		"missing": {headline: false, nothing: false, "it waits for what is missing": true},
		"invalid": {headline: false, nothing: false},
	} {
		loaded := clustertest.Load(t, name)
		lose(loaded)
		text, _ := printed(t, loaded)
		wantParts(t, name, text, parts)
	}

	loaded := clustertest.Load(t, "crash")
	status := func() string {
		var written strings.Builder
		summary.Of(loaded).Print(screen.Fixed(&written, 400, false), treetest.Now, false)
		return written.String()
	}
	wantParts(t, "status with a Deployment", status(), map[string]bool{"3 available; revision 1, rolled back from 2\n": true})
	pods := loaded.Pods
	lose(loaded)
	wantParts(t, "status", status(), map[string]bool{
		"Not ready: DeploymentNotFound\n": true, nothing: true, "  no Deployment; revision 1, rolled back from 2\n": true, "  none of 3\n": true,
		"pods updated": false, " runs; ": false, "which no pod of the Application runs\n": true,
	})
	loaded.Pods = pods[:1]
	const orphaned = "so nothing replaces its pods: 1 of before still serves. The controller has not noticed.\n"
	wantParts(t, "status with an orphaned pod", status(), map[string]bool{orphaned: true, "none of 3": false, "which no pod": false})
	text, _ := printed(t, loaded)
	wantParts(t, "orphaned", text, map[string]bool{headline: true, orphaned: true, nothing: false})
	loaded.Application.Spec.ReconcilePolicy = v1.ReconcileSuspend
	text, _ = printed(t, loaded)
	wantParts(t, "suspended", text, map[string]bool{headline: false, nothing: false})
	loaded.Application.Spec.ReconcilePolicy = ""
	loaded.Application.DeletionTimestamp = &metav1.Time{Time: treetest.Now}
	text, _ = printed(t, loaded)
	wantParts(t, "being deleted", text, map[string]bool{headline: false, nothing: false})
}

// TestObservedLoss: under Observe, the controller creates no Deployment in place of the one that is gone, and says so in Ready.
func TestObservedLoss(t *testing.T) {
	const (
		creates   = "The Application has no Deployment, and reconcilePolicy Observe creates none."
		headline  = "observe/web is not ready (Drifted): it waits for you, since reconcilePolicy is Observe.\n"
		unnoticed = "The controller has not noticed."
	)
	loaded := clustertest.Load(t, "observe")
	loaded.Children = slices.DeleteFunc(loaded.Children, func(object child.Object) bool { _, is := object.(*appsv1.Deployment); return is })
	loaded.Pods, loaded.ReplicaSets = nil, nil
	setResource(loaded, child.Deployment.Kind, v1.ResourceDrifted, "It is missing.")
	conditions := &loaded.Application.Status.Conditions
	for i := range *conditions {
		if kind := (*conditions)[i].Type; kind == v1.ConditionReady {
			(*conditions)[i].Status, (*conditions)[i].Reason, (*conditions)[i].Message = metav1.ConditionFalse, v1.ReasonDrifted, creates
		} else if kind == v1.ConditionAvailable {
			(*conditions)[i].Status, (*conditions)[i].Reason, (*conditions)[i].Message = metav1.ConditionFalse, v1.ReasonDeploymentNotFound, "The Application has no Deployment."
		}
	}
	wantParts(t, "why", shown(t, loaded), map[string]bool{
		headline: true, unnoticed: false, "does not show that": false, "doctor": false, "→ Carry it out: kubectl fairlead resume web\n": true,
		"Children differ from the spec, and stay so: reconcilePolicy is Observe. There is no Deployment of the Application, so no pods serve it.\n": true,
	})
	var written strings.Builder
	summary.Of(loaded).Print(screen.Fixed(&written, 400, false), treetest.Now, false)
	wantParts(t, "status", written.String(), map[string]bool{
		": Drifted": true, v1.ReasonDeploymentNotFound: false, creates + "\n": true, unnoticed: false, "  no Deployment; revision 1": true,
		"Image        example.com/web:2, which no pod of the Application runs\n": true,
	})
	meta.SetStatusCondition(conditions, metav1.Condition{Type: v1.ConditionRolledBack, Status: metav1.ConditionTrue, Reason: v1.ReasonRolledBack})
	wantParts(t, "rolled back", shown(t, loaded), map[string]bool{"so Fairlead went back to the last healthy revision": true, "keep what runs": false})
	meta.RemoveStatusCondition(conditions, v1.ConditionRolledBack)
	meta.FindStatusCondition(*conditions, v1.ConditionAvailable).Reason = "MinimumReplicasAvailable"
	wantParts(t, "not noticed", shown(t, loaded), map[string]bool{unnoticed: true, "kubectl fairlead doctor\n": true, headline: false})
}

// TestLostDeploymentPinned: nothing runs at the revision that the spec names.
func TestLostDeploymentPinned(t *testing.T) {
	loaded := clustertest.Load(t, "crash")
	loaded.Application.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(1))}
	ready := meta.FindStatusCondition(loaded.Application.Status.Conditions, v1.ConditionReady)
	ready.Status, ready.Reason = metav1.ConditionTrue, v1.ReasonReady
	meta.RemoveStatusCondition(&loaded.Application.Status.Conditions, v1.ConditionRolledBack)
	const runs, stays = "Revision 1 runs, because", "the pods stay at revision 1"
	text, _ := printed(t, loaded)
	wantParts(t, "pinned", text+strings.Join(summary.Of(loaded).Policies, ""), map[string]bool{runs: true, stays: true})
	remove(loaded, child.Deployment)
	text, _ = printed(t, loaded)
	wantParts(t, "pinned, without", text+strings.Join(summary.Of(loaded).Policies, ""), map[string]bool{
		runs: false, stays: false, "revision 1 is asked for, and does not run yet (spec.rollback.toRevision)": true,
	})
}
