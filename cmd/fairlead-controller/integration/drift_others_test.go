// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestWhatOthersAddStays adds to each child what the spec does not say. That is no drift, and
// it outlives a change of every child.
func TestWhatOthersAddStays(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(full)
	e.waitReady("web")
	cursor := e.cluster.AuditCursor(t)
	for _, kind := range namedKinds() {
		e.patch(kind, childName(kind, "web"), types.MergePatchType, `{"metadata":{"labels":{"added":"label"},"annotations":{"added":"annotation"}}}`)
	}
	stays := additions()
	for _, addition := range stays {
		e.drift(addition.kind, childName(addition.kind, "web"), drift{patch: addition.patch, subresource: addition.subresource})
	}
	// Whatever the controller does about it comes before what it does about this.
	e.patch(child.Service, "web", types.MergePatchType, `{"spec":{"selector":{"tier":"front"}}}`)
	e.waitEvent("web", v1.EventDriftRepaired, child.Service.Kind, "web")
	e.waitReady("web")
	for _, event := range e.written(cursor, controlplane.Writes()) {
		if event.Resource != child.Service.Resource && event.Resource != v1.ApplicationResource {
			t.Errorf("an addition was taken for drift: %s", event)
		}
	}
	e.checkAdditions(stays)

	edit(e, "web", func(application *v1.Application) {
		application.Labels = map[string]string{"team": "shop"} // It is copied to every child.
	})
	for _, kind := range namedKinds() {
		e.waitFields(kind, childName(kind, "web"), fields{"metadata.labels.team": "shop"})
	}
	e.checkAdditions(stays)
}

type addition struct {
	kind        child.Kind
	patch       string
	subresource string
	want        fields
}

func additions() []addition {
	const template = "spec.template."
	return []addition{
		{child.Deployment, `[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"proxy","image":"registry.example.com/proxy:1"}}]`, "", fields{template + "spec.containers[*].name": "web proxy"}},
		{child.Deployment, `[{"op":"add","path":"/spec/template/spec/initContainers","value":[{"name":"setup","image":"registry.example.com/setup:1"}]}]`, "", fields{template + "spec.initContainers[*].name": "setup"}},
		{child.Deployment, `[{"op":"add","path":"/spec/template/spec/volumes/-","value":{"name":"added","emptyDir":{}}}]`, "", fields{template + "spec.volumes[*].name": "tmp config added"}},
		{child.Deployment, `[{"op":"add","path":"/spec/template/spec/containers/0/volumeMounts/-","value":{"name":"added","mountPath":"/added"}}]`, "", fields{template + "spec.containers[0].volumeMounts[*].mountPath": "/tmp /etc/web /added"}},
		{child.Deployment, `[{"op":"add","path":"/spec/template/spec/containers/0/env/-","value":{"name":"ADDED","value":"1"}}]`, "", fields{template + "spec.containers[0].env[*].name": "COLOUR ADDED"}},
		{child.Deployment, `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-02T15:04:05Z"},"labels":{"added":"label"}}}}}`, "", fields{template + `metadata.annotations.kubectl\.kubernetes\.io/restartedAt`: "2026-01-02T15:04:05Z", template + "metadata.labels.added": "label"}},
		{child.Deployment, `{"spec":{"replicas":3}}`, "scale", fields{"spec.replicas": "3"}},
		{child.Service, `[{"op":"add","path":"/spec/ports/-","value":{"name":"added","port":9999}}]`, "", fields{"spec.ports[*].name": "http added"}},
		{child.Service, `{"spec":{"publishNotReadyAddresses":true}}`, "", fields{"spec.publishNotReadyAddresses": "true"}},
		{child.ConfigMap, `{"data":{"added":"1"}}`, "", fields{"data.added": "1"}},
		{child.ServiceAccount, `{"imagePullSecrets":[{"name":"added"}]}`, "", fields{"imagePullSecrets[*].name": "added"}},
		{child.HorizontalPodAutoscaler, `{"spec":{"behavior":{"scaleDown":{"stabilizationWindowSeconds":60}}}}`, "", fields{"spec.behavior.scaleDown.stabilizationWindowSeconds": "60"}},
		{child.Ingress, `{"spec":{"defaultBackend":{"service":{"name":"added","port":{"number":80}}}}}`, "", fields{"spec.defaultBackend.service.name": "added"}},
	}
}

func (e *env) checkAdditions(stays []addition) {
	e.Helper()
	for _, addition := range stays {
		name := childName(addition.kind, "web")
		if diff := e.differing(e.live(addition.kind, name), addition.want); diff != "" {
			e.Errorf("%s lost what others added (-want +got):\n%s", e.ref(addition.kind.Kind, name), diff)
		}
	}
	for _, kind := range namedKinds() {
		if diff := e.differing(e.live(kind, childName(kind, "web")), fields{"metadata.labels.added": "label", "metadata.annotations.added": "annotation"}); diff != "" {
			e.Errorf("the %s lost metadata that others added (-want +got):\n%s", kind, diff)
		}
	}
}

// TestF11Contention lets another controller fight for a field: the writes are bounded, the status
// says so, and all is well once it gives up.
func TestF11Contention(t *testing.T) {
	t.Parallel()
	e := start(t)
	for _, test := range []struct{ name, patch string }{
		{"field", `{"data":{"web.yaml":"theirs"}}`},
		{"field-and-annotations", `{"data":{"web.yaml":"theirs"},"metadata":{"annotations":null}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := e.sub(t)
			application, name := test.name, test.name+"-config"
			e.apply(specOf(application, `  config: {mountPath: /etc/web, data: {web.yaml: ours}}`+without0))
			e.waitFields(child.ConfigMap, name, fields{"data.web\\.yaml": "ours"})
			cursor := e.cluster.AuditCursor(t)
			surrender := e.fight(child.ConfigMap, name, test.patch)

			e.waitCondition(application, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonContended)
			contended := e.waitCondition(application, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonContended)
			if got := resourceStatus(contended, child.ConfigMap, name); got.State != v1.ResourceFailed {
				t.Errorf("status says of the ConfigMap: %+v", got)
			}
			e.waitEvent(application, v1.ReasonContended, child.ConfigMap.Kind, name)
			// Five at once, one more after each growing pause, and once the field ownership.
			writes := e.written(cursor, controlplane.OnResource("configmaps"), func(event *controlplane.AuditEvent) bool { return event.Name == name })
			if len(writes) < 5 || len(writes) > 8 {
				t.Errorf("%d writes in the fight, want about 5: %v", len(writes), writes)
			}
			surrender()
			e.waitReady(application)
			e.waitFields(child.ConfigMap, name, fields{"data.web\\.yaml": "ours"})
			e.waitCondition(application, v1.ConditionStalled, "", "")
		})
	}
}

// fight patches a child whenever it is not as the patch wants it, until the returned function is
// called.
func (e *env) fight(kind child.Kind, name, patch string) (surrender func()) {
	e.Helper()
	watch, err := e.children(kind).Watch(e.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		e.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		last := ""
		for event := range watch.ResultChan() {
			object, ok := event.Object.(metav1.Object)
			if !ok || object.GetResourceVersion() == last {
				continue // Their own patch comes back as an event too.
			}
			patched, err := e.children(kind).Patch(e.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "rival"})
			if err != nil {
				return
			}
			last = patched.GetResourceVersion()
		}
	}()
	stop := func() {
		watch.Stop()
		<-done
	}
	e.Cleanup(stop)
	return stop
}

// TestRolloutRestartAfterARestart: a restart that is in the spec does not undo a later one of the Deployment.
func TestRolloutRestartAfterARestart(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(full)
	e.waitReady("web")
	const path = `spec.template.metadata.annotations.kubectl\.kubernetes\.io/restartedAt`
	restart := func(at string) {
		edit(e, "web", func(application *v1.Application) {
			application.Spec.PodMetadata = &v1.PodMetadata{Annotations: map[string]string{v1.AnnotationRestartedAt: at}}
		})
	}
	restart("2026-01-02T15:04:05Z")
	e.waitFields(child.Deployment, "web", fields{path: "2026-01-02T15:04:05Z"})
	e.waitReady("web")
	cursor := e.cluster.AuditCursor(t)
	e.patch(child.Deployment, "web", types.StrategicMergePatchType, `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-02T15:04:06Z"}}}}}`)
	// Whatever the controller does about it comes before what it does about this.
	e.patch(child.Service, "web", types.MergePatchType, `{"spec":{"selector":{"tier":"front"}}}`)
	e.waitEvent("web", v1.EventDriftRepaired, child.Service.Kind, "web")
	for _, event := range e.written(cursor, controlplane.Writes()) {
		if event.Resource == child.Deployment.Resource {
			t.Errorf("the restart was taken for drift: %s", event)
		}
	}
	e.waitFields(child.Deployment, "web", fields{path: "2026-01-02T15:04:06Z"})
	restart("2026-01-02T15:04:07Z")
	e.waitFields(child.Deployment, "web", fields{path: "2026-01-02T15:04:07Z"})
}

// TestBackToAnEarlierRestart: pods of a former revision, which were restarted too, replace the others once. The later restart was the
// Application's own, and goes with its spec.
func TestBackToAnEarlierRestart(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(full)
	e.waitReady("web")
	const path = `spec.template.metadata.annotations.kubectl\.kubernetes\.io/restartedAt`
	pods := func(image, restartedAt string) {
		edit(e, "web", func(application *v1.Application) {
			application.Spec.Image = image
			application.Spec.PodMetadata = &v1.PodMetadata{Annotations: map[string]string{v1.AnnotationRestartedAt: restartedAt}}
		})
		e.waitFields(child.Deployment, "web", fields{"spec.template.spec.containers[0].image": image})
		e.waitReady("web")
	}
	pods("registry.example.com/web:2", "2026-01-02T15:04:05Z")
	pods("registry.example.com/web:3", "2026-01-02T15:04:06Z")
	before := get[appsv1.Deployment](e, "web")
	pods("registry.example.com/web:2", "2026-01-02T15:04:05Z")
	// Whatever the controller does about the Deployment comes before what it does about this.
	e.patch(child.Service, "web", types.MergePatchType, `{"spec":{"selector":{"tier":"front"}}}`)
	e.waitEvent("web", v1.EventDriftRepaired, child.Service.Kind, "web")
	e.waitFields(child.Deployment, "web", fields{path: "2026-01-02T15:04:05Z"})
	if after := get[appsv1.Deployment](e, "web"); after.Generation != before.Generation+1 {
		t.Errorf("the Deployment was written %d times, want 1", after.Generation-before.Generation)
	}
}
