// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// mutate registers a webhook of another party for objects of the namespace. change changes the object that is about to be
// stored, and reports whether it did.
func mutate[T any](e *env, group, resource string, operations []admissionregistrationv1.OperationType, change func(*T) bool) {
	e.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		var object T
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		response := &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		if err := json.Unmarshal(review.Request.Object.Raw, &object); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if change(&object) {
			changed, err := json.Marshal(&object)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			response.PatchType = new(admissionv1.PatchTypeJSONPatch)
			response.Patch = bytes.Join([][]byte{[]byte(`[{"op":"replace","path":"","value":`), changed, []byte(`}]`)}, nil)
		}
		review.Response, review.Request = response, nil
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	e.Cleanup(server.Close)
	configurations := e.kube.AdmissionregistrationV1().MutatingWebhookConfigurations()
	_, err := configurations.Create(e.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: e.namespace},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "others.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL:      &server.URL,
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: e.namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: operations,
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{resource}},
			}},
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
			ReinvocationPolicy:      new(admissionregistrationv1.IfNeededReinvocationPolicy),
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() {
		_ = configurations.Delete(context.WithoutCancel(e.Context()), e.namespace, metav1.DeleteOptions{})
	})
}

// inject adds a container, unless it is there.
func inject(name string, pod *corev1.PodSpec) bool {
	for i := range pod.Containers {
		if pod.Containers[i].Name == name {
			return false
		}
	}
	pod.Containers = append(pod.Containers, corev1.Container{Name: name, Image: "registry.example.com/" + name + ":1"})
	return true
}

// restsAndRolls lets the controller look at the Application again, which must write nothing but what it repairs and the expected verbs, and
// rolls out an image: there is one ReplicaSet more, and no more.
func (e *env) restsAndRolls(since *controlplane.AuditCursor, expected ...string) {
	e.Helper()
	if sets := e.replicaSets("web"); len(sets) != 1 {
		e.Errorf("there are %d ReplicaSets before the rollout: %v", len(sets), sets)
	}
	// Whatever the controller does about the injected container comes before what it does about this.
	e.patch(child.Service, "web", "application/merge-patch+json", `{"spec":{"selector":{"tier":"front"}}}`)
	e.waitEvent("web", v1.EventDriftRepaired, child.Service.Kind, "web")
	e.waitReady("web")
	for _, event := range e.written(since, controlplane.OnResource("deployments")) {
		if !slices.Contains(expected, event.Verb) {
			e.Errorf("what another party's webhook does was taken for drift: %s", event)
		}
	}
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image = upstream + "web:2" })
	e.waitReady("web")
	e.eventually("the old pods are gone", func() (bool, string) {
		deployment := get[appsv1.Deployment](e, "web")
		return deployment.Status.Replicas == 2 && deployment.Status.UpdatedReplicas == 2, ""
	})
	if sets := e.replicaSets("web"); len(sets) != 2 {
		e.Errorf("there are %d ReplicaSets after the rollout, want 2: %v", len(sets), sets)
	}
}

const twoPods = "replicas: 2, ports: [{name: http, containerPort: 8080}]"

// TestSidecarInjection has a webhook that adds a container to pods, as a mesh does. The Deployment has nothing of it.
func TestSidecarInjection(t *testing.T) {
	t.Parallel()
	const proxy = "mesh-proxy"
	e := start(t)
	mutate(e, "", "pods", []admissionregistrationv1.OperationType{admissionregistrationv1.Create}, func(pod *corev1.Pod) bool {
		return inject(proxy, &pod.Spec)
	})
	e.eventually("the webhook works", func() (bool, string) {
		probe, err := e.kube.CoreV1().Pods(e.namespace).Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "probe:1"}}},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil && len(probe.Spec.Containers) == 2, ""
	})
	applySpec(twoPods)(e, "web")
	e.waitReady("web")
	cursor := e.cluster.AuditCursor(t)
	e.restsAndRolls(cursor)
	pods, err := e.kube.CoreV1().Pods(e.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: v1.LabelApplication + "=web"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		if len(pods.Items[i].Spec.Containers) != 2 {
			t.Errorf("pod %s has %d containers, want the injected one too", pods.Items[i].Name, len(pods.Items[i].Spec.Containers))
		}
	}
	if len(pods.Items) == 0 {
		t.Error("there are no pods")
	}
}

// everyWrite is when a webhook for Deployments is called.
func everyWrite() []admissionregistrationv1.OperationType {
	return []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}
}

// awaitWebhook waits until a webhook for Deployments changes one.
func (e *env) awaitWebhook(changed func(*appsv1.Deployment) bool) {
	e.Helper()
	labels := map[string]string{"app": "probe"}
	e.eventually("the webhook works", func() (bool, string) {
		probe, err := e.kube.AppsV1().Deployments(e.namespace).Create(e.Context(), &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "probe"},
			Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: upstream + "probe:1"}}}},
			},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil && changed(probe), ""
	})
}

const upstream, mirror = "registry.example.com/", "mirror.example.com/"

// TestWebhookAddsToDeployments has a webhook that adds a container to Deployments, as agents for logs are added.
func TestWebhookAddsToDeployments(t *testing.T) {
	t.Parallel()
	const agent = "agent"
	e := start(t)
	mutate(e, "apps", "deployments", everyWrite(), func(deployment *appsv1.Deployment) bool {
		return inject(agent, &deployment.Spec.Template.Spec)
	})
	e.awaitWebhook(func(probe *appsv1.Deployment) bool { return len(probe.Spec.Template.Spec.Containers) == 2 })
	applySpec(twoPods)(e, "web")
	e.waitReady("web")
	cursor := e.cluster.AuditCursor(t)
	e.restsAndRolls(cursor)
	if containers := get[appsv1.Deployment](e, "web").Spec.Template.Spec.Containers; len(containers) != 2 {
		t.Errorf("the Deployment has %d containers, want the agent too", len(containers))
	}
}

// TestWebhookRewritesDeployments has a webhook that changes what the Application sets: it rewrites the registry of images. Its
// image runs, and one rollout is one rollout and one write. What another client changes later is repaired all the same.
func TestWebhookRewritesDeployments(t *testing.T) {
	t.Parallel()
	e := start(t)
	mutate(e, "apps", "deployments", everyWrite(), func(deployment *appsv1.Deployment) bool {
		image := &deployment.Spec.Template.Spec.Containers[0].Image
		rewritten, found := strings.CutPrefix(*image, upstream)
		if found {
			*image = mirror + rewritten
		}
		return found
	})
	e.awaitWebhook(func(probe *appsv1.Deployment) bool {
		return strings.HasPrefix(probe.Spec.Template.Spec.Containers[0].Image, mirror)
	})
	image := func() string { return get[appsv1.Deployment](e, "web").Spec.Template.Spec.Containers[0].Image }
	cursor := e.cluster.AuditCursor(t)
	applySpec(twoPods)(e, "web")
	e.waitReady("web")
	e.restsAndRolls(cursor, "create")
	if got := image(); got != mirror+"web:2" {
		t.Errorf("the Deployment has the image %s", got)
	}
	if writes := e.written(cursor, controlplane.OnResource("deployments")); len(writes) != 2 {
		t.Errorf("a creation and an edit were %d writes of the Deployment, want 2: %v", len(writes), writes)
	}
	const says = `The API server does not store .spec.template.spec.containers[name="web"].image as Fairlead writes it: an admission webhook or policy changes it, or the API server does not support it.`
	e.waitApplication("web", "the status says "+says, func(a *v1.Application) bool {
		return slices.ContainsFunc(a.Status.Resources, func(r v1.ResourceStatus) bool {
			return r.Kind == child.Deployment.Kind && r.State == v1.ResourceSynced && r.Message == says
		})
	})
	e.patch(child.Deployment, "web", "application/strategic-merge-patch+json",
		`{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"`+upstream+`theirs:1"}]}}}}`)
	e.waitEvent("web", v1.EventDriftRepaired, child.Deployment.Kind, "web")
	e.eventually("the image is repaired", func() (bool, string) { return image() == mirror+"web:2", image() })
	e.waitReady("web")
}
