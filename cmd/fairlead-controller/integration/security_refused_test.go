// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// wroteNone fails the test if a controller sent any write of the kind, accepted or not.
func (e *env) wroteNone(since *controlplane.AuditCursor, kinds ...child.Kind) {
	e.Helper()
	for _, kind := range kinds {
		for _, event := range e.written(since, controlplane.OnResource(kind.Resource)) {
			e.Errorf("the controller wrote: %s", event)
		}
	}
}

// waitWithheld waits until the condition names the refused child and what waits for it.
func (e *env) waitWithheld(name string, parts ...string) {
	e.Helper()
	application := e.waitCondition(name, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonConflict)
	for _, part := range parts {
		if message := describe(application); !strings.Contains(message, part) {
			e.Errorf("the status of %s does not say %q: %s", name, part, message)
		}
	}
}

// TestS5PodsNeverRunAsForeignAccount lets a tenant, who may write Applications, name them like the powerful
// accounts of its namespace and ask for their token. No pod template with such an account is ever written,
// whether the informers show the account or not.
func TestS5PodsNeverRunAsForeignAccount(t *testing.T) {
	t.Parallel()
	e := start(t)
	tenant := e.as("edit")
	e.create("{apiVersion: v1, kind: ServiceAccount, metadata: {name: deployer}}",
		"{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, labels: {app.kubernetes.io/managed-by: fairlead, apps.fairlead.dev/application: robot}}}")
	cursor := e.cluster.AuditCursor(t)
	for _, name := range []string{"deployer", "robot", "default"} {
		tenant.create(named(small, name) + "  replicas: 2\n  resources: {requests: {cpu: 10m}}\n  serviceAccount: {automountToken: true}\n")
		e.waitWithheld(name, "ServiceAccount "+name+" exists", "Waiting for it: Deployment "+name+".")
		// Nor does another image get it there, nor an autoscaler.
		tenant.editSpec(name, func(spec *v1.ApplicationSpec) {
			spec.Image, spec.Replicas = "registry.example.com/web:2", nil
			spec.Autoscaling = &v1.Autoscaling{MaxReplicas: 3, TargetCPUUtilizationPercentage: new(int32(70))}
		})
		e.waitWithheld(name, "Deployment "+name+", HorizontalPodAutoscaler "+name+".")
		if find[appsv1.Deployment](e, name) != nil {
			t.Errorf("%s has a Deployment", name)
		}
	}
	e.wroteNone(cursor, child.Deployment, child.HorizontalPodAutoscaler, child.ControllerRevision)

	remove[corev1.ServiceAccount](e, "deployer")
	e.waitReady("deployer")
}

// TestS5LivePodsDoNotFollowForeignAccount replaces the account of an Application that runs: from then on no
// change of its pods is applied, and it says so.
func TestS5LivePodsDoNotFollowForeignAccount(t *testing.T) {
	t.Parallel()
	e := start(t)
	tenant := e.as("edit")
	tenant.create(named(small, "web") + "  serviceAccount: {automountToken: true}\n")
	e.waitReady("web")
	e.stop()
	remove[corev1.ServiceAccount](e, "web")
	e.create("{apiVersion: v1, kind: ServiceAccount, metadata: {name: web}}")
	cursor := e.cluster.AuditCursor(t)
	e.run()
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" })
	e.waitWithheld("web", "ServiceAccount web exists", "Waiting for it: Deployment web.")
	e.wroteNone(cursor, child.Deployment, child.ControllerRevision)
	if got := get[appsv1.Deployment](e, "web").Spec.Template.Spec.Containers[0].Image; got != "registry.example.com/web:1" {
		t.Errorf("the pods run %s", got)
	}
}

// TestS12NothingLeadsToForeignObjects lets a tenant name Applications like the Service and the Deployment of
// another: no Ingress ever exposes the one, and no autoscaler ever scales the other. A quota that is used up
// does not change that, although the API server refuses the Service before it looks at its name.
func TestS12NothingLeadsToForeignObjects(t *testing.T) {
	t.Parallel()
	e := start(t)
	tenant := e.as("edit")
	for _, name := range []string{"db", "ledger"} {
		e.create(fmt.Sprintf("{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {ports: [{name: http, port: 80}], selector: {app: theirs}}}", name))
	}
	theirs := foreignObject(e, child.Deployment, "batch")
	e.create(theirs)
	cursor := e.cluster.AuditCursor(t)
	exposing := func(name string) string {
		return named(small, name) + "  ports: [{name: http, containerPort: 8080, servicePort: 80}]\n  routes: [{name: a, hostnames: [" + name + "." + e.namespace + ".example.com]}]\n"
	}
	tenant.create(exposing("db"))
	e.waitWithheld("db", "Service db exists", "Waiting for it: Ingress db.")
	tenant.create(named(small, "batch") + "  resources: {requests: {cpu: 10m}}\n  autoscaling: {minReplicas: 5, maxReplicas: 9, targetCPUUtilizationPercentage: 70}\n")
	e.waitWithheld("batch", "Deployment batch exists", "Waiting for it: HorizontalPodAutoscaler batch.")

	e.create("{apiVersion: v1, kind: ResourceQuota, metadata: {name: services}, spec: {hard: {services: 2}}}")
	e.eventually("the quota is counted", func() (bool, string) {
		quota := get[corev1.ResourceQuota](e, "services")
		return len(quota.Status.Used) > 0, fmt.Sprint(quota.Status)
	})
	tenant.create(exposing("ledger"))
	e.waitCondition("ledger", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonQuotaExceeded)

	e.wroteNone(cursor, child.Ingress, child.HorizontalPodAutoscaler)
	for _, name := range []string{"db", "ledger", "batch"} {
		if find[networkingv1.Ingress](e, name) != nil || find[autoscalingv2.HorizontalPodAutoscaler](e, name) != nil {
			t.Errorf("%s has an Ingress or a HorizontalPodAutoscaler", name)
		}
	}
}
