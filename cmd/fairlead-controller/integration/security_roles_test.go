// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const (
	artifacts = "../../../artifacts"
	// operatorNamespace and shippedAccount are those of the manifests.
	operatorNamespace = "fairlead-system"
	shippedAccount    = "fairlead-controller"
)

// shippedRoles are the manifests of all that the controller may be granted.
var shippedRoles = []string{
	"rbac/watched/role.yaml", "rbac/watched/binding.yaml", "rbac/own/role.yaml", "rbac/classes/role.yaml",
	"rbac/cluster/role.yaml", "components/secrets-access/secrets-access.yaml",
}

// neverAsked are granted verbs that this scenario cannot show, and why they are granted all the same.
var neverAsked = map[string]string{
	"update apps.fairlead.dev/applications/finalizers": "is asked by no request: an admission plugin wants it for blockOwnerDeletion",
	"patch apps.fairlead.dev/applications/status":      "only after a conflict with somebody who changes labels at that moment; TestF11BusyMetadata",
	"patch events.k8s.io/events":                       "only for an Event that repeats within minutes",
	"get apps.fairlead.dev/applicationclasses":         "a class is read from the cache; kept beside list and watch",
	"get /namespaces":                                  "only by a webhook, for a namespace that the cache does not have yet; TestClassSelectsNamespaces",
	"delete apps/deployments":                          "an Application always has its Deployment; the garbage collector deletes it",
}

func (e *env) manifest(file string) string {
	e.Helper()
	content, err := os.ReadFile(filepath.Join(artifacts, filepath.FromSlash(file)))
	if err != nil {
		e.Fatal(err)
	}
	return string(content)
}

// granted is what the manifests grant, as "verb group/resource".
func (e *env) granted() map[string]bool {
	e.Helper()
	all := map[string]bool{}
	for _, file := range shippedRoles {
		for _, u := range e.decode(e.manifest(file)) {
			if u.GetKind() != "Role" && u.GetKind() != "ClusterRole" {
				continue
			}
			role := &rbacv1.ClusterRole{} // A Role has its rules at the same place.
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, role); err != nil {
				e.Fatal(err)
			}
			for _, rule := range role.Rules {
				for _, group := range rule.APIGroups {
					for _, resource := range rule.Resources {
						for _, verb := range rule.Verbs {
							all[verb+" "+group+"/"+resource] = true
						}
					}
				}
			}
		}
	}
	return all
}

// asked is the same of a request.
func asked(event *controlplane.AuditEvent) string {
	resource := event.Resource
	if event.Subresource != "" {
		resource += "/" + event.Subresource
	}
	return event.Verb + " " + event.APIGroup + "/" + resource
}

// asShipped makes the controller act as the ServiceAccount of the manifests, with its roles alone.
func (e *env) asShipped() func(*setup) {
	e.Helper()
	for _, file := range append([]string{"controller/namespace.yaml", "controller/service-account.yaml"}, shippedRoles...) {
		e.applyAnywhere(e.manifest(file))
	}
	for _, file := range operatorFence {
		e.applyAnywhere(e.manifest(file))
	}
	// Nothing answers at the Service of the manifests here, so the API server must not depend on it.
	e.applyAnywhere(strings.ReplaceAll(e.manifest("webhook/configurations.yaml"), "failurePolicy: Fail", "failurePolicy: Ignore"))
	request, err := e.kube.CoreV1().ServiceAccounts(operatorNamespace).CreateToken(e.Context(), shippedAccount, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		e.Fatal(err)
	}
	return func(s *setup) {
		s.Namespaces, s.OperatorNamespace = nil, operatorNamespace
		s.Serving.MetricsBindAddress, s.Serving.WebhookBindAddress = ":0", "127.0.0.1:0"
		s.Serving.CertSecret = certSecret
		before := s.Config
		s.Config = func(config *app.Config) {
			before(config)
			agent := config.Client.UserAgent
			config.Client = rest.AnonymousClientConfig(config.Client)
			config.Client.UserAgent, config.Client.BearerToken, config.Client.QPS = agent, request.Status.Token, -1
		}
	}
}

// applyAnywhere applies manifests that say their namespace themselves.
func (e *env) applyAnywhere(manifest string) {
	e.Helper()
	for _, u := range e.decode(manifest) {
		resource := e.dynamic.Resource(e.mapping(u.GroupVersionKind()).Resource)
		var err error
		if e.namespaced(u.GroupVersionKind()) {
			_, err = resource.Namespace(u.GetNamespace()).Apply(e.Context(), u.GetName(), u, metav1.ApplyOptions{FieldManager: "kubectl", Force: true})
		} else {
			_, err = resource.Apply(e.Context(), u.GetName(), u, metav1.ApplyOptions{FieldManager: "kubectl", Force: true})
		}
		if err != nil {
			e.Fatalf("apply %s %s: %v", u.GetKind(), u.GetName(), err)
		}
	}
}

// TestS1ShippedRoles runs the controller with the roles that ship and nothing else, through all that
// it can do. RBAC itself refuses what they lack; the audit log tells what they have for nothing.
func TestS1ShippedRoles(t *testing.T) {
	t.Parallel()
	e := newEnv(t, controlplane.ForTest(t, controlplane.WithAuditLog()))
	e.create("{apiVersion: apps.fairlead.dev/v1, kind: ApplicationClass, metadata: {name: gold}, spec: {defaults: {terminationGracePeriodSeconds: 20}}}")
	e.cluster.InstallCRDs(t, gatewayDefinition(t))
	e.cluster.InstallCRDs(t, monitorDefinition(t))
	since := e.cluster.AuditCursor(t)
	r := e.replica("shipped", e.asShipped())
	r.waitFor("Starting workers")
	e.useEverything(r)
	r.cancel()
	if err := r.ended(); err != nil {
		t.Errorf("the controller ended with %v", err)
	}

	granted, seen := e.granted(), map[string]int{}
	for _, event := range since.Events(t, controlplane.FromUserAgent(r.agent)) {
		if event.Code == http.StatusForbidden {
			t.Errorf("the roles lack: %s", event)
		}
		if event.Resource == "" || event.Resource == "selfsubjectaccessreviews" {
			continue // Everybody may discover, and ask about himself: system:discovery and system:basic-user.
		}
		request := asked(&event)
		seen[request]++
		if !granted[request] {
			t.Errorf("no manifest grants: %s", event)
		}
	}
	t.Logf("requests by verb and resource:\n%s", table(seen))
	for _, permission := range slices.Sorted(maps.Keys(granted)) {
		_, excused := neverAsked[permission]
		resource, list := strings.CutPrefix(permission, "list ")
		// Where an API server streams the first state in a watch, an informer does not list. Older ones do not.
		streamed := list && seen["watch "+resource] > 0
		if seen[permission] == 0 && !excused && !streamed {
			t.Errorf("granted, but never asked: %s", permission)
		}
	}
	for permission, reason := range neverAsked {
		if !granted[permission] || reason == "" {
			t.Errorf("%s is excused, but not granted", permission)
		}
	}
}

// useEverything takes the controller through each of its features.
func (e *env) useEverything(r *replica) {
	e.Helper()
	e.apply(full, named(small, "kept")+"  deletionPolicy: Orphan\n", db, strings.ReplaceAll(using, "{name: web}", "{name: using}"))
	e.create(named(small, "classy") + "  className: gold\n")
	for _, name := range []string{"web", "kept", "using", "classy"} {
		e.waitReady(name)
	}
	edit(e, "db", func(s *corev1.Secret) { s.Data["password"] = []byte("another") })
	e.waitEvent("using", v1.EventConfigChanged, "Deployment", "using")
	e.waitCounts("gold", 1, 1, 0)

	e.apply(named(routed, "routed"))
	e.accept("routed")
	for _, kind := range append(namedKinds(), child.OptionalKinds()...) {
		name := childName(kind, "web")
		if kind.Optional() {
			name = "routed"
		}
		// Repaired by an apply; found again by a get after the informer has lost it.
		e.patch(kind, name, types.MergePatchType, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`)
		e.waitFields(kind, name, fields{`metadata.labels.app\.kubernetes\.io/managed-by`: v1.ManagedBy})
	}
	revision := get[appsv1.Deployment](e, "web").Annotations[v1.AnnotationRevision]
	e.patch(child.ControllerRevision, revision, types.MergePatchType, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`)
	e.waitFields(child.ControllerRevision, revision, fields{`metadata.labels.app\.kubernetes\.io/managed-by`: v1.ManagedBy})
	e.editSpec("web", func(spec *v1.ApplicationSpec) {
		spec.Image, spec.RevisionHistoryLimit = "registry.example.com/web:2", new(int32(0))
	})
	e.eventually("the former revision is deleted", func() (bool, string) { return e.live(child.ControllerRevision, revision) == nil, "" })
	e.apply(named(small, "web") + "  replicas: 2\n  serviceAccount: {name: default}\n  disruptionBudget: {mode: Disabled}\n")
	for _, kind := range namedKinds() {
		if kind == child.Deployment {
			continue
		}
		e.eventually(fmt.Sprintf("%s is deleted", kind), func() (bool, string) { return e.live(kind, childName(kind, "web")) == nil, "" })
	}
	e.editSpec("routed", func(spec *v1.ApplicationSpec) { spec.Routes, spec.Monitoring = nil, nil })
	for _, kind := range child.OptionalKinds() {
		e.eventually(fmt.Sprintf("%s is deleted", kind), func() (bool, string) { return e.live(kind, "routed") == nil, "" })
	}
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.ReconcilePolicy = v1.ReconcileSuspend })
	remove[v1.Application](e, "kept")
	waitGone[v1.Application](e, "kept")
	remove[v1.Application](e, "web")
	waitGone[v1.Application](e, "web")
	e.useServing(r)
}

// useServing asks the metrics page, and garbles the certificate, which is made again.
func (e *env) useServing(r *replica) {
	e.Helper()
	operator := e.sub(e.TB)
	operator.namespace = operatorNamespace
	trusted, stranger := operator.trusted(), operator.token("stranger")
	e.eventually("the metrics page asks who is there", func() (bool, string) {
		code, body := operator.ask("https://"+r.served("metrics")+"/metrics", stranger, trusted)
		return code == http.StatusForbidden, body
	})
	secrets := e.kube.CoreV1().Secrets(operatorNamespace)
	garbled := []byte(`{"data":{"tls.crt":"Z2FyYmxlZA=="}}`)
	if _, err := secrets.Patch(e.Context(), certSecret, types.MergePatchType, garbled, metav1.PatchOptions{}); err != nil {
		e.Fatal(err)
	}
	e.eventually("the certificate is made again", func() (bool, string) {
		secret, err := secrets.Get(e.Context(), certSecret, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return strings.HasPrefix(string(secret.Data["tls.crt"]), "-----BEGIN CERTIFICATE"), "garbled"
	})
}
