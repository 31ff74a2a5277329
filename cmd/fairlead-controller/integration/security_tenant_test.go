// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation/corpus"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	appsclient "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/apps/v1"
)

// tenant returns the client of a user with one of Kubernetes' own roles in the namespace of the test, which the
// shipped roles extend. Without a role, the user is authenticated but has no permissions.
func (e *env) tenant(role string) versioned.Interface {
	e.Helper()
	user := "tenant-" + role
	client := versioned.NewForConfigOrDie(e.cluster.ConfigFor(user + "." + e.namespace))
	if role == "" {
		return client
	}
	e.applyAnywhere(e.manifest("rbac/users/roles.yaml"))
	e.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user + "." + e.namespace}},
	})
	e.eventually("the role "+role+" has the rules for Applications", func() (bool, string) {
		_, err := client.AppsV1().Applications(e.namespace).Get(e.Context(), "none", metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
	return client
}

// as is the environment with the tenant's rights: what it makes, the tenant makes.
func (e *env) as(role string) *env {
	e.Helper()
	e.tenant(role)
	copied := e.sub(e.TB)
	copied.dynamic = dynamic.NewForConfigOrDie(e.cluster.ConfigFor("tenant-" + role + "." + e.namespace))
	return copied
}

// TestS2WhoMayWriteApplications holds what the shipped roles let people do in their namespace, and
// what in the others. Who may create an Application may create pods: so edit may, and view may not.
func TestS2WhoMayWriteApplications(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	other := e.cluster.Namespace(t)
	e.create(small)
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Spec: v1.ApplicationSpec{Image: "registry.example.com/web:1"}}
	dryRun := []string{metav1.DryRunAll}
	attempts := []struct {
		what    string
		do      func(client appsclient.AppsV1Interface) error
		allowed string // the roles that may
	}{
		{"read", func(c appsclient.AppsV1Interface) error {
			_, err := c.Applications(e.namespace).Get(t.Context(), "web", metav1.GetOptions{})
			return err
		}, "view edit admin"},
		{"create", func(c appsclient.AppsV1Interface) error {
			_, err := c.Applications(e.namespace).Create(t.Context(), application, metav1.CreateOptions{DryRun: dryRun})
			return err
		}, "edit admin"},
		{"change", func(c appsclient.AppsV1Interface) error {
			_, err := c.Applications(e.namespace).Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":2}}`), metav1.PatchOptions{DryRun: dryRun})
			return err
		}, "edit admin"},
		{"delete", func(c appsclient.AppsV1Interface) error {
			return c.Applications(e.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{DryRun: dryRun})
		}, "edit admin"},
		{"delete all", func(c appsclient.AppsV1Interface) error {
			return c.Applications(e.namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{DryRun: dryRun}, metav1.ListOptions{})
		}, "admin"},
		{"write the status", func(c appsclient.AppsV1Interface) error {
			_, err := c.Applications(e.namespace).Patch(t.Context(), "web", types.MergePatchType, []byte(`{"status":{"image":"x"}}`), metav1.PatchOptions{DryRun: dryRun}, "status")
			return err
		}, ""},
		{"read in another namespace", func(c appsclient.AppsV1Interface) error {
			_, err := c.Applications(other).List(t.Context(), metav1.ListOptions{})
			return err
		}, ""},
		{"create in another namespace", func(c appsclient.AppsV1Interface) error {
			_, err := c.Applications(other).Create(t.Context(), application, metav1.CreateOptions{DryRun: dryRun})
			return err
		}, ""},
		{"read of all namespaces", func(c appsclient.AppsV1Interface) error {
			_, err := c.Applications(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
			return err
		}, ""},
		{"write a class", func(c appsclient.AppsV1Interface) error {
			_, err := c.ApplicationClasses().Create(t.Context(), &v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}, metav1.CreateOptions{DryRun: dryRun})
			return err
		}, ""},
	}
	for _, role := range []string{"", "view", "edit", "admin"} {
		client := e.tenant(role).AppsV1()
		for _, attempt := range attempts {
			want := role != "" && strings.Contains(attempt.allowed, role)
			if want {
				e.eventually(role+" may "+attempt.what, func() (bool, string) {
					err := attempt.do(client)
					return err == nil, fmt.Sprint(err)
				})
			} else if err := attempt.do(client); !apierrors.IsForbidden(err) {
				t.Errorf("%q tries to %s: %v, want it forbidden", role, attempt.what, err)
			}
		}
	}
}

// TestS2WhatEditGains holds which children an Application has made that edit may not make by hand: these and no
// others, as the shipped roles say themselves.
func TestS2WhatEditGains(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	e.tenant("edit")
	client := kubernetes.NewForConfigOrDie(e.cluster.ConfigFor("tenant-edit." + e.namespace))
	roles, err := os.ReadFile("../../../artifacts/rbac/users/roles.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var gained []child.Kind
	for _, kind := range child.AllKinds() {
		review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: e.namespace, Verb: "create", Group: kind.Group, Resource: kind.Resource,
			}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if review.Status.Allowed {
			continue
		}
		gained = append(gained, kind)
		if !strings.Contains(string(roles), "# - "+kind.Kind+"s") {
			t.Errorf("the shipped roles do not say that they bring %s", kind)
		}
	}
	if want := []child.Kind{child.ControllerRevision, child.HTTPRoute, child.ServiceMonitor}; !slices.Equal(gained, want) {
		t.Errorf("edit gets %v made that it may not make, want %v", gained, want)
	}
}

// TestS4PrivilegesWithoutWebhooks lets a tenant ask for every privilege that Pod Security restricted
// forbids, in every kind of container, where no webhook refuses it: the sync does, and makes nothing.
func TestS4PrivilegesWithoutWebhooks(t *testing.T) {
	t.Parallel()
	e := start(t)
	tenant := e.as("edit")
	cases := corpus.Forbidden()
	name := func(c corpus.Case) string {
		return strings.ReplaceAll(strings.TrimPrefix(c.Name, "forbidden/"), "/", "-")
	}
	for _, c := range cases {
		tenant.create(named(c.Object, name(c)))
	}
	for _, c := range cases {
		application := e.waitCondition(name(c), v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonInvalid)
		if message := describe(application); !strings.Contains(message, c.Errors[0]) || len(application.Status.Resources) > 0 {
			t.Errorf("%s: want it to stall for %s and to have no child: %s", c.Name, c.Errors[0], message)
		}
	}
	for _, kind := range []child.Kind{child.Deployment, child.Service} {
		list, err := e.children(kind).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) > 0 {
			t.Errorf("there are %d of kind %s, %v", len(list.Items), kind, err)
		}
	}
	// What the API has no field for is dropped, or refused where the client asks for it.
	for _, field := range []string{
		"hostNetwork: true", "hostPID: true", "hostIPC: true", "ephemeralContainers: [{name: a, image: a}]",
		"volumes: [{name: host, hostPath: {path: /}}]", "mounts: [{mountPath: /host, hostPath: {path: /}}]",
	} {
		_, err := tenant.resource(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind)).Create(t.Context(), e.decode(named(small, "host") + "  " + field + "\n")[0],
			metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, DryRun: []string{metav1.DryRunAll}})
		if err == nil || !strings.Contains(err.Error(), "unknown field") {
			t.Errorf("%s: %v; want an unknown field", field, err)
		}
	}
}

// TestS9RouteInjectionWithoutWebhooks: no child is made of an annotation or a path that would be read as
// configuration of a controller, or that has host names of others.
func TestS9RouteInjectionWithoutWebhooks(t *testing.T) {
	t.Parallel()
	e := start(t)
	tenant := e.as("edit")
	hostile := map[string]string{
		"snippet":        `annotations: {nginx.ingress.kubernetes.io/configuration-snippet: "proxy_pass http://evil;"}`,
		"server-snippet": `annotations: {nginx.ingress.kubernetes.io/server-snippet: "location / {}"}`,
		"auth-snippet":   `annotations: {nginx.ingress.kubernetes.io/auth-snippet: "x"}`,
		"haproxy":        `annotations: {haproxy-ingress.github.io/config-backend: "http-request deny"}`,
		"braces":         `paths: [{path: "/a{}", pathType: Prefix}]`,
		"statement":      `paths: [{path: "/a;return 200", pathType: ImplementationSpecific}]`,
		"line-break":     `paths: [{path: "/a\n}", pathType: ImplementationSpecific}]`,
		"quote":          `paths: [{path: "/a\"b", pathType: ImplementationSpecific}]`,
		"server-alias":   `annotations: {nginx.ingress.kubernetes.io/server-alias: victim.example.com}`,
		"dns":            `annotations: {external-dns.alpha.kubernetes.io/hostname: victim.example.com}`,
		"upwards":        `paths: [{path: "/a/../b", pathType: Exact}]`,
		"encoded":        `paths: [{path: "/a%2f..%2fb", pathType: Prefix}]`,
	}
	for name, route := range hostile {
		tenant.create(routedTo(name, "hostnames: ["+name+".example.com], "+route))
	}
	// Controllers read annotations of other children too.
	elsewhere := map[string]string{
		"of-service":  "  service: {annotations: {haproxy.org/backend-config-snippet: deny}}\n",
		"dns-service": "  service: {annotations: {external-dns.alpha.kubernetes.io/hostname: victim.example.com}}\n",
		"of-pods":     "  podMetadata: {annotations: {external-dns.alpha.kubernetes.io/hostname: victim.example.com}}\n",
		"of-account":  "  serviceAccount: {annotations: {nginx.org/server-snippets: deny}}\n",
		"mesh":        "  routes: [{name: a, type: HTTPRoute, hostnames: [mesh.example.com], parentRefs: [{group: '', kind: Service, name: victim}]}]\n",
	}
	for name, field := range elsewhere {
		tenant.create(named(small, name) + "  ports: [{name: http, containerPort: 80}]\n" + field)
	}
	maps.Copy(hostile, elsewhere)
	for name := range hostile {
		stalled := e.waitCondition(name, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonInvalid)
		if len(stalled.Status.Resources) > 0 {
			t.Errorf("%s has children: %+v", name, stalled.Status.Resources)
		}
	}
	for _, kind := range []child.Kind{child.Ingress, child.Service, child.ServiceAccount, child.Deployment} {
		list, err := e.children(kind).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range list.Items {
			if object.GetLabels()[v1.LabelManagedBy] == v1.ManagedBy {
				t.Errorf("there is a %s %s", kind, object.GetName())
			}
		}
	}
}

// TestS10SelectorHijack lets a tenant label its pods and itself as another's: the pods do not come
// up, and the selectors of both go on selecting their own.
func TestS10SelectorHijack(t *testing.T) {
	t.Parallel()
	e := start(t)
	tenant := e.as("edit")
	e.create(named(small, "victim"))
	tenant.create(named(small, "thief")+"  podMetadata: {labels: {apps.fairlead.dev/application: victim}}\n",
		strings.Replace(named(small, "label"), "{name: label}", "{name: label, labels: {apps.fairlead.dev/application: victim, app.kubernetes.io/name: victim}}", 1))
	e.waitReady("victim")
	e.waitCondition("thief", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonInvalid)
	if find[appsv1.Deployment](e, "thief") != nil {
		t.Error("the thief has a Deployment")
	}
	e.eventually("the one with forged labels is dealt with", func() (bool, string) {
		application := e.application("label")
		return application.Status.ObservedGeneration == application.Generation, describe(application)
	})
	list, err := e.kube.AppsV1().Deployments(e.namespace).List(context.WithoutCancel(t.Context()), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		deployment := &list.Items[i]
		for what, labels := range map[string]map[string]string{"selector": deployment.Spec.Selector.MatchLabels, "pods": deployment.Spec.Template.Labels} {
			if got := labels[v1.LabelApplication]; got != deployment.Name {
				t.Errorf("Deployment %s: the %s has the label of %q", deployment.Name, what, got)
			}
		}
	}
}
