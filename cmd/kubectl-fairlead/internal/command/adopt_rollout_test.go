// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/plan"
)

const (
	rolloutPaused = "a rollout of the Deployment web is paused, and no Application adopts it before the rollout is complete. " +
		"Let its rollout go on, which replaces pods: kubectl -n shop rollout resume deployment/web. Then run the command again"
	rolloutStuck = "a rollout of the Deployment web does not advance, and no Application adopts it before the rollout is complete. " +
		"Correct the pod template of the Deployment, or return to the one before: kubectl -n shop rollout undo deployment/web. Then run the command again"
)

// rollingOut is the Deployment web, with so many pods of its template.
func rollingOut(paused bool, replicas, updated int32, progressing string) *appsv1.Deployment {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	deployment.Spec.Paused = paused
	deployment.Status = appsv1.DeploymentStatus{Replicas: replicas, UpdatedReplicas: updated, Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentProgressing, Reason: progressing},
	}}
	return deployment
}

// consentedTo is the Deployment after the consent of a user.
func consentedTo(deployment *appsv1.Deployment) *appsv1.Deployment {
	deployment.Annotations = map[string]string{v1.AnnotationAdoptableBy: "uid"}
	deployment.Labels = map[string]string{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: "web"}
	return deployment
}

// TestRolloutBeforeAdoption: the controller adopts no Deployment before its rollout is complete. What needs the user for that is said before
// anything is written.
func TestRolloutBeforeAdoption(t *testing.T) {
	observing := rollingOut(true, 2, 0, "")
	observing.Generation = 1
	for name, test := range map[string]struct {
		deployment      *appsv1.Deployment
		refused, before string
	}{
		"complete":     {rollingOut(false, 2, 2, "NewReplicaSetAvailable"), "", ""},
		"in progress":  {rollingOut(false, 3, 1, "ReplicaSetUpdated"), "", "  ! A rollout of the Deployment is in progress. The Application adopts it once that is complete.\n"},
		"paused":       {rollingOut(true, 2, 0, "DeploymentPaused"), rolloutPaused, ""},
		"stuck":        {rollingOut(false, 3, 1, health.ReasonTimedOut), rolloutStuck, ""},
		"paused later": {consentedTo(rollingOut(true, 2, 0, "DeploymentPaused")), rolloutPaused + ", or take all of it back with --abort", ""},
		"paused, but nothing to roll out": {
			rollingOut(true, 2, 2, "DeploymentPaused"), "", "  ! The Deployment is paused, as by kubectl rollout pause. --rollout ends that pause.\n",
		},
		"not observed yet": {observing, "", "  ! The Deployment is paused, as by kubectl rollout pause. --rollout ends that pause.\n"},
	} {
		var out bytes.Buffer
		tool := toolWith(*clientcmdapi.NewConfig(), "shop")
		tool.Out = &out
		a := &adopting{tool: tool, namespace: "shop", name: "web", deployment: test.deployment}
		if err := a.checkRollout(test.deployment); (err == nil) != (test.refused == "") || err != nil && err.Error() != test.refused {
			t.Errorf("%s: %v, want %q", name, err, test.refused)
		}
		a.announceRolloutBefore()
		if out.String() != test.before {
			t.Errorf("%s: %q, want %q", name, out.String(), test.before)
		}
	}
}

// TestExistingWaitsForARollout: another run does not wait for what an earlier one could not have.
func TestExistingWaitsForARollout(t *testing.T) {
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid"}, Spec: v1.ApplicationSpec{AdoptionPolicy: v1.AdoptionConsented}}
	deployment := consentedTo(rollingOut(false, 3, 1, health.ReasonTimedOut))
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	deployment.Spec.Template.Labels = deployment.Spec.Selector.MatchLabels
	for _, dryRun := range []cmdutil.DryRunStrategy{cmdutil.DryRunNone, cmdutil.DryRunClient} {
		tool := toolWith(*clientcmdapi.NewConfig(), "shop")
		a := &adopting{
			tool: tool, clients: &cluster.Clients{Kube: kubefake.NewClientset(deployment), Fairlead: fake.NewClientset(application)},
			namespace: "shop", name: "web", editing: editing{tool: tool, dryRun: dryRun},
		}
		const want = rolloutStuck + ", or take all of it back with --abort"
		if err := a.run(t.Context()); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestAwaitSaysWhatItWaitsFor: while a rollout is in progress, Ready says only that nothing is adopted. Once the rollout is paused, the wait
// ends.
func TestAwaitSaysWhatItWaitsFor(t *testing.T) {
	waits := "Deployment web is not adopted yet: " + plan.RolloutInProgress + "."
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid"}}
	application.Status.Conditions = []metav1.Condition{
		{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonDrifted, Message: "The Deployment is not adopted, and reconcilePolicy Observe adopts none."},
		{Type: v1.ConditionAdopted, Status: metav1.ConditionFalse, Reason: v1.ReasonAdopting, Message: waits},
	}
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		said, want string
	}{
		"in progress": {
			rollingOut(false, 3, 1, "ReplicaSetUpdated"),
			"  Waiting up to 1m0s for the controller to adopt the Deployment. If no controller runs, start it: 'kubectl fairlead doctor' looks for one.\n" +
				"  Still waiting. The Application says: " + waits + "\n",
			"the controller did not adopt the Deployment within 1m0s: see 'kubectl fairlead -n shop why web', run the command again, or take all of it back with --abort",
		},
		"paused": {rollingOut(true, 3, 1, "DeploymentPaused"), "", rolloutPaused + ", or take all of it back with --abort"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			tool := toolWith(*clientcmdapi.NewConfig(), "shop")
			tool.Out = &out
			a := &adopting{
				tool: tool, clients: &cluster.Clients{Kube: kubefake.NewClientset(consentedTo(test.deployment)), Fairlead: fake.NewClientset(application)}, namespace: "shop", name: "web",
			}
			_, _, err := a.await(t.Context(), func(string) bool { return true })
			if err == nil || err.Error() != test.want || out.String() != test.said {
				t.Errorf("%s: %v and %q, want %s and %q", name, err, out.String(), test.want, test.said)
			}
		})
	}
}
