// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/plan"
)

// The world of the tests: an Application web of 3 pods at generation 7, whose Deployment runs.

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const (
	applicationUID = types.UID("application-uid")
	deploymentUID  = types.UID("deployment-uid")
	serviceUID     = types.UID("service-uid")
)

func newApplication() *v1.Application {
	return &v1.Application{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps.fairlead.dev/v1", Kind: "Application"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", UID: applicationUID, Generation: 7,
		},
		Spec:   v1.ApplicationSpec{Image: "web:2", Replicas: new(int32(3)), ReconcilePolicy: v1.ReconcileEnforce},
		Status: v1.ApplicationStatus{ObservedGeneration: -1},
	}
}

func ref(kind child.Kind, name string) child.Ref {
	return child.Ref{Kind: kind, Namespace: "shop", Name: name}
}

func controllerRef(kind, name string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "v1", Kind: kind, Name: name, UID: uid, Controller: new(true)}}
}

func ownedMeta(name string, uid types.UID) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: "shop", Name: name, UID: uid, ResourceVersion: "100", Generation: 4,
		OwnerReferences: controllerRef("Application", "web", applicationUID),
	}
}

// newDeployment is rolled out: 3 pods of the current revision, available.
func newDeployment() *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: ownedMeta("web", deploymentUID),
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(3)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
				{Name: "web", Image: "web:2"}, {Name: "proxy", Image: "proxy:1"},
			}}},
		},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 4,
			Replicas:           3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable", Message: "Deployment has minimum availability."},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable", Message: `ReplicaSet "web-1" has successfully progressed.`},
			},
		},
	}
}

// counts sets the numbers of pods.
func counts(d *appsv1.Deployment, all, updated, available int32) {
	d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = all, updated, available, available
}

// says sets a condition of the Deployment.
func says(d *appsv1.Deployment, kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) {
	condition := appsv1.DeploymentCondition{Type: kind, Status: status, Reason: reason, Message: message}
	for i := range d.Status.Conditions {
		if d.Status.Conditions[i].Type == kind {
			d.Status.Conditions[i] = condition
			return
		}
	}
	d.Status.Conditions = append(d.Status.Conditions, condition)
}

func rollingOut(d *appsv1.Deployment) {
	counts(d, 4, 2, 2)
	says(d, appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", `ReplicaSet "web-2" is progressing.`)
}

func timedOut(d *appsv1.Deployment) {
	counts(d, 4, 1, 3)
	says(d, appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded", `ReplicaSet "web-2" has timed out progressing.`)
}

func newService() *corev1.Service { return &corev1.Service{ObjectMeta: ownedMeta("web", serviceUID)} }

func newIngress(name string, address bool) *networkingv1.Ingress {
	ingress := &networkingv1.Ingress{ObjectMeta: ownedMeta(name, types.UID(name+"-uid"))}
	if address {
		ingress.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
	}
	return ingress
}

// rendered stands for what was rendered; the status reads of it no more than spec.replicas.
func rendered(kind child.Kind, name string) *child.Desired {
	desired, err := child.NewDesired(kind, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": kind.GroupVersionKind().GroupVersion().String(), "kind": kind.Kind,
		"metadata": map[string]any{"namespace": "shop", "name": name},
		"spec":     map[string]any{"replicas": int64(3)},
	}})
	if err != nil {
		panic(err)
	}
	return &desired
}

// result is one of the plan, not failed; live may be nil.
func result(action plan.Action, kind child.Kind, name string, live child.Object) plan.Result {
	r := plan.Result{Step: plan.Step{Action: action, Ref: ref(kind, name), Live: live}}
	if action != plan.Delete {
		r.Desired = rendered(kind, name)
	}
	if live != nil {
		r.UID = live.GetUID()
	}
	return r
}

func failedWith(r plan.Result, err error) plan.Result {
	r.Err = err
	return r
}

// settled is an Input at rest: the Deployment and a Service, both as rendered.
func settled() Input {
	deployment, service := newDeployment(), newService()
	return Input{
		Snapshot: child.Snapshot{
			Application: newApplication(),
			Children: map[child.Ref]child.Object{
				ref(child.Deployment, "web"): deployment,
				ref(child.Service, "web"):    service,
			},
		},
		Results: []plan.Result{
			result(plan.Keep, child.Deployment, "web", deployment),
			result(plan.Keep, child.Service, "web", service),
		},
	}
}

// with changes an Input at rest. The functions take its Deployment, too, which is shared by
// Snapshot and Results.
func with(changes ...func(*Input, *appsv1.Deployment)) Input {
	in := settled()
	deployment := in.Results[0].Live.(*appsv1.Deployment)
	for _, change := range changes {
		change(&in, deployment)
	}
	return in
}

// takenBack makes an earlier revision run again.
func takenBack(in *Input, _ *appsv1.Deployment) {
	in.Revision = v1.RevisionStatus{Current: 1, LastHealthy: 1, RolledBackFrom: 2}
	in.RolledBack = &metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonRolledBack, Message: "Revision 2 (web:2) failed. Revision 1 (web:1) runs instead."}
}

// replace replaces the result of the Service.
func replace(r plan.Result) func(*Input, *appsv1.Deployment) {
	return func(in *Input, _ *appsv1.Deployment) { in.Results[1] = r }
}

// compute is Compute for the health that the snapshot shows. A Deployment that the plan refuses has none: it is not
// the Application's, although the tests leave its ownerReference.
func compute(in Input, now time.Time) v1.ApplicationStatus {
	in.Health, in.ServerTime = health.Assess(in.Snapshot, now), now
	if deployment, planned := in.result(ref(child.Deployment, in.Snapshot.Application.Name)); planned && deployment.Action == plan.NotOwned {
		in.Health = health.Rollout{}
	}
	return Compute(in, now)
}
