// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// lax allows everything, in the namespaces of the platform's team.
const lax = `
apiVersion: apps.fairlead.dev/v1
kind: ApplicationClass
metadata: {name: lax}
spec:
  namespaceSelector: {matchLabels: {team: platform}}
  limits: {securityProfile: Privileged}
`

const privileged = "  podSecurityContext: {runAsNonRoot: false}\n  securityContext: {privileged: true, allowPrivilegeEscalation: true, runAsNonRoot: false}"

// writer is a role for Applications. Nothing aggregates Kubernetes' own roles in a cluster of the API server alone.
const writer = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: writer}
rules:
- {apiGroups: [apps.fairlead.dev], resources: [applications], verbs: [get, create, update, patch, delete]}
`

// asWriter is the environment with the rights of a tenant who may write Applications and nothing else.
func (e *env) asWriter() *env {
	e.Helper()
	e.applyAnywhere(writer)
	return e.as("writer")
}

// labelNamespace gives the namespace of the test a team; "" takes it away.
func (e *env) labelNamespace(team string) {
	e.Helper()
	value := "null"
	if team != "" {
		value = `"` + team + `"`
	}
	patch := []byte(`{"metadata":{"labels":{"team":` + value + `}}}`)
	if _, err := e.kube.CoreV1().Namespaces().Patch(e.Context(), e.namespace, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		e.Fatal(err)
	}
}

// TestS22ClassesOfOthersWithoutWebhooks lets a tenant name the class of another team, which allows privileged pods: it
// gets none, with no webhook to refuse it, until the platform lets its namespace have the class, and none afterwards.
func TestS22ClassesOfOthersWithoutWebhooks(t *testing.T) {
	t.Parallel()
	e := newEnv(t, classCluster(t))
	e.apply(lax)
	e.run(everywhere)
	tenant := e.asWriter()
	tenant.create(classed("thief", "  className: lax", privileged))
	stalled := e.waitCondition("thief", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonClassNotAllowed)
	if message := describe(stalled); !strings.Contains(message, fmt.Sprintf(`ApplicationClass "lax" does not select namespace %q`, e.namespace)) {
		t.Errorf("the Application says %s", message)
	}
	if find[appsv1.Deployment](e, "thief") != nil {
		t.Fatal("there are privileged pods")
	}

	e.labelNamespace("platform")
	e.eventually("the Deployment is made", func() (bool, string) { return find[appsv1.Deployment](e, "thief") != nil, "" })
	made := get[appsv1.Deployment](e, "thief")
	e.waitCounts("lax", 1, 1, 0)

	// What was allowed once is kept as it is, and changed no more.
	e.labelNamespace("")
	e.waitCondition("thief", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonClassNotAllowed)
	e.editSpec("thief", func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/evil:1" })
	e.eventually("the edit is seen", func() (bool, string) {
		application := e.application("thief")
		return application.Status.ObservedGeneration == application.Generation, describe(application)
	})
	if after := get[appsv1.Deployment](e, "thief"); after.UID != made.UID || after.Generation != made.Generation {
		t.Errorf("the Deployment was changed: generation %d, was %d", after.Generation, made.Generation)
	}
	// A selector that is opened lets it go on.
	e.apply(strings.Replace(lax, "  namespaceSelector: {matchLabels: {team: platform}}\n", "", 1))
	e.eventually("the edit is applied", func() (bool, string) {
		image := get[appsv1.Deployment](e, "thief").Spec.Template.Spec.Containers[0].Image
		return image == "registry.example.com/evil:1", image
	})
}

// TestS22NoClassAtAll: where classes are required, none is no way around their limits. The default class counts in the
// namespaces that it selects alone.
func TestS22NoClassAtAll(t *testing.T) {
	t.Parallel()
	e := newEnv(t, classCluster(t))
	forTeam := "  namespaceSelector: {matchLabels: {team: shop}}\n"
	e.apply(class("standard", "low", forTeam))
	e.run(everywhere, func(s *setup) { s.RequireClass = true })
	tenant := e.asWriter()
	tenant.create(classed("web"))
	e.waitCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonClassRequired)
	if find[appsv1.Deployment](e, "web") != nil {
		t.Fatal("there are pods without a class")
	}
	e.labelNamespace("shop")
	e.waitPriority("web", "low")
	e.waitCounts("standard", 1, 1, 0)
}

// TestS22ClassesAtTheRequest is the same at the request. The namespace is as young as the Application.
func TestS22ClassesAtTheRequest(t *testing.T) {
	t.Parallel()
	e := newEnv(t, classCluster(t))
	e.apply(lax)
	e.run(everywhere, withWebhooks, func(s *setup) { s.RequireClass = true })
	e.applyAnywhere(writer)
	tenant := e.tenant("writer").AppsV1().Applications(e.namespace)
	create := func(className string) error {
		a := &v1.Application{Spec: v1.ApplicationSpec{Image: "registry.example.com/web:1", ClassName: className}}
		a.Name = "web"
		_, err := tenant.Create(t.Context(), a, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	for className, want := range map[string]string{"lax": `ApplicationClass "lax" does not select namespace`, "": "no default ApplicationClass selects namespace"} {
		e.eventually("class "+className+" is refused", func() (bool, string) {
			err := create(className)
			return apierrors.IsInvalid(err) && strings.Contains(err.Error(), want), fmt.Sprint(err)
		})
	}
	e.labelNamespace("platform")
	e.eventually("the class is allowed", func() (bool, string) {
		err := create("lax")
		return err == nil, fmt.Sprint(err)
	})
}

// TestF25UnreadableClassesAreNotAbsent starts a controller that may not read classes. Nothing is changed, and /readyz and
// the log say why; it goes on once it may, without a restart.
func TestF25UnreadableClassesAreNotAbsent(t *testing.T) {
	t.Parallel()
	e := newEnv(t, controlplane.ForTest(t, controlplane.APIOnly()))
	shipped := e.asShipped()
	serving := func(s *setup) { s.Serving.HealthBindAddress = "127.0.0.1:0" }
	e.apply(class("standard", "low"))
	first := e.replica("first", shipped, serving)
	first.waitFor("Starting workers")
	e.apply(classed("web"))
	before := e.waitPriority("web", "low")
	first.cancel()
	if err := first.ended(); err != nil {
		t.Fatal(err)
	}

	denied := versioned.NewForConfigOrDie(e.cluster.ConfigFor("system:serviceaccount:" + operatorNamespace + ":" + shippedAccount))
	bindings := e.kube.RbacV1().ClusterRoleBindings()
	if err := bindings.Delete(t.Context(), "fairlead-controller-classes", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.eventually("the permission is gone", func() (bool, string) {
		_, err := denied.AppsV1().ApplicationClasses().List(t.Context(), metav1.ListOptions{})
		return apierrors.IsForbidden(err), fmt.Sprint(err)
	})
	second := e.replica("second", shipped, serving)
	second.waitFor("No permission to read ApplicationClasses")
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Replicas = new(int32(2)) })
	health := "http://" + second.served("health")
	if code, body := e.ask(health+"/readyz?verbose", "", nil); code == http.StatusOK {
		t.Errorf("/readyz is %d %s", code, body)
	}
	if code, body := e.ask(health+"/livez?verbose", "", nil); code != http.StatusOK {
		t.Errorf("/livez is %d %s", code, body)
	}
	if after := get[appsv1.Deployment](e, "web"); after.Generation != before.Generation {
		t.Errorf("the Deployment was changed: generation %d, was %d", after.Generation, before.Generation)
	}

	e.applyAnywhere(e.manifest("rbac/classes/role.yaml"))
	second.waitFor("Starting workers")
	e.eventually("the edit is applied", func() (bool, string) {
		replicas := *get[appsv1.Deployment](e, "web").Spec.Replicas
		return replicas == 2, fmt.Sprint(replicas)
	})
	e.waitPriority("web", "low")
}
