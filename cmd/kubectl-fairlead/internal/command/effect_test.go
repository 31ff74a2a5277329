// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

// TestEffectOfStopping: Kubernetes goes on with a rollout, whatever reconcilePolicy says, and also after an ejection.
func TestEffectOfStopping(t *testing.T) {
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid"}}
	owner := []metav1.OwnerReference{*metav1.NewControllerRef(application, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))}
	now := metav1.Now()
	const stopped, ejected = "Until it is resumed, no pod is replaced.", "No pod is replaced."
	const goesOn = " The rollout that has begun goes on: Kubernetes replaces "
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   string // "" if no rollout goes on.
	}{
		"in the middle":    {func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 1 }, goesOn + "the other 3 pods, as new ones become ready."},
		"near the end":     {func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 3 }, goesOn + "the other pod, once a new one is ready."},
		"at the beginning": {func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 0 }, goesOn + "all 4 pods, as new ones become ready."},
		"of one pod":       {func(d *appsv1.Deployment) { d.Status.Replicas, d.Status.UpdatedReplicas = 1, 0 }, goesOn + "the pod, once a new one is ready."},
		"recreates": {func(d *appsv1.Deployment) {
			d.Status.UpdatedReplicas, d.Spec.Strategy.Type = 0, appsv1.RecreateDeploymentStrategyType
		}, goesOn + "all 4 pods."},
		"not observed":  {func(d *appsv1.Deployment) { d.Generation++ }, " A rollout that has begun goes on."},
		"none":          {func(*appsv1.Deployment) {}, ""},
		"paused":        {func(d *appsv1.Deployment) { d.Status.UpdatedReplicas, d.Spec.Paused = 1, true }, ""},
		"without pods":  {func(d *appsv1.Deployment) { d.Status.UpdatedReplicas, d.Spec.Replicas = 1, new(int32(0)) }, ""},
		"being deleted": {func(d *appsv1.Deployment) { d.Status.UpdatedReplicas, d.DeletionTimestamp = 1, &now }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 2, OwnerReferences: owner, Finalizers: []string{"example.com/hold"}}}
			deployment.Spec.Replicas = new(int32(3))
			deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 4, UpdatedReplicas: 4}
			test.change(deployment)
			for _, policy := range []v1.ReconcilePolicy{v1.ReconcileObserve, v1.ReconcileSuspend} {
				edited := application.DeepCopy()
				edited.Spec.ReconcilePolicy = policy
				want := stopped
				if test.want != "" {
					want = "Until it is resumed, Fairlead replaces no pod." + test.want
				}
				got, err := (&editing{}).summary(t.Context(), &cluster.Clients{Kube: kubefake.NewClientset(deployment)}, application, edited)
				if err != nil || got.summary != want {
					t.Errorf("%s: %q, %v, want %q", policy, got.summary, err, want)
				}
			}
			object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(deployment)
			if err != nil {
				t.Fatal(err)
			}
			want := ejected
			if test.want != "" {
				want = "The ejection replaces no pod." + test.want
			}
			if got := replacesNone([]left{{&unstructured.Unstructured{Object: object}, child.Deployment}}); got != want {
				t.Errorf("eject: %q, want %q", got, want)
			}
		})
	}
}

// TestEffectOfStoppingUnread: a user without permission to read the Deployment reads that a rollout may go on. That of another owner is not
// the Application's.
func TestEffectOfStoppingUnread(t *testing.T) {
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid"}, Spec: v1.ApplicationSpec{ReconcilePolicy: v1.ReconcileSuspend}}
	foreign := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Status: appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 1}}
	for want, refused := range map[string]error{
		"Until it is resumed, no pod is replaced.":                                         nil,
		"Until it is resumed, Fairlead replaces no pod. A rollout that has begun goes on.": apierrors.NewForbidden(appsv1.Resource("deployments"), "web", errors.New("no")),
	} {
		client := kubefake.NewClientset(foreign)
		if refused != nil {
			client.PrependReactor("get", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refused })
		}
		if got, err := (&editing{}).summary(t.Context(), &cluster.Clients{Kube: client}, application, application); err != nil || got.summary != want {
			t.Errorf("%q, %v, want %q", got.summary, err, want)
		}
	}
}

// TestEffectWhileDeploymentTerminates: Kubernetes carries out no change of a Deployment that is being deleted.
func TestEffectWhileDeploymentTerminates(t *testing.T) {
	const noEffect = ". The edit has no effect before it is gone. Then Fairlead creates it again."
	now := metav1.Now()
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   string
	}{
		"a finalizer": {
			func(d *appsv1.Deployment) {
				d.DeletionTimestamp, d.Finalizers = &now, []string{"example.com/hold", "example.com/other"}
			},
			"The Deployment is being deleted, and waits for its finalizers: example.com/hold, example.com/other" + noEffect,
		},
		"no finalizer":  {func(d *appsv1.Deployment) { d.DeletionTimestamp = &now }, "The Deployment is being deleted" + noEffect},
		"not deleted":   {func(d *appsv1.Deployment) { d.Finalizers = []string{"example.com/hold"} }, ""},
		"another owner": {func(d *appsv1.Deployment) { d.DeletionTimestamp, d.OwnerReferences = &now, nil }, ""},
	} {
		loaded := clustertest.Load(t, "healthy")
		test.change(child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, loaded.Application.Name))
		if got := awaitsDeletion(loaded); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestWhileRefused: a quota refuses the pods of a rollout. Fewer pods make room for them, so the rollout goes on.
func TestWhileRefused(t *testing.T) {
	const room = " At present the API server refuses pods of the rollout that has begun: it goes on if that makes room for them."
	for _, test := range []struct {
		pods    preview.Pods
		updated int32
		want    string
	}{
		{preview.Pods{Live: 3, Before: new(int32(3)), After: new(int32(2))}, 0, room},
		{preview.Pods{Live: 3, Before: new(int32(3)), After: new(int32(2))}, 3, ""},
		{preview.Pods{Live: 3, Before: new(int32(3)), After: new(int32(4))}, 0, " The new ones do not start, because the API server refuses pods at present: see kubectl fairlead why web"},
		{preview.Pods{Live: 3, Replaced: true, Kept: 3}, 0, ""},
		{preview.Pods{Live: 4, Replaced: true, Kept: 3, After: new(int32(3))}, 1, ""},
		{preview.Pods{Live: 3, Before: new(int32(3)), After: new(int32(0))}, 0, ""},
		{preview.Pods{Live: 3}, 0, ""},
		{preview.Pods{Live: 3, Replaced: true}, 0, " At present the API server refuses pods: see kubectl fairlead why web"},
	} {
		if said := whileRefused(preview.Difference{Pods: test.pods}, pods(3, test.updated), "kubectl fairlead why web"); said != test.want {
			t.Errorf("%+v, %d updated: %q, want %q", test.pods, test.updated, said, test.want)
		}
	}
}

// TestWhileWaiting: the effect of an edit is its own, and not that of an earlier one that waits.
func TestWhileWaiting(t *testing.T) {
	const missing = "Secret db does not exist; running pods stay as they are, and new ones that need it wait."
	image := []preview.Change{{Path: ".spec.template.spec.containers[web].image"}}
	waiting := preview.Difference{Pods: preview.Pods{Live: 2, Replaced: true, Because: image}}
	withheld := preview.Difference{Pods: waiting.Pods, Children: []preview.Child{{Kind: "ServiceAccount", Name: "web", Action: preview.Blocked, Reason: "ServiceAccount web exists"}}}
	grows := preview.Difference{Pods: preview.Pods{Live: 2, Before: new(int32(2)), After: new(int32(3))}}
	for _, test := range []struct {
		d         preview.Difference
		missing   string
		isEarlier bool
		want      string
	}{
		{waiting, missing, true, "No pod is replaced. The earlier change of the pods (containers[web].image) goes on waiting: " + missing},
		{waiting, missing, false, "All 2 pods are replaced, because of containers[web].image. That waits: " + missing},
		{waiting, "", true, ""}, // Nobody knows what it waits for, and the edit may end that.
		{withheld, "", true, "No pod changes. The earlier change of the pods (containers[web].image) goes on waiting. ServiceAccount web exists."},
		{withheld, "", false, ""},
		{grows, missing, false, "No pod is replaced; the desired number of pods goes from 2 to 3. " + missing},
		{grows, "", false, ""},
	} {
		if got := whileWaiting(test.d, test.missing, test.isEarlier); got != test.want {
			t.Errorf("%+v: %q, want %q", test, got, test.want)
		}
	}
}
