// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// running is what runs already: a Deployment and a Service as a chart has them. The pods may do more than those of an
// Application.
const running = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {chart: shop-1.2}, annotations: {note: theirs}}
spec:
  replicas: 2
  selector: {matchLabels: {app.kubernetes.io/name: shop, app.kubernetes.io/instance: web}}
  template:
    metadata: {labels: {app.kubernetes.io/name: shop, app.kubernetes.io/instance: web}}
    spec:
      hostPID: true
      volumes: [{name: host, hostPath: {path: /var/log}}]
      containers:
      - {name: shop, image: "registry.example.com/web:1", ports: [{name: http, containerPort: 8080}], volumeMounts: [{name: host, mountPath: /host}]}
      - {name: proxy, image: "registry.example.com/proxy:1", securityContext: {privileged: true}}
---
apiVersion: v1
kind: Service
metadata: {name: web, labels: {chart: shop-1.2}}
spec:
  selector: {app.kubernetes.io/name: shop, app.kubernetes.io/instance: web}
  ports: [{port: 80, targetPort: 8080}]
`

// adopter can adopt what runs.
const adopter = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web}
spec:
  image: registry.example.com/web:1
  adoptionPolicy: Consented
  paused: true
  deletionPolicy: Orphan
  ports: [{name: http, containerPort: 8080, servicePort: 80, servicePortName: ""}]
  podMetadata: {labels: {app.kubernetes.io/name: shop, app.kubernetes.io/instance: web}}
  routes: [{name: public, hostnames: [web.example.com]}]
  networkPolicy: {}
`

// consentTo lets the Application of the UID adopt an object, as a user does.
func (e *env) consentTo(kind child.Kind, name string, uid types.UID) {
	e.Helper()
	e.patch(kind, name, types.MergePatchType, fmt.Sprintf(`{"metadata":{"labels":{%q:%q,%q:%q},"annotations":{%q:%q}}}`,
		v1.LabelManagedBy, v1.ManagedBy, v1.LabelApplication, name, v1.AnnotationAdoptableBy, uid))
}

// podsOf returns the UIDs of the pods that the labels select, sorted.
func (e *env) podsOf(selector string) []string {
	e.Helper()
	list, err := e.kube.CoreV1().Pods(e.namespace).List(context.WithoutCancel(e.Context()), metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		e.Fatal(err)
	}
	uids := []string{}
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			uids = append(uids, string(list.Items[i].UID))
		}
	}
	slices.Sort(uids)
	return uids
}

// waitRunning waits until the chart's pods are available, and the endpoints have them.
func (e *env) waitRunning() {
	e.Helper()
	e.eventually("the Deployment is available", func() (bool, string) {
		status := get[appsv1.Deployment](e, "web").Status
		return status.AvailableReplicas == 2 && e.endpoints() == 2, fmt.Sprintf("%+v", status)
	})
}

// endpoints returns how many addresses of the Service web are ready.
func (e *env) endpoints() int {
	e.Helper()
	list, err := e.kube.DiscoveryV1().EndpointSlices(e.namespace).List(context.WithoutCancel(e.Context()), metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=web"})
	if err != nil {
		e.Fatal(err)
	}
	ready := 0
	for i := range list.Items {
		ready += readyEndpoints(&list.Items[i])
	}
	return ready
}

// wantPods compares the numbers of pods that anyone created and deleted since the cursor.
func (e *env) wantPods(since *controlplane.AuditCursor, when string, created, deleted int) {
	e.Helper()
	creates, deletes := 0, sets.New[string]() // The kubelet deletes again what ends.
	for _, event := range since.Events(e.TB, controlplane.InNamespace(e.namespace), controlplane.OnResource("pods"), controlplane.WithVerb("create", "delete", "deletecollection")) {
		switch {
		case event.Code >= 300:
		case event.Verb == "create":
			creates++
		default:
			deletes.Insert(event.Name)
		}
	}
	if creates != created || len(deletes) != deleted {
		e.Errorf("%s, %d pods were created and these deleted: %v; want %d created, %d deleted", when, creates, sets.List(deletes), created, deleted)
	}
}

const oldLabels = "app.kubernetes.io/name=shop,app.kubernetes.io/instance=web"

// TestAdoption adopts a Deployment and a Service in place. Without a consent nothing is touched; no pod is replaced before
// the pause ends; and the Service follows once every pod carries Fairlead's label.
func TestAdoption(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.create(running)
	e.waitRunning()
	pods := e.podsOf(oldLabels)
	before := map[child.Kind]map[string]any{child.Deployment: content(e.live(child.Deployment, "web"), ""), child.Service: content(e.live(child.Service, "web"), "")}
	cursor, serving := e.cluster.AuditCursor(t), e.followServing(oldLabels)

	e.apply(adopter)
	waiting := e.waitCondition("web", v1.ConditionAdopted, metav1.ConditionFalse, v1.ReasonAwaitingConsent)
	if diff := cmp.Diff(&v1.AdoptionStatus{Awaiting: []string{"Deployment web", "Service web"}}, waiting.Status.Adoption); diff != "" {
		t.Errorf("status.adoption (-want +got):\n%s", diff)
	}
	for kind, was := range before {
		e.checkUntouched(cursor, kind, "web")
		if diff := cmp.Diff(was, content(e.live(kind, "web"), "")); diff != "" {
			t.Errorf("%s changed without a consent (-before +after):\n%s", kind, diff)
		}
	}
	uid := e.application("web").UID
	e.consentTo(child.Service, "web", uid)
	e.consentTo(child.Deployment, "web", uid)
	held := e.waitCondition("web", v1.ConditionAdopted, metav1.ConditionFalse, v1.ReasonPodsHeld)
	e.waitAdoptedTemplate()
	if diff := cmp.Diff(pods, e.podsOf(oldLabels)); diff != "" {
		t.Errorf("pods were replaced before the pause ended:\n%s", diff)
	}
	e.wantPods(cursor, "between the Application and the end of its pause", 0, 0)
	if held.Status.Adoption == nil || held.Status.Adoption.PodsToReplace != 2 || !strings.Contains(held.Status.Selector, "app.kubernetes.io/name=shop") {
		t.Errorf("status says %+v, selector %s", held.Status.Adoption, held.Status.Selector)
	}
	e.checkHeld(before[child.Service])

	e.apply(strings.Replace(adopter, "paused: true", "paused: false", 1))
	e.eventually("every pod is replaced", func() (bool, string) {
		application := e.application("web")
		return condition(application, v1.ConditionAdopted) == metav1.ConditionTrue, describe(application)
	})
	e.waitReady("web")
	after := e.podsOf(v1.LabelApplication + "=web")
	e.wantPods(cursor, "after the end of the pause", 2, 2)
	if len(after) != 2 || slices.ContainsFunc(after, func(uid string) bool { return slices.Contains(pods, uid) }) {
		t.Errorf("the pods were %v and are %v", pods, after)
	}
	service := get[corev1.Service](e, "web")
	if service.Spec.Selector[v1.LabelApplication] != "web" || len(service.Spec.Selector) != 1 || service.Spec.Ports[0].Name != "" || service.Labels["chart"] != "shop-1.2" {
		t.Errorf("the Service is %+v", service)
	}
	e.waitApplication("web", "is settled", settled)
	e.wantServing(serving, get[appsv1.Deployment](e, "web"))
	e.wantSelectedLabels(cursor)
}

// wantSelectedLabels removes the labels of the selector from the spec: the pods keep them, and none is replaced.
func (e *env) wantSelectedLabels(cursor *controlplane.AuditCursor) {
	e.Helper()
	labels := "podMetadata: {labels: {app.kubernetes.io/name: shop, app.kubernetes.io/instance: web}}"
	e.apply(strings.NewReplacer("paused: true", "paused: false", labels, "minReadySeconds: 1").Replace(adopter))
	e.waitReady("web")
	e.waitApplication("web", "is settled", settled)
	e.wantPods(cursor, "after labels of the selector were removed from the spec", 2, 2)
	if live := get[appsv1.Deployment](e, "web"); live.Spec.MinReadySeconds != 1 || live.Spec.Template.Labels["app.kubernetes.io/name"] != "shop" {
		e.Errorf("the Deployment is %+v", live.Spec)
	}
}

func condition(application *v1.Application, kind string) metav1.ConditionStatus {
	for _, c := range application.Status.Conditions {
		if c.Type == kind {
			return c.Status
		}
	}
	return ""
}

// waitAdoptedTemplate compares the template with that of a Deployment which Fairlead creates for the same spec.
func (e *env) waitAdoptedTemplate() {
	e.Helper()
	fresh := strings.NewReplacer("adoptionPolicy: Consented", "adoptionPolicy: Never", "{name: web}", "{name: fresh}", "[web.example.com]", "[fresh.example.com]").Replace(adopter)
	e.apply(fresh)
	e.eventually("the fresh Deployment exists", func() (bool, string) { return find[appsv1.Deployment](e, "fresh") != nil, "" })
	template := func(name string) string {
		spec, _, err := unstructured.NestedMap(e.live(child.Deployment, name).Object, "spec")
		if err != nil {
			e.Fatal(err)
		}
		return strings.ReplaceAll(fmt.Sprint(spec["template"], spec["strategy"]), "fresh", "web")
	}
	if diff := cmp.Diff(template("fresh"), template("web")); diff != "" {
		e.Errorf("the adopted template is not as rendered (-fresh +adopted):\n%s", diff)
	}
	live := get[appsv1.Deployment](e, "web")
	if live.Spec.Selector.MatchLabels["app.kubernetes.io/name"] != "shop" || *live.Spec.Replicas != 2 || live.Labels["chart"] != "shop-1.2" || live.Annotations["note"] != "theirs" {
		e.Errorf("the adoption changed what it keeps: %+v", live)
	}
}

// checkHeld: the Service is as its user left it, and nothing refers to it yet.
func (e *env) checkHeld(before map[string]any) {
	e.Helper()
	service := content(e.live(child.Service, "web"), "")
	if diff := cmp.Diff(before["spec"], service["spec"]); diff != "" {
		e.Errorf("the Service changed while pods lack the label:\n%s", diff)
	}
	if e.live(child.Ingress, "web") != nil {
		e.Error("the Ingress exposes the Service already")
	}
}

// TestS12AdoptionNeedsConsent: nothing but the UID of this Application, on an object without another owner, is a consent.
func TestS12AdoptionNeedsConsent(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: controller}}", running)
	e.waitRunning()
	e.apply(adopter)
	application := e.waitObserved("web")
	for name, forge := range map[string]func(){
		"the UID of another Application": func() { e.consentTo(child.Deployment, "web", "11111111-2222-4333-8444-555555555555") },
		"the name of the Application":    func() { e.consentTo(child.Deployment, "web", "web") },
		"another controller": func() {
			e.consentTo(child.Deployment, "web", application.UID)
			e.patch(child.Deployment, "web", types.MergePatchType, fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"controller","uid":%q,"controller":true}]}}`,
				get[corev1.ConfigMap](e, "controller").UID))
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := e.sub(t)
			if name == "another controller" {
				e.apply(strings.Replace(adopter, "Consented", "Never", 1)) // Both writes of the user come before the controller looks.
			}
			forge()
			cursor := e.cluster.AuditCursor(t)
			e.apply(strings.Replace(adopter, "image: registry.example.com/web:1", "image: registry.example.com/web:"+fmt.Sprint(len(name)), 1))
			e.waitCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonConflict)
			e.checkUntouched(cursor, child.Deployment, "web")
		})
	}
}
