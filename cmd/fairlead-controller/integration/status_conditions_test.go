// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

func stalled(reason, message string, others []string) standing {
	return standing{ready: "False/" + reason, also: v1.ConditionStalled, kstatus: kstatus.FailedStatus, message: message, others: others}
}

// absent is what the conditions say before there is a Deployment.
var absent = []string{"Available=False/DeploymentNotFound", "Progressing=Unknown/DeploymentNotFound"}

// TestStatusOfChildren tries the reasons of Ready, and the conditions, that come from the spec
// and from single children.
func TestStatusOfChildren(t *testing.T) {
	t.Parallel()
	e := start(t)
	h := e.record()
	routed := "ports: [{name: http, containerPort: 8080}], routes: [{name: public, hostnames: [%s.example.com]}]"
	tests := map[string][]step{
		"invalid": {
			{applySpec(""), oneReady},
			{
				editing(func(spec *v1.ApplicationSpec) {
					spec.Image = "registry.example.com/web:2"
					spec.SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
				}),
				stalled("Invalid", "spec.securityContext.privileged: ", serving),
			},
			{keptChildren, stalled("Invalid", "", serving)},
			{editing(func(spec *v1.ApplicationSpec) { spec.SecurityContext = nil }), oneReady},
		},
		"invalid-from-the-start": {
			{applySpec("podMetadata: {labels: {pod-template-hash: other}}"), stalled("Invalid",
				`spec.podMetadata.labels[pod-template-hash]: Forbidden: the label is reserved`, absent)},
			{editing(behave), oneReady},
		},
		"conflict": {
			{func(e *env, name string) {
				e.create(fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %s}\nspec: {ports: [{port: 99}]}\n", name))
				applySpec("ports: [{name: http, containerPort: 8080}]")(e, name)
			}, stalled("Conflict", "Service conflict exists and does not belong to the Application; let the Application adopt it (spec.adoptionPolicy), which keeps its address, delete it if nothing needs it, or give the Application another name.", serving)},
			{func(e *env, name string) {
				if port := get[corev1.Service](e, name).Spec.Ports[0].Port; port != 99 {
					e.Errorf("the port of the foreign Service is %d, want 99 as before", port)
				}
				remove[corev1.Service](e, name)
			}, oneReady},
		},
		"child-refused": {
			{func(e *env, name string) {
				applySpec("reconcilePolicy: Suspend")(e, name)
				e.create(ownedDeployment(e.application(name)))
				e.editSpec(name, func(spec *v1.ApplicationSpec) { spec.ReconcilePolicy = v1.ReconcileEnforce })
			}, stalled("ChildRefused", "Deployment child-refused: Deployment.apps \"child-refused\" is invalid: ",
				[]string{"Available=True/MinimumReplicasAvailable", "Progressing=True/NewReplicaSetAvailable"})},
			{func(e *env, name string) { remove[appsv1.Deployment](e, name) }, oneReady},
		},
		"routes": {
			{applySpec(fmt.Sprintf(routed, "routes")), withOthers(oneReady, "RoutesReady=True/Applied")},
			{func(e *env, name string) {
				expectMessage("RoutesReady", "The Ingress for routes.example.com is applied, and has no load-balancer address yet. If clients do not reach it, check that a controller serves Ingresses without a class.")(e, name)
				e.patch(child.Ingress, name, types.MergePatchType, `{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`, "status")
				expectMessage("RoutesReady", "The Ingress for routes.example.com is applied and has a load-balancer address.")(e, name)
			}, withOthers(oneReady, "RoutesReady=True/Applied")},
			{editing(func(spec *v1.ApplicationSpec) { spec.Routes = nil }), oneReady},
		},
		"routes-not-applied": {
			{func(e *env, name string) {
				e.create(fmt.Sprintf("apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: %s}\nspec: {rules: [{host: foreign.example.com}]}\n", name))
				applySpec(fmt.Sprintf(routed, name))(e, name)
			}, stalled("Conflict", "Ingress routes-not-applied exists and does not belong to the Application", append(serving[:2:2], "RoutesReady=False/RoutesNotApplied"))},
			{func(e *env, name string) { remove[networkingv1.Ingress](e, name) }, withOthers(oneReady, "RoutesReady=True/Applied")},
		},
		"autoscaled": {
			// There is no metrics server in this cluster.
			{applySpec("resources: {requests: {cpu: 10m}}, autoscaling: {maxReplicas: 3, targetCPUUtilizationPercentage: 70}"),
				withOthers(oneReady, "AutoscalingActive=False/FailedGetResourceMetric")},
			{func(e *env, name string) {
				e.patch(child.Deployment, name, types.MergePatchType, `{"spec":{"replicas":0}}`)
			}, stalled("PodsUnavailable", "The Deployment was scaled to 0, where its autoscaler does nothing. To let it scale again: kubectl scale deployment autoscaled --replicas=1",
				append(serving[:2:2], "AutoscalingActive=False/ScalingDisabled"))},
			{func(e *env, name string) {
				e.patch(child.Deployment, name, types.MergePatchType, `{"spec":{"replicas":1}}`)
			}, withOthers(oneReady, "AutoscalingActive=False/FailedGetResourceMetric")},
			{editing(func(spec *v1.ApplicationSpec) { spec.Autoscaling = nil }), oneReady},
		},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h.follow(e.sub(t), name, steps...)
		})
	}
}

func withOthers(s standing, further ...string) standing {
	s.others = append(slices.Clip(s.others), further...)
	return s
}

// expectMessage waits until a condition has the message.
func expectMessage(kind, message string) func(*env, string) {
	return func(e *env, name string) {
		e.Helper()
		e.waitApplication(name, fmt.Sprintf("%s says %q", kind, message), func(application *v1.Application) bool {
			for _, condition := range application.Status.Conditions {
				if condition.Type == kind {
					return condition.Message == message
				}
			}
			return false
		})
	}
}

// keptChildren wants the Deployment, and what status says of the children, to be those of the
// last good spec.
func keptChildren(e *env, name string) {
	e.Helper()
	deployment := get[appsv1.Deployment](e, name)
	if image := deployment.Spec.Template.Spec.Containers[0].Image; image != "registry.example.com/web:1" {
		e.Errorf("the Deployment has image %s of an invalid spec", image)
	}
	application := e.application(name)
	if application.Status.Image != "registry.example.com/web:1" {
		e.Errorf("status says that image %q runs", application.Status.Image)
	}
	if got := resourceStatus(application, child.Deployment, name); got.State != v1.ResourceSynced || got.UID != deployment.UID {
		e.Errorf("status says of the Deployment: %+v", got)
	}
	// A further edit that cures nothing, so that there is a version to wait for.
	e.editSpec(name, func(spec *v1.ApplicationSpec) { spec.MinReadySeconds = new(int32(1)) })
	e.editSpec(name, func(spec *v1.ApplicationSpec) { spec.MinReadySeconds = nil })
}

// ownedDeployment is one that belongs to the Application and that its spec can never become: the
// selector of a Deployment is immutable.
func ownedDeployment(application *v1.Application) *appsv1.Deployment {
	labels := map[string]string{"app": application.Name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:            application.Name,
			Labels:          map[string]string{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: application.Name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(application, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))},
		},
		Spec: appsv1.DeploymentSpec{
			// A selector of labels alone would stay, as an adopted Deployment's does.
			Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
				Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{application.Name},
			}}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.example.com/old:1"}}},
			},
		},
	}
}
