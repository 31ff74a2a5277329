// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const (
	observe = "  reconcilePolicy: Observe\n"
	suspend = "  reconcilePolicy: Suspend\n"
)

// meddle makes three children of the Application differ in three ways: one is changed, one is
// deleted, one loses its label.
func (e *env) meddle(application string) {
	e.Helper()
	e.patch(child.ConfigMap, application+"-config", types.MergePatchType, `{"data":{"web.yaml":"theirs"}}`)
	e.deleteChild(child.Service, application)
	e.patch(child.Ingress, application, types.MergePatchType, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`)
}

// TestObserve reports how the children differ and changes none of them.
func TestObserve(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(full)
	e.waitReady("web")
	e.apply(full + observe)
	e.waitCondition("web", v1.ConditionDrifted, "", "")
	cursor := e.cluster.AuditCursor(t)

	e.meddle("web")
	e.editSpec("web", func(spec *v1.ApplicationSpec) {
		spec.Image = "registry.example.com/web:2" // Different from the Deployment.
		spec.NetworkPolicy = nil                  // There is one that is not asked for.
	})
	want := map[child.Kind]v1.ResourceState{
		child.ConfigMap: v1.ResourceDrifted, child.Service: v1.ResourceDrifted, child.Ingress: v1.ResourceDrifted,
		child.Deployment: v1.ResourceDrifted, child.NetworkPolicy: v1.ResourceDrifted,
		child.ServiceAccount: v1.ResourceSynced, child.PodDisruptionBudget: v1.ResourceSynced, child.HorizontalPodAutoscaler: v1.ResourceSynced,
	}
	e.waitApplication("web", "lists what differs", func(application *v1.Application) bool {
		for kind, state := range want {
			if resourceStatus(application, kind, childName(kind, "web")).State != state {
				return false
			}
		}
		return len(application.Status.Resources) == len(want)+1 // And the revision, which is not recorded.
	})
	application := e.waitCondition("web", v1.ConditionDrifted, metav1.ConditionTrue, v1.ReasonDrifted)
	for kind, state := range want {
		if got := resourceStatus(application, kind, childName(kind, "web")); (got.Message == "") != (state == v1.ResourceSynced) {
			t.Errorf("status says of the %s: %+v", kind, got)
		}
	}
	e.waitEvent("web", v1.ReasonDrifted, "", "")
	e.wroteNothing(cursor, func(event *controlplane.AuditEvent) bool {
		return event.Resource != v1.ApplicationResource || event.Subresource != "status"
	})

	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.ReconcilePolicy = v1.ReconcileEnforce })
	e.waitReady("web")
	e.waitCondition("web", v1.ConditionDrifted, "", "")
	e.checkRepaired("web", "registry.example.com/web:2")
	if e.live(child.NetworkPolicy, "web") != nil {
		t.Error("the NetworkPolicy is still there")
	}
}

// TestObserveFromTheStart makes nothing, and says what it would make.
func TestObserveFromTheStart(t *testing.T) {
	t.Parallel()
	e := start(t)
	cursor := e.cluster.AuditCursor(t)
	e.apply(full + observe)
	application := e.waitCondition("web", v1.ConditionDrifted, metav1.ConditionTrue, v1.ReasonDrifted)
	for _, kind := range namedKinds() {
		if got := resourceStatus(application, kind, childName(kind, "web")); got.State != v1.ResourceDrifted {
			t.Errorf("status says of the %s: %+v", kind, got)
		}
	}
	e.wroteNothing(cursor, func(event *controlplane.AuditEvent) bool { return event.Resource != v1.ApplicationResource })
	e.apply(full)
	e.waitReady("web")
}

// TestSuspend leaves everything alone, and says so in the status.
func TestSuspend(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(full, named(full, "barrier"))
	e.waitReady("web")
	e.waitReady("barrier")
	e.apply(full + suspend)
	e.waitCondition("web", v1.ConditionReady, metav1.ConditionUnknown, v1.ReasonSuspended)
	cursor := e.cluster.AuditCursor(t)
	e.meddle("web")
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" })

	// When the controller has repaired the same of another Application, it has seen this one too.
	e.meddle("barrier")
	e.editSpec("barrier", func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" })
	e.waitReady("barrier")
	e.checkRepaired("barrier", "registry.example.com/web:2")
	e.wroteNothing(cursor, func(event *controlplane.AuditEvent) bool {
		return strings.HasPrefix(event.Name, "web") && event.Subresource != "status"
	})
	if e.live(child.Service, "web") != nil { // The audit log does not name what is created.
		t.Error("the Service was made again")
	}
	e.waitObserved("web")
	e.waitCondition("web", v1.ConditionReady, metav1.ConditionUnknown, v1.ReasonSuspended)

	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.ReconcilePolicy = v1.ReconcileEnforce })
	e.waitReady("web")
	e.checkRepaired("web", "registry.example.com/web:2")
}

// checkRepaired waits until what meddle did is undone, and the Deployment has the image.
func (e *env) checkRepaired(application, image string) {
	e.Helper()
	e.waitFields(child.ConfigMap, application+"-config", fields{`data.web\.yaml`: "greeting: hello"})
	e.waitFields(child.Service, application, fields{"spec.ports[0].port": "80"})
	e.waitFields(child.Ingress, application, fields{`metadata.labels.app\.kubernetes\.io/managed-by`: v1.ManagedBy})
	e.waitFields(child.Deployment, application, fields{container + "image": image})
}

// TestPaused stops rollouts and nothing else.
func TestPaused(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(full)
	e.waitReady("web")
	before := e.replicaSets("web")
	if len(before) != 1 {
		t.Fatalf("there are the ReplicaSets %q, want one", before)
	}
	e.editSpec("web", func(spec *v1.ApplicationSpec) {
		spec.Paused = new(true)
		spec.Image = "registry.example.com/web:2"
		spec.Ports[0].ServicePort = new(int32(8000))
		spec.Config.Data["web.yaml"] = "greeting: bye"
	})
	e.waitFields(child.Deployment, "web", fields{"spec.paused": "true", container + "image": "registry.example.com/web:2"})
	e.waitFields(child.Service, "web", fields{"spec.ports[*].port": "8000"})
	e.waitFields(child.ConfigMap, "web-config", fields{`data.web\.yaml`: "greeting: bye"})
	e.patch(child.Deployment, "web", types.MergePatchType, `{"spec":{"replicas":3}}`, "scale") // It goes on, too.
	e.waitCondition("web", v1.ConditionPaused, metav1.ConditionTrue, v1.ReasonPaused)
	e.eventually("three pods run", func() (bool, string) {
		status := get[appsv1.Deployment](e, "web").Status
		return status.AvailableReplicas == 3 && status.ObservedGeneration == get[appsv1.Deployment](e, "web").Generation, ""
	})
	if got := e.replicaSets("web"); !slices.Equal(got, before) {
		t.Errorf("the ReplicaSets changed from %q to %q", before, got)
	}
	if got := e.images("web"); !slices.Equal(got, []string{"registry.example.com/web:1"}) {
		t.Errorf("the pods run %q", got)
	}

	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Paused = nil })
	e.waitReady("web")
	e.waitCondition("web", v1.ConditionPaused, "", "")
	e.eventually("only pods of the new image run", func() (bool, string) {
		got := e.images("web")
		return slices.Equal(got, []string{"registry.example.com/web:2"}), strings.Join(got, " ")
	})
	if got := e.replicaSets("web"); len(got) != 2 {
		t.Errorf("there are the ReplicaSets %q, want an old and a new one", got)
	}
}

// TestPausedByAnotherClient repairs what kubectl rollout pause does, once, and then a change of the pods rolls out.
func TestPausedByAnotherClient(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(full, named(full, "barrier"))
	e.waitReady("web")
	e.waitReady("barrier")
	e.patch(child.Deployment, "web", types.StrategicMergePatchType, `{"spec":{"paused":true}}`)
	isPaused := func() bool { return get[appsv1.Deployment](e, "web").Spec.Paused }
	e.eventually("the rollouts go on", func() (bool, string) { return !isPaused(), "" })
	e.waitEvent("web", v1.EventDriftRepaired, child.Deployment.Kind, "web")
	e.waitReady("web")
	cursor := e.cluster.AuditCursor(t)
	// When the controller has followed an edit of another Application, it has seen this one too.
	e.editSpec("barrier", func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" })
	e.waitReady("barrier")
	e.wroteNothing(cursor, func(event *controlplane.AuditEvent) bool { return strings.HasPrefix(event.Name, "web") })

	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" })
	e.eventually("only pods of the new image run", func() (bool, string) {
		got := e.images("web")
		return slices.Equal(got, []string{"registry.example.com/web:2"}), strings.Join(got, " ")
	})
}

// images are those that the Application's pods run, each once.
func (e *env) images(application string) []string {
	e.Helper()
	pods, err := e.kube.CoreV1().Pods(e.namespace).List(e.Context(), metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + application})
	if err != nil {
		e.Fatalf("list pods: %v", err)
	}
	var images []string
	for _, pod := range pods.Items {
		if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
			images = append(images, pod.Spec.Containers[0].Image)
		}
	}
	slices.Sort(images)
	return slices.Compact(images)
}
