// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestObservedWithAFault says that no change takes effect before the observation ends, and does not end a pause with it.
func TestObservedWithAFault(t *testing.T) {
	loaded := clustertest.Load(t, "image")
	loaded.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
	const want = "A change takes effect only once reconcilePolicy is no longer Observe: kubectl patch "
	if findings := why.Explain(loaded).Findings; len(findings) == 0 || !strings.HasPrefix(findings[0].Next[len(findings[0].Next)-1], want) {
		t.Errorf("%+v", findings)
	}
}

// TestObservedWithoutADeployment waits for the user, not for the controller.
func TestObservedWithoutADeployment(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	loaded.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
	meta.SetStatusCondition(&loaded.Application.Status.Conditions, metav1.Condition{
		Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonDrifted, Message: "The Application has no Deployment, and reconcilePolicy Observe creates none.",
	})
	meta.SetStatusCondition(&loaded.Application.Status.Conditions, metav1.Condition{Type: v1.ConditionDrifted, Status: metav1.ConditionTrue, Reason: v1.ReasonDrifted})
	if got := why.Explain(loaded).Headline; !strings.HasSuffix(got, " is not ready (Drifted): it waits for you, since reconcilePolicy is Observe.") {
		t.Error(got)
	}
}

// TestSuspendedWithAnOldFault leaves out what status showed before, unless the live pods still show it.
func TestSuspendedWithAnOldFault(t *testing.T) {
	for scene, others := range map[string]int{"conflict": 0, "image": 1} {
		loaded := clustertest.Load(t, scene)
		loaded.Application.Spec.ReconcilePolicy = v1.ReconcileSuspend
		answer := why.Explain(loaded)
		if len(answer.Findings) != 1+others || answer.Findings[0].Reason != v1.ReasonSuspended || !strings.HasSuffix(answer.Headline, " is suspended.") {
			t.Errorf("%s: %+v", scene, answer)
		}
	}
}

// TestFaultsWhileSuspended: the controller writes no status, so the live objects alone show that nothing serves. No change of the spec has
// an effect.
func TestFaultsWhileSuspended(t *testing.T) {
	loaded := clustertest.Load(t, "crash")
	loaded.Application.Spec.ReconcilePolicy, loaded.Application.Status.Problems = v1.ReconcileSuspend, nil
	for _, pod := range loaded.Pods[:2] {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
		status := &pod.Status.ContainerStatuses[0]
		status.Ready, status.State = false, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}
	}
	lose := func(kind child.Kind) {
		loaded.Children = slices.DeleteFunc(loaded.Children, func(object child.Object) bool { return object.GetObjectKind().GroupVersionKind().Kind == kind.Kind })
	}
	lose(child.Service)
	name := loaded.Application.Name
	golden.Screens(t, "suspended", func(to *screen.Screen) { why.Explain(loaded).Print(to, treetest.Now) })
	answer := why.Explain(loaded)
	wantParts(t, "of the spec", shown(t, loaded), map[string]bool{
		"crash/" + name + " is suspended.\n": true, "set image": false, "undo": false, "spec.resources": false,
	})
	var whats []string
	for _, finding := range answer.Findings {
		whats = append(whats, finding.What)
	}
	want := []string{
		"Fairlead does nothing, because spec.reconcilePolicy is Suspend: status shows the state before that.",
		"2 of 3 pods do not serve: CrashLoopBackOff.",
		"Service " + name + " does not exist any more, and Fairlead does not create it before the suspension ends.",
	}
	if !slices.Equal(whats, want) {
		t.Errorf("%q, want %q", whats, want)
	}
	loaded.Application.Spec.Paused = new(true)
	wantParts(t, "paused", shown(t, loaded), map[string]bool{
		"→ Create it again by hand, or end the suspension, after which Fairlead creates what the spec asks for: kubectl patch ": true,
	})
	lose(child.ServiceAccount)
	wantParts(t, "two children", shown(t, loaded), map[string]bool{
		"ServiceAccount " + name + " and Service " + name + " do not exist any more, and Fairlead does not create them before the suspension ends.\n": true,
	})
	for i, pod := range loaded.Pods {
		pod.Status.Phase = corev1.PodFailed
		if i == 0 {
			wantParts(t, "one pod", shown(t, loaded), map[string]bool{"1 of 2 pods does not serve: CrashLoopBackOff.\n": true})
		}
	}
	forbidden := errors.New("forbidden")
	loaded.Unreadable = map[string]error{child.Service.Resource: forbidden, child.ServiceAccount.Resource: forbidden}
	if answer := why.Explain(loaded); len(answer.Findings) != 1 {
		t.Errorf("pods that ended, and children that the user may not list: %+v", answer.Findings)
	}
}

// TestSuspendedWithoutADeployment does not let the user wait for what nothing creates.
func TestSuspendedWithoutADeployment(t *testing.T) {
	const (
		suspended = "Fairlead does nothing, because spec.reconcilePolicy is Suspend: status shows the state before that."
		no        = " There is no Deployment of the Application, so it has no pods, and Fairlead creates none before the suspension ends."
	)
	loaded := clustertest.Load(t, "healthy")
	loaded.Application.Spec.ReconcilePolicy = v1.ReconcileSuspend
	wantParts(t, "with a Deployment", shown(t, loaded), map[string]bool{suspended + "\n": true})
	remove(loaded, child.Deployment)
	wantParts(t, "without one", shown(t, loaded), map[string]bool{suspended + no + "\n": true})
}

// TestSuspendedWithAPause: resume would end the pause too, and replace the pods for which it waits. The end of the suspension alone does not.
func TestSuspendedWithAPause(t *testing.T) {
	const (
		enforce  = "   → Let Fairlead change the children again, which replaces no pod while rollouts are paused: kubectl patch applications.apps.fairlead.dev web --type=merge --patch '{\"spec\":{\"reconcilePolicy\":\"Enforce\"}}'\n"
		see      = "   → See what the end of the %s would do to the pods: kubectl fairlead resume web --dry-run=client\n"
		goOn     = "   → Go on: kubectl fairlead resume web\n"
		rollouts = "   → Let rollouts go on: kubectl fairlead resume web\n"
		release  = "   → Then replace the pods: kubectl fairlead adopt web --rollout\n   → Or take the adoption back: kubectl fairlead adopt web --abort\n"
		status   = "status shows the state before that.\n   - Application/web spec.reconcilePolicy: Suspend\n"
	)
	plain := func(t *testing.T) *cluster.Loaded {
		t.Helper()
		loaded := clustertest.Load(t, "paused")
		loaded.Application.Spec.Paused = nil
		return loaded
	}
	paused := func(t *testing.T) *cluster.Loaded { t.Helper(); return clustertest.Load(t, "paused") }
	held := func(t *testing.T) *cluster.Loaded { t.Helper(); return adopting(t, v1.ReasonPodsHeld) }
	consented := func(t *testing.T) *cluster.Loaded {
		t.Helper()
		loaded := adopting(t, v1.ReasonAwaitingConsent)
		childOf(t, loaded, child.Deployment.Kind).SetOwnerReferences(nil)
		return loaded
	}
	for name, test := range map[string]struct {
		load func(*testing.T) *cluster.Loaded
		want string
	}{
		"no pause":            {plain, status + fmt.Sprintf(see, "suspension") + goOn},
		"a pause":             {paused, status + enforce + fmt.Sprintf(see, "pause") + rollouts},
		"pods of an adoption": {held, status + enforce + release},
		"before the adoption": {consented, "   - Application/web spec.reconcilePolicy: Suspend\n" + enforce},
	} {
		t.Run(name, func(t *testing.T) {
			loaded := test.load(t)
			loaded.Application.Spec.ReconcilePolicy = v1.ReconcileSuspend
			resumes := strings.Contains(test.want, "fairlead resume")
			wantParts(t, name, shown(t, loaded), map[string]bool{test.want: true, "kubectl fairlead resume web": resumes})
		})
	}
}
