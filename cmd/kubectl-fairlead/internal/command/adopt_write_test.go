// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
	"fairlead.dev/fairlead/pkg/plan"
)

// TestAwaitWaitsForARollout: the consent itself begins a generation of the Deployment, so the controller may see a rollout
// in progress at first. That is no answer yet.
func TestAwaitWaitsForARollout(t *testing.T) {
	answers := []metav1.Condition{
		{Type: v1.ConditionAdopted, Reason: v1.ReasonAwaitingConsent},
		{Type: v1.ConditionAdopted, Reason: v1.ReasonAdopting, Message: "Deployment web is not adopted yet: " + plan.RolloutInProgress + "."},
		{Type: v1.ConditionAdopted, Reason: v1.ReasonPodsHeld},
	}
	fairlead := fake.NewClientset()
	fairlead.PrependReactor("get", "applications", func(clienttesting.Action) (bool, runtime.Object, error) {
		next := answers[0]
		answers = answers[1:]
		return true, &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "uid"}, Status: v1.ApplicationStatus{Conditions: []metav1.Condition{next}}}, nil
	})
	kube := kubefake.NewClientset(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web", Annotations: map[string]string{v1.AnnotationAdoptableBy: "uid"},
		Labels: map[string]string{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: "web"},
	}})
	adopting := adopting{clients: &cluster.Clients{Kube: kube, Fairlead: fairlead}, namespace: "shop", name: "web"}
	_, condition, err := adopting.await(t.Context(), func(reason string) bool { return reason != v1.ReasonAwaitingConsent })
	if err != nil || condition.Reason != v1.ReasonPodsHeld {
		t.Errorf("it waited until %s, %v; want %s", condition.Reason, err, v1.ReasonPodsHeld)
	}
}
