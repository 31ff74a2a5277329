// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestTakenBack: an abort after the Application is gone deletes none.
func TestTakenBack(t *testing.T) {
	a := &adopting{namespace: "shop", name: "web"}
	for _, test := range []struct {
		deletes, restores, dryRun bool
		want                      string
	}{
		{true, true, false, "shop/web: the Application is deleted, and the adoption is taken back; no pod was replaced."},
		{true, true, true, "shop/web: the Application would be deleted, and the adoption would be taken back; no pod would be replaced (dry run)."},
		{false, true, false, "shop/web: the adoption is taken back; no pod was replaced."},
		{true, false, false, "shop/web: the Application is deleted, and nothing was adopted; no pod was replaced."},
	} {
		if got := a.takenBack(test.deletes, test.restores, test.dryRun); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestMayAbort: once the rollout has begun, no deletionPolicy lets --abort go on, so the user reads at once what does.
func TestMayAbort(t *testing.T) {
	const (
		orphan  = `the deletionPolicy of the Application is not Orphan, so its deletion would delete the Deployment too: run kubectl -n shop patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"deletionPolicy":"Orphan"}}', and this command again`
		restore = "the rollout has begun, so taking the adoption back would end new pods; to read which with --dry-run=client, or to do that, " +
			"run kubectl fairlead -n shop eject web --restore"
	)
	for _, test := range []struct {
		name           string
		policy         v1.DeletionPolicy
		paused, isHeld bool
		updated        int32
		unsaved        bool
		want           string
	}{
		{"held", v1.DeletionOrphan, true, true, 0, false, ""},
		{"held, and nothing was saved", v1.DeletionOrphan, true, true, 0, true, ""}, // The next check has the advice about that.
		{"held, and not Orphan", "", true, true, 0, false, orphan},
		{"released", v1.DeletionOrphan, false, false, 2, false, restore},
		{"released, and not Orphan", "", false, false, 2, false, restore},
		{"the Application's own", "", false, false, 2, true, "there is nothing to take back: the Deployment belongs to the Application web, and no Secret web-before-adoption says what it was before"},
		{"released, and a Secret is missing", v1.DeletionOrphan, false, true, 0, false, "spec.paused does not pause rollouts any more, so this one begins as soon as nothing is in its way; " +
			"to take the adoption back nevertheless, run kubectl fairlead -n shop eject web --restore"},
		{"paused in the middle of the rollout, and not Orphan", "", true, true, 1, false, restore},
	} {
		application := &v1.Application{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid"},
			Spec:       v1.ApplicationSpec{AdoptionPolicy: v1.AdoptionConsented, DeletionPolicy: test.policy, Paused: &test.paused},
		}
		deployment := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(application, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))}},
			Spec:       appsv1.DeploymentSpec{Paused: test.isHeld}, Status: appsv1.DeploymentStatus{UpdatedReplicas: test.updated},
		}
		a := &adopting{tool: toolWith(*clientcmdapi.NewConfig(), "shop"), namespace: "shop", name: "web", deployment: deployment}
		if err := a.mayAbort(application, !test.unsaved); (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestMayRollOut: while Fairlead only observes, the release of the pods replaces none.
func TestMayRollOut(t *testing.T) {
	a := &adopting{tool: toolWith(*clientcmdapi.NewConfig(), "shop"), namespace: "shop", name: "web"}
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	if err := a.mayRollOut(application); err != nil {
		t.Error(err)
	}
	application.Spec.ReconcilePolicy = v1.ReconcileObserve
	want := "the reconcilePolicy of the Application is Observe, so no pod would be replaced: let Fairlead change the children again, " +
		"which replaces no pod while rollouts are paused, then run the command again: " +
		`kubectl -n shop patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"reconcilePolicy":"Enforce"}}'`
	if err := a.mayRollOut(application); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
