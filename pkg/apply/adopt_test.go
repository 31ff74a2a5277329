// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// consent is the metadata of an object that the Application may adopt.
const consent = `
metadata:
  name: web
  namespace: shop
  labels: {app.kubernetes.io/managed-by: fairlead, apps.fairlead.dev/application: web, chart: shop-1.2}
  annotations: {apps.fairlead.dev/adoptable-by: application-uid, note: theirs}
`

const foreignDeployment = consent + `
spec:
  replicas: 3
  selector: {matchLabels: {app: shop}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: shop}, annotations: {theirs: "true"}}
    spec:
      hostNetwork: true
      nodeSelector: {disk: ssd}
      volumes: [{name: host, hostPath: {path: /}}]
      initContainers: [{name: setup, image: "setup:1"}]
      containers:
      - {name: shop, image: "shop:1", ports: [{name: http, containerPort: 8080, protocol: TCP}], volumeMounts: [{name: host, mountPath: /host}]}
      - {name: proxy, image: "proxy:1", securityContext: {privileged: true}}
`

const adoptedDeployment = owned + `
spec:
  paused: true
  selector: {matchLabels: {apps.fairlead.dev/application: web}}
  strategy: {type: Recreate}
  template:
    metadata: {labels: {app: shop, apps.fairlead.dev/application: web}}
    spec:
      containers: [{name: web, image: "shop:2", ports: [{name: http, containerPort: 8080, protocol: TCP}]}]
`

const foreignService = consent + `
spec:
  type: ClusterIP
  clusterIP: 10.0.0.1
  sessionAffinity: None
  externalTrafficPolicy: ""
  selector: {app: shop}
  ports: [{name: http, port: 80, targetPort: 8080, protocol: TCP}]
`

// put stores an object as another client creates it.
func (f *fixture) put(kind child.Kind, fields, manager string) {
	f.Helper()
	object, err := f.desired(kind, fields).Object()
	if err != nil {
		f.Fatal(err)
	}
	annotations := object.GetAnnotations()
	delete(annotations, v1.AnnotationRenderedHash)
	object.SetAnnotations(annotations)
	body, err := json.Marshal(object)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := f.server.Client().Create(f.Context(), ref(kind), body, manager); err != nil {
		f.Fatal(err)
	}
}

// adopt plans the adoption of the foreign Deployment.
func (f *fixture) adopt() plan.Step {
	f.Helper()
	f.application.Spec.AdoptionPolicy = v1.AdoptionConsented
	live := f.cached(child.Deployment).(*appsv1.Deployment)
	live.Status.ObservedGeneration = live.Generation // There is no Deployment controller.
	steps, err := plan.Compute(plan.NewDiffer(scheme.Scheme), plan.Input{
		Snapshot: child.Snapshot{Application: f.application, Children: map[child.Ref]child.Object{ref(child.Deployment): live}},
		Desired:  []child.Desired{*f.desired(child.Deployment, adoptedDeployment)},
	})
	if err != nil {
		f.Fatal(err)
	}
	if steps[0].Action != plan.Adopt {
		f.Fatalf("the plan is %s: %s", steps[0].Action, steps[0].Reason)
	}
	return steps[0]
}

// The pod template becomes exactly the rendered one: nothing of the old one lingers that would give the pods a privilege.
// The selector, the number of pods, and what other clients wrote beside stay.
func TestAdopt(t *testing.T) {
	f := newFixture(t)
	f.put(child.Deployment, foreignDeployment, "helm")
	before := applytest.Get[*appsv1.Deployment](f.server, child.Deployment, "shop", "web")
	result := f.do(f.adopt())
	if !result.Changed() || !f.waits(child.Deployment) {
		t.Error("the write is not recorded")
	}
	live := applytest.Get[*appsv1.Deployment](f.server, child.Deployment, "shop", "web")
	if !child.OwnedBy(live, f.application) || live.UID != before.UID {
		t.Errorf("the Application does not own it: %+v", live.ObjectMeta)
	}
	if got := live.Spec.Selector.MatchLabels; len(got) != 1 || got["app"] != "shop" {
		t.Errorf("the selector is %v", got)
	}
	if live.Spec.Replicas == nil || *live.Spec.Replicas != 3 || !live.Spec.Paused {
		t.Errorf("replicas %v, paused %t", live.Spec.Replicas, live.Spec.Paused)
	}
	if live.Annotations["note"] != "theirs" || live.Labels["chart"] != "shop-1.2" {
		t.Errorf("other metadata is gone: %v %v", live.Annotations, live.Labels)
	}
	if _, has := live.Annotations[v1.AnnotationAdoptableBy]; has {
		t.Error("the consent stays")
	}
	// A Deployment that Fairlead creates is the measure.
	fresh := newFixture(t)
	fresh.do(fresh.create(child.Deployment, adoptedDeployment))
	f.wantStored(child.Deployment, fresh.stored(child.Deployment, "spec", "template"), "spec", "template")
	f.wantStored(child.Deployment, fresh.stored(child.Deployment, "spec", "strategy"), "spec", "strategy")
	f.wantRequests("get", "json-patch as fairlead", "apply as fairlead")
}

func (f *fixture) wantRequests(want ...string) {
	f.Helper()
	if got := f.requests(); !slices.Equal(got[len(got)-len(want):], want) {
		f.Errorf("the requests are %v, want %v at the end", got, want)
	}
}

// The selector and the labels of the template decide what a user is advised to do about a Deployment that the informers do not have.
func TestForeignDeploymentOfExpressions(t *testing.T) {
	const begin = "Deployment web exists and does not belong to the Application; "
	const end = "delete it with --cascade=orphan, which keeps its pods, or give the Application another name"
	const over = "delete it with --cascade=orphan, after which the Application's own takes its pods over and replaces them, or give the Application another name"
	const helm = "metadata: {namespace: shop, name: web, annotations: {meta.helm.sh/release-name: web}}\n"
	const plain = "metadata: {namespace: shop, name: web}\n"
	for fields, want := range map[string]string{
		plain + "spec: {selector: {matchLabels: {app: shop}}}":                         begin + "let the Application adopt it (spec.adoptionPolicy), which replaces no pod until you say so, " + end,
		plain + "spec: {selector: {matchExpressions: [{key: app, operator: Exists}]}}": begin + end,
		// Its ReplicaSets have the label by which the Application's own Deployment selects, and it need not select by that.
		helm + "spec: {selector: {matchLabels: {app: shop}}, template: {metadata: {labels: {app: shop, apps.fairlead.dev/application: web}}}}": begin + over,
	} {
		f := newFixture(t)
		f.put(child.Deployment, fields, "kubectl")
		result := f.do(f.create(child.Deployment, adoptedDeployment))
		if result.Done().Action != plan.NotOwned || result.Done().Reason != want {
			t.Errorf("%s: %q, want %q", fields, result.Done().Reason, want)
		}
		f.wantRequests("create as fairlead", "get", "get")
	}
}

// Later, Fairlead removes what it rendered and no longer renders, and nobody's manager keeps it.
func TestAdoptedFieldsHaveOneManager(t *testing.T) {
	f := newFixture(t)
	f.put(child.Deployment, foreignDeployment, "helm")
	f.do(f.adopt())
	f.do(f.apply(child.Deployment, strings.Replace(adoptedDeployment, `, ports: [{name: http, containerPort: 8080, protocol: TCP}]`, "", 1)))
	if ports := applytest.Get[*appsv1.Deployment](f.server, child.Deployment, "shop", "web").Spec.Template.Spec.Containers[0].Ports; len(ports) > 0 {
		t.Errorf("a port stays that is no longer rendered: %v", ports)
	}
}

// Fairlead may have owned the number of pods once, for an Application that left the Deployment behind.
func TestAdoptKeepsReplicasThatFairleadOwned(t *testing.T) {
	f := newFixture(t)
	f.put(child.Deployment, foreignDeployment, FieldManager)
	f.do(f.adopt())
	if replicas := applytest.Get[*appsv1.Deployment](f.server, child.Deployment, "shop", "web").Spec.Replicas; replicas == nil || *replicas != 3 {
		t.Errorf("the number of pods became %v", replicas)
	}
}

// Whatever happens to the object after the plan, the adoption fails without a write that another client could see.
func TestAdoptFailsIfTheObjectChanged(t *testing.T) {
	merge := func(f *fixture, patch string) {
		f.Helper()
		if _, err := f.server.Client().Patch(f.Context(), ref(child.Deployment), types.MergePatchType, []byte(patch), "kubectl"); err != nil {
			f.Fatal(err)
		}
	}
	for _, test := range []struct {
		name, verb string
		act        func(f *fixture)
	}{
		{"the consent is withdrawn before the first request", "get", func(f *fixture) {
			merge(f, `{"metadata":{"annotations":{"apps.fairlead.dev/adoptable-by":null}}}`)
		}},
		{"the consent is withdrawn before the first write", "patch", func(f *fixture) {
			merge(f, `{"metadata":{"annotations":{"apps.fairlead.dev/adoptable-by":null}}}`)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.put(child.Deployment, foreignDeployment, "helm")
			step := f.adopt()
			acting := false
			f.on(test.verb, func() error {
				if !acting {
					acting = true
					test.act(f)
				}
				return nil
			})
			result := f.try(step)
			if !apierrors.IsConflict(result.Err) {
				t.Errorf("the error is %v", result.Err)
			}
			live := applytest.Get[*appsv1.Deployment](f.server, child.Deployment, "shop", "web")
			if len(live.OwnerReferences) > 0 || live.Spec.Paused || live.Spec.Template.Spec.Containers[0].Name != "shop" {
				t.Errorf("it was changed: %+v", live.Spec)
			}
		})
	}
}

// A crash between the two writes leaves every value as it was, and the next sync begins again.
func TestAdoptAgainAfterTheFirstWrite(t *testing.T) {
	f := newFixture(t)
	f.put(child.Deployment, foreignDeployment, "helm")
	before := f.stored(child.Deployment, "spec")
	patches := 0
	f.on("patch", func() error {
		patches++
		if patches == 2 {
			return errBroken
		}
		return nil
	})
	if result := f.try(f.adopt()); !errors.Is(result.Err, errBroken) {
		t.Fatalf("the error is %v", result.Err)
	}
	f.wantStored(child.Deployment, before, "spec")
	f.do(f.adopt())
	live := applytest.Get[*appsv1.Deployment](f.server, child.Deployment, "shop", "web")
	if !child.OwnedBy(live, f.application) || live.Spec.Template.Spec.HostNetwork || len(live.Spec.Template.Spec.Containers) != 1 || *live.Spec.Replicas != 3 {
		t.Errorf("it is not adopted: %+v", live.Spec)
	}
}

// A Service is adopted only if every pod that it selects carries the Application's label.
func TestAdoptServiceProvesItsPods(t *testing.T) {
	now := metav1.Now()
	pod := func(name string, labels map[string]string, deleted bool) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: labels}}
		if deleted {
			pod.DeletionTimestamp, pod.Finalizers = &now, []string{"example.com/slow"}
		}
		return pod
	}
	ours := map[string]string{"app": "shop", v1.LabelApplication: "web"}
	for _, test := range []struct {
		name  string
		pods  []*corev1.Pod
		adopt bool
	}{
		{"no pods", nil, true},
		{"ours", []*corev1.Pod{pod("a", ours, false)}, true},
		{"one that it does not select", []*corev1.Pod{pod("a", map[string]string{"app": "other"}, false)}, true},
		{"an old one that is going", []*corev1.Pod{pod("a", ours, false), pod("old", map[string]string{"app": "shop"}, true)}, true},
		{"a canary", []*corev1.Pod{pod("a", ours, false), pod("canary", map[string]string{"app": "shop"}, false)}, false},
		{"of another Application", []*corev1.Pod{pod("a", map[string]string{"app": "shop", v1.LabelApplication: "other"}, false)}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.put(child.Service, foreignService, "helm")
			for _, pod := range test.pods {
				applytest.Put(f.server, applytest.Pods, pod)
			}
			before := f.stored(child.Service)
			step := plan.Step{Action: plan.Adopt, Ref: ref(child.Service), Live: f.cached(child.Service), Selects: map[string]string{"app": "shop"}, Adopted: plan.AdoptedWhole(),
				Desired: f.desired(child.Service, owned+"spec: {selector: {apps.fairlead.dev/application: web}, ports: [{name: http, port: 80, targetPort: http, protocol: TCP}]}")}
			result := f.do(step)
			if adopted := result.Action == plan.Adopt; adopted != test.adopt {
				t.Fatalf("%s: %s", result.Action, result.Reason)
			}
			if !test.adopt {
				f.wantStored(child.Service, before)
				if result.Adoption != plan.AdoptionShared {
					t.Errorf("the adoption is %s", result.Adoption)
				}
				const advice = "; change the labels in the pod template of its controller, or, if the controller selects by them, replace it by one with another selector; " +
					"without a controller, delete the pod or give it other labels; or, if it needs no requests, add apps.fairlead.dev/application: web to the selector of the Service"
				if !strings.HasSuffix(result.Reason, advice) {
					t.Errorf("the reason is %q, want it to end with %q", result.Reason, advice)
				}
			}
		})
	}
}

func TestTakenFields(t *testing.T) {
	adopted := plan.AdoptedWhole()
	entries, err := takenFields([]metav1.ManagedFieldsEntry{
		entry("helm", "Update", "", `{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:hostNetwork":{}}}}}`),
		entry("kubectl", "Apply", "", `{"f:spec":{"f:strategy":{"f:type":{}}}}`),
		entry("kube-controller-manager", "Update", "status", `{"f:status":{"f:replicas":{}}}`),
		entry("hpa", "Update", "scale", `{"f:spec":{"f:replicas":{}}}`),
		entry(FieldManager, "Apply", "", `{"f:spec":{"f:paused":{},"f:replicas":{},"f:selector":{"f:matchLabels":{"f:app":{}}}}}`),
	}, child.Deployment, adopted, adopted)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := yaml.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	const want = `- apiVersion: apps/v1
  fieldsType: FieldsV1
  fieldsV1:
    f:spec:
      f:replicas: {}
  manager: helm
  operation: Update
- apiVersion: apps/v1
  fieldsType: FieldsV1
  fieldsV1:
    f:status:
      f:replicas: {}
  manager: kube-controller-manager
  operation: Update
  subresource: status
- apiVersion: apps/v1
  fieldsType: FieldsV1
  fieldsV1:
    f:spec:
      f:replicas: {}
  manager: hpa
  operation: Update
  subresource: scale
- apiVersion: apps/v1
  fieldsType: FieldsV1
  fieldsV1:
    f:spec:
      f:paused: {}
      f:strategy: {}
      f:template: {}
  manager: fairlead
  operation: Apply
`
	if string(encoded) != want {
		t.Errorf("the entries are\n%s", encoded)
	}
}
