// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestRefusedSpecRepairsNothing: the last good children stay, but Fairlead does not look after them.
func TestRefusedSpecRepairsNothing(t *testing.T) {
	const (
		refused = "The spec is not carried out: it exceeds a limit of its class. No child was changed. Until the spec is accepted, Fairlead does not repair or recreate a child either."
		no      = " There is no Deployment of the Application, so it has no pods, and none start before that."
	)
	loaded := clustertest.Load(t, "paused")
	loaded.Application.Spec.Paused, loaded.Application.Status.Conditions = nil, loaded.Application.Status.Conditions[:1]
	meta.FindStatusCondition(loaded.Application.Status.Conditions, v1.ConditionReady).Reason = v1.ReasonClassLimitExceeded
	wantParts(t, "with a Deployment", shown(t, loaded), map[string]bool{refused + "\n": true, no: false})
	deployment := childOf(t, loaded, child.Deployment.Kind)
	owners := deployment.GetOwnerReferences()
	deployment.SetOwnerReferences(nil)
	wantParts(t, "one that was left behind", shown(t, loaded), map[string]bool{
		refused + " Deployment web is not the Application's, and Fairlead leaves it and its pods as they are.\n": true, no: false,
	})
	deployment.SetOwnerReferences(owners)
	remove(loaded, child.Deployment)
	wantParts(t, "without a Deployment", shown(t, loaded), map[string]bool{refused + no + "\n": true})
	loaded.Unreadable[child.Deployment.Resource] = errors.New("forbidden")
	wantParts(t, "unknown", shown(t, loaded), map[string]bool{refused + "\n": true, no: false})
}

// TestHeldRoute: the Application that goes on serving a host name is named with the command that ends it.
func TestHeldRoute(t *testing.T) {
	const (
		elsewhere = "Use another host name or path, or remove it from the Application that has it."
		otherHost = "Use another host name, or remove it from the Application that has it."
	)
	loaded := clustertest.Load(t, "paused")
	loaded.Application.Spec.Paused, loaded.Application.Status.Conditions = nil, loaded.Application.Status.Conditions[:1]
	ready := meta.FindStatusCondition(loaded.Application.Status.Conditions, v1.ConditionReady)
	ready.Reason = v1.ReasonRouteConflict
	ready.Message = `spec.routes[0].hostnames[0]: Invalid value: "web.example.com": Application shop/front gave it up, ` +
		`but its reconcilePolicy keeps it: resume that Application, or choose another host name or path`
	wantParts(t, "given up", shown(t, loaded), map[string]bool{
		"→ Let Fairlead go on with Application front, so that it gives the host name up: kubectl fairlead resume front\n": true,
		"→ Or use another host name or path.\n": true, elsewhere: false,
	})
	const (
		owned   = `spec.routes[0].hostnames[0]: Invalid value: "web.example.com": belongs to Application shop/front: choose another host name or path`
		whole   = `spec.routes[0].hostnames[0]: Invalid value: "web.example.com": belongs to Application other/front of another namespace, with all its paths: choose another host name`
		overlap = `spec.routes[0].hostnames[0]: Invalid value: "web.example.com": overlaps with *.example.com of Application other/front: choose another host name`
	)
	const share = "→ Or ask the platform team to share the host name, so that each namespace has other paths of it: limits.sharedHostnames in the classes of both.\n"
	for name, test := range map[string]struct {
		message, step, not string
		shares             bool
	}{
		"owned in the namespace":       {owned, elsewhere, otherHost, false},
		"owned in another namespace":   {whole, otherHost, elsewhere, true},
		"overlaps":                     {overlap, otherHost, elsewhere, false},
		"one of each":                  {"[" + whole + ", " + owned + "]", elsewhere, otherHost, true},
		"perhaps served, but not seen": {`spec.routes[0].hostnames[0]: Invalid value: "web.example.com": the controller cannot list HTTPRoutes`, elsewhere, otherHost, false},
	} {
		ready.Message = test.message
		wantParts(t, name, shown(t, loaded), map[string]bool{test.step: true, test.not: false, share: test.shares, "kubectl fairlead resume": false})
	}
}

// TestPauseBeforeTheDeployment: while a child is in conflict and there is no Deployment, the way out needs the pause, so why does not advise
// to end it.
func TestPauseBeforeTheDeployment(t *testing.T) {
	const resume = "kubectl fairlead resume"
	loaded := clustertest.Load(t, "paused")
	text, _ := printed(t, loaded)
	wantParts(t, "paused", text, map[string]bool{resume: true})
	meta.FindStatusCondition(loaded.Application.Status.Conditions, v1.ConditionReady).Reason = v1.ReasonConflict
	for i := range loaded.Application.Status.Resources {
		if resource := &loaded.Application.Status.Resources[i]; resource.Kind == child.Deployment.Kind {
			resource.State = v1.ResourcePending
		}
	}
	remove(loaded, child.Deployment)
	text, _ = printed(t, loaded)
	wantParts(t, "in conflict", text, map[string]bool{resume: false})
}

// TestPauseIsOfTheSpec: the condition Paused may be about an earlier spec.
func TestPauseIsOfTheSpec(t *testing.T) {
	const stay = "The controller has not observed the present spec. Until it does, rollouts stay paused.\n"
	parts := func(paused bool) map[string]bool {
		return map[string]bool{stay: !paused, "spec.paused": paused, "kubectl fairlead resume web\n": paused}
	}
	loaded := clustertest.Load(t, "paused")
	wantParts(t, "paused", shown(t, loaded), parts(true))
	loaded.Application.Generation++
	wantParts(t, "another edit", shown(t, loaded), parts(true))
	loaded.Application.Spec.Paused = nil
	wantParts(t, "resumed", shown(t, loaded), parts(false))
}

// TestIdlePauseComesLast: a pause for which nothing waits is not why the Application is not ready.
func TestIdlePauseComesLast(t *testing.T) {
	const (
		cause = "1. Clients outside of the cluster do not reach the application by all its routes.\n"
		pause = "2. Rollouts are paused: a change of the pods waits.\n"
		waits = "1. A rollout waits, because rollouts are paused.\n"
	)
	loaded := clustertest.Load(t, "paused")
	conditions := &loaded.Application.Status.Conditions
	meta.SetStatusCondition(conditions, metav1.Condition{Type: v1.ConditionRoutesReady, Status: metav1.ConditionFalse, Reason: v1.ReasonAPINotServed})
	wantParts(t, "a rollout waits", shown(t, loaded), map[string]bool{waits: true, pause: false})
	meta.FindStatusCondition(*conditions, v1.ConditionReady).Reason = v1.ReasonAPINotServed
	wantParts(t, "nothing waits", shown(t, loaded), map[string]bool{cause: true, pause: true})
}
