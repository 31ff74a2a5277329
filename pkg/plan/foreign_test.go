// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

func TestNotOwnedMessage(t *testing.T) {
	const nobodys = "ConfigMap web-config exists and does not belong to the Application; remove spec.config so that it stays, delete it if nothing needs it, or give the Application another name"
	owner := func(controller *bool) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", UID: "db-uid", Controller: controller}}
	}
	earlier := func(name string, uid types.UID) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.ApplicationKind, Name: name, UID: uid, Controller: new(true)}}
	}
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "new"}, Spec: v1.ApplicationSpec{Config: &v1.Config{}}}
	for _, test := range []struct {
		name   string
		owners []metav1.OwnerReference
		want   string
	}{
		{"of nobody", nil, nobodys},
		{"of a mere owner", owner(nil), nobodys},
		{"of no controller", owner(new(false)), nobodys},
		{"of an earlier Application", earlier("web", "old"), "ConfigMap web-config belongs to an earlier Application of this name, which is gone; Kubernetes deletes it"},
		{"of another Application", earlier("other", "old"), "ConfigMap web-config exists and belongs to Application other (UID old); give the Application another name"},
		{"of a controller", owner(new(true)), "ConfigMap web-config exists and belongs to StatefulSet db (UID db-uid); give the Application another name"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := plan.NotOwnedMessage(application, child.Ref{Kind: child.ConfigMap, Namespace: "shop", Name: "web-config"}, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{OwnerReferences: test.owners}}); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// What an earlier Application left behind has its marks, and neither a controller nor a consent to an adoption.
func TestLeftBehind(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*corev1.Service)
		want   bool
	}{
		"nothing": {func(*corev1.Service) {}, true},
		"a controller": {func(s *corev1.Service) {
			s.OwnerReferences = []metav1.OwnerReference{{Name: "x", Controller: new(true)}}
		}, false},
		"another tool": {func(s *corev1.Service) { s.Labels[v1.LabelManagedBy] = "Helm" }, false},
		"a deletion":   {func(s *corev1.Service) { s.DeletionTimestamp = &metav1.Time{} }, false},
		"a consent":    {func(s *corev1.Service) { s.Annotations[v1.AnnotationAdoptableBy] = "u" }, false},
		"labels alone": {func(s *corev1.Service) { s.Annotations = nil }, false},
	} {
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{v1.LabelManagedBy: v1.ManagedBy}, Annotations: map[string]string{v1.AnnotationRenderedHash: "0"},
		}}
		test.change(service)
		if got := plan.LeftBehind(service); got != test.want {
			t.Errorf("with %s: %t, want %t", name, got, test.want)
		}
		const message = "Service web exists, left behind by an earlier Application; take it back as docs/guides/take-back.md says, or give the Application another name"
		if got := plan.NotOwnedMessage(&v1.Application{}, child.Ref{Kind: child.Service, Name: "web"}, service); (got == message) != test.want {
			t.Errorf("with %s: %q", name, got)
		}
	}
}

// What kubectl fairlead eject made a plain object has no mark but an entry in managedFields, and a new Application can take it back too.
func TestEjected(t *testing.T) {
	ejected := metav1.ManagedFieldsEntry{Manager: plan.PluginFieldManager, Operation: metav1.ManagedFieldsOperationUpdate}
	consent := ejected
	consent.Time = &metav1.Time{Time: time.Unix(1, 0)}
	const beginning = "ServiceAccount web exists"
	for name, test := range map[string]struct {
		account corev1.ServiceAccount
		want    string
	}{
		"ejected": {
			corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{ejected}}},
			beginning + ", left behind by an earlier Application; take it back as docs/guides/take-back.md says, or give the Application another name",
		},
		"ejected, and given to another owner": {
			corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
				ManagedFields:   []metav1.ManagedFieldsEntry{ejected},
				OwnerReferences: []metav1.OwnerReference{{Kind: "Shop", Name: "front", UID: "1", Controller: new(true)}},
			}},
			beginning + " and belongs to Shop front (UID 1); give the Application another name",
		},
		"ejected, with consent to an adoption": {
			corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
				ManagedFields: []metav1.ManagedFieldsEntry{ejected}, Annotations: map[string]string{v1.AnnotationAdoptableBy: "u"},
			}},
			beginning + " and does not belong to the Application; name it in spec.serviceAccount.name if that is allowed, delete it if nothing needs it, or give the Application another name",
		},
		"written by the plugin": {
			corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{consent}}},
			beginning + " and does not belong to the Application; name it in spec.serviceAccount.name if that is allowed, delete it if nothing needs it, or give the Application another name",
		},
	} {
		if got := plan.NotOwnedMessage(&v1.Application{}, child.Ref{Kind: child.ServiceAccount, Name: "web"}, &test.account); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Without the first of several routes, the next one has the name of the Application, and without all of them nothing serves.
func TestNotOwnedRoute(t *testing.T) {
	const end, endHTTP = "delete it if nothing needs it, or give the Application another name", "delete it, after which nothing serves its host names for up to 30 s, or give the Application another name"
	handOver, long := "hand it over as docs/guides/migrate.md says, ", strings.Repeat("b", 63)
	for _, test := range []struct {
		kind   child.Kind
		name   string
		routes []string
		want   string
	}{
		{child.Ingress, "web", []string{"a"}, handOver + "remove spec.routes so that it stays, " + end},
		{child.Ingress, "web", []string{"a", "b"}, handOver + end},
		{child.Ingress, "web-b", []string{"a", "b", "c"}, handOver + "remove or rename route b in spec.routes so that it stays, " + end},
		{child.HTTPRoute, "web", []string{"a"}, "remove spec.routes so that it stays, " + endHTTP},
		{child.HTTPRoute, "web-redirect", []string{"a"}, "remove spec.routes so that it stays, " + endHTTP},
		{child.HTTPRoute, "web", []string{"a", "b"}, endHTTP},
		{child.HTTPRoute, "web-redirect", []string{"a", "b"}, endHTTP},
		{child.HTTPRoute, "web-c", []string{"a", "b", "c"}, "remove or rename route c in spec.routes so that it stays, " + endHTTP},
		{child.HTTPRoute, "web-b-redirect", []string{"a", "b"}, "remove or rename route b in spec.routes so that it stays, " + endHTTP},
		{child.HTTPRoute, "web-" + long[:48] + "-0123456789", []string{"a", long}, endHTTP}, // The name was cut.
	} {
		app := &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
		for _, route := range test.routes {
			app.Spec.Routes = append(app.Spec.Routes, v1.Route{Name: route})
		}
		ref, want := child.Ref{Kind: test.kind, Namespace: "shop", Name: test.name}, test.kind.Kind+" "+test.name+" exists and does not belong to the Application; "+test.want
		if got := plan.NotOwnedMessage(app, ref, &networkingv1.Ingress{}); got != want {
			t.Errorf("beside routes %q: %q, want %q", test.routes, got, want)
		}
	}
}

// A class may ask for a NetworkPolicy. The spec, which does not, cannot do without it.
func TestNotOwnedByAClass(t *testing.T) {
	const all = "NetworkPolicy web exists and does not belong to the Application; remove spec.networkPolicy so that it stays, delete it, or give the Application another name"
	application := &v1.Application{Spec: v1.ApplicationSpec{NetworkPolicy: &v1.NetworkPolicy{}}}
	for _, want := range []string{all, strings.Replace(all, "remove spec.networkPolicy so that it stays, ", "", 1)} {
		if got := plan.NotOwnedMessage(application, child.Ref{Kind: child.NetworkPolicy, Namespace: "shop", Name: "web"}, &metav1.PartialObjectMetadata{}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		application.Spec.NetworkPolicy = nil
	}
}

// A Service is adopted with its Deployment, so its message does not only say to delete it.
func TestNotOwnedService(t *testing.T) {
	const want = "Service web exists and does not belong to the Application; " +
		"let the Application adopt it (spec.adoptionPolicy), which keeps its address, delete it if nothing needs it, or give the Application another name"
	const never = "Service web exists and does not belong to the Application; delete it if nothing needs it, or give the Application another name"
	selector := map[string]string{"app": "web"}
	for name, test := range map[string]struct {
		live metav1.Object
		want string
	}{
		"that leads to pods":           {&corev1.Service{Spec: corev1.ServiceSpec{Selector: selector}}, want},
		"whose spec is unknown":        {&metav1.PartialObjectMetadata{}, want},
		"headless":                     {&corev1.Service{Spec: corev1.ServiceSpec{Selector: selector, ClusterIP: corev1.ClusterIPNone}}, never},
		"an alias":                     {&corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "db.example.com"}}, never},
		"with endpoints of its writer": {&corev1.Service{}, never},
	} {
		if got := plan.NotOwnedMessage(&v1.Application{}, child.Ref{Kind: child.Service, Namespace: "shop", Name: "web"}, test.live); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Of all objects in the way, only a Deployment has pods that a user may want to keep while it goes. It can be adopted, unless
// a deployment tool manages it, or its selector cannot stay.
func TestNotOwnedDeployment(t *testing.T) {
	const begin, end = "Deployment web exists and does not belong to the Application; ", "delete it with --cascade=orphan, which keeps its pods, or give the Application another name"
	deployment := &appsv1.Deployment{}
	for _, want := range []string{begin + "let the Application adopt it (spec.adoptionPolicy), which replaces no pod until you say so, " + end, begin + end} {
		if got := plan.NotOwnedMessage(&v1.Application{}, child.Ref{Kind: child.Deployment, Namespace: "shop", Name: "web"}, deployment); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		deployment.Annotations = map[string]string{"meta.helm.sh/release-name": "web"}
	}
	deployment = &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Selector: expressions()}}
	if got := plan.NotOwnedMessage(&v1.Application{}, child.Ref{Kind: child.Deployment, Namespace: "shop", Name: "web"}, deployment); got != begin+end {
		t.Errorf("%q, want %q", got, begin+end)
	}
	ours := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{"meta.helm.sh/release-name": "web"}}}
	ours.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	ours.Spec.Template.Labels = map[string]string{"app": "web", v1.LabelApplication: "web"}
	const over = begin + "delete it with --cascade=orphan, after which the Application's own takes its pods over and replaces them, or give the Application another name"
	if got := plan.NotOwnedMessage(&v1.Application{}, child.Ref{Kind: child.Deployment, Namespace: "shop", Name: "web"}, ours); got != over {
		t.Errorf("%q, want %q", got, over)
	}
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "uid"}, Spec: v1.ApplicationSpec{AdoptionPolicy: v1.AdoptionConsented}}
	const refused = "Deployment web cannot be adopted because of spec.selector.matchExpressions: only matchLabels can stay; " + end
	step := plan.Step{Ref: child.Ref{Kind: child.Deployment, Namespace: "shop", Name: "web"}}.Foreign(application, deployment)
	if step.Adoption != plan.AdoptionRefused || step.Reason != refused {
		t.Errorf("%s: %q, want %q", step.Adoption, step.Reason, refused)
	}
}

// expressions are a selector that an adopted Deployment cannot keep.
func expressions() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"web"}}}}
}
