// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestAdoptionTakenBack previews an adoption with reconcilePolicy Observe, adopts, and takes that back while the rollout is
// paused: it deletes the Application, which leaves the Deployment behind, and restores its spec. No pod is replaced.
func TestAdoptionTakenBack(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.create(running)
	e.waitRunning()
	before := get[appsv1.Deployment](e, "web")
	pods := e.podsOf(oldLabels)
	cursor := e.cluster.AuditCursor(t)

	e.apply(adopter + "  reconcilePolicy: Observe\n")
	uid := e.waitObserved("web").UID
	e.consentTo(child.Service, "web", uid)
	e.consentTo(child.Deployment, "web", uid)
	preview := e.waitApplication("web", "reports what the adoption would change", func(application *v1.Application) bool {
		return application.Status.Adoption != nil && application.Status.Adoption.PodsToReplace == 2
	})
	if fields := preview.Status.Adoption.PodFields; !slices.Contains(fields, ".spec.template.spec.enableServiceLinks") {
		t.Errorf("status.adoption.podFields has %q", fields)
	}
	for _, kind := range []child.Kind{child.Deployment, child.Service} {
		e.checkUntouched(cursor, kind, "web")
	}

	e.apply(adopter + "  reconcilePolicy: Enforce\n")
	e.waitCondition("web", v1.ConditionAdopted, metav1.ConditionFalse, v1.ReasonPodsHeld)
	held := e.waitCondition("web", v1.ConditionAvailable, metav1.ConditionTrue, "")
	if resourceStatus(held, child.NetworkPolicy, "web").State != v1.ResourcePending || e.live(child.NetworkPolicy, "web") != nil {
		t.Error("the NetworkPolicy parts new pods from old ones")
	}

	remove[v1.Application](e, "web")
	waitGone[v1.Application](e, "web")
	if left := get[appsv1.Deployment](e, "web"); len(left.OwnerReferences) > 0 || left.UID != before.UID {
		t.Errorf("the Deployment left behind is %+v", left.ObjectMeta)
	}
	edit(e, "web", func(deployment *appsv1.Deployment) {
		deployment.Spec = before.Spec
	})
	e.eventually("the Deployment controller observed the template of before", func() (bool, string) {
		status := get[appsv1.Deployment](e, "web").Status
		return status.ObservedGeneration == get[appsv1.Deployment](e, "web").Generation && status.UpdatedReplicas == 2, fmt.Sprintf("%+v", status)
	})
	if diff := cmp.Diff(pods, e.podsOf(oldLabels)); diff != "" {
		t.Errorf("pods were replaced:\n%s", diff)
	}
	e.wantPods(cursor, "from the Application to its end", 0, 0)
	if after := get[appsv1.Deployment](e, "web"); cmp.Diff(before.Spec, after.Spec) != "" {
		t.Errorf("the Deployment is not as before (-before +after):\n%s", cmp.Diff(before.Spec, after.Spec))
	}
}
