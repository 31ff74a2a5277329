// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// Classes are the whole cluster's, so that their tests have one of their own. Nothing runs pods in it:
// what a class does, it does to Deployments.
func classCluster(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	return controlplane.ForTest(t, controlplane.APIOnly())
}

// everywhere watches all namespaces: only such a controller counts the Applications of a class.
func everywhere(s *setup) { s.Namespaces = nil }

func withWebhooks(s *setup) {
	s.Serving.WebhookBindAddress, s.Serving.WebhookURL = "127.0.0.1:0", "https://127.0.0.1:0"
}

// class is a class whose pods have the priority.
func class(name, priority string, more ...string) string {
	isDefault := ""
	if name == "standard" {
		isDefault = `, annotations: {applicationclass.apps.fairlead.dev/is-default: "true"}`
	}
	return fmt.Sprintf("apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: %s%s}\nspec:\n  defaults: {priorityClassName: %s}\n%s",
		name, isDefault, priority, strings.Join(more, "\n"))
}

// classed is an Application; more are fields of its spec.
func classed(name string, more ...string) string {
	return fmt.Sprintf("apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: %s}\nspec:\n  image: registry.example.com/web:1\n%s", name, strings.Join(more, "\n"))
}

// waitPriority waits until the Deployment's pods have the priority, and returns the Deployment.
func (e *env) waitPriority(name, priority string) *appsv1.Deployment {
	e.Helper()
	var deployment *appsv1.Deployment
	e.eventually(fmt.Sprintf("the pods of %s have the priority %q", name, priority), func() (bool, string) {
		if deployment = find[appsv1.Deployment](e, name); deployment == nil {
			return false, "no Deployment"
		}
		got := deployment.Spec.Template.Spec.PriorityClassName
		return got == priority, got
	})
	return deployment
}

// waitCounts waits until the class says that it has so many Applications, updated and failing ones.
func (e *env) waitCounts(name string, want ...int32) *v1.ApplicationClass {
	e.Helper()
	var found *v1.ApplicationClass
	e.eventually(fmt.Sprintf("class %s counts %v", name, want), func() (bool, string) {
		var err error
		if found, err = e.fairlead.AppsV1().ApplicationClasses().Get(e.Context(), name, metav1.GetOptions{}); err != nil {
			return false, err.Error()
		}
		s := found.Status
		return s.ObservedGeneration == found.Generation && [3]int32{s.Applications, s.Updated, s.Failing} == [3]int32(want), fmt.Sprintf("%+v", s)
	})
	return found
}

// TestClasses goes through the life of classes with the webhooks off: the sync alone does it all.
func TestClasses(t *testing.T) {
	t.Parallel()
	e := newEnv(t, classCluster(t))
	e.apply(class("gold", "high"), class("standard", "low"))
	e.run(everywhere)
	e.apply(classed("named", "  className: gold", "  replicas: 2"), classed("default"), classed("waiting", "  className: later"))

	// Each takes what it leaves open, and says so; nothing is written into a spec.
	e.waitPriority("named", "high")
	before := e.waitPriority("default", "low")
	application := e.waitApplication("default", "tells its class", func(a *v1.Application) bool { return a.Status.Class != nil })
	if applied := application.Status.Class; applied.Name != "standard" || applied.Generation != 1 || applied.Defaults.PriorityClassName != "low" {
		t.Errorf("status.class is %+v", applied)
	}
	if application.Generation != 1 || application.Spec.ClassName != "" || application.Spec.PriorityClassName != "" {
		t.Errorf("the spec was changed: %+v", application.Spec)
	}
	if gold := e.waitCounts("gold", 1, 1, 0); !meta.IsStatusConditionTrue(gold.Status.Conditions, v1.ConditionReady) {
		t.Errorf("the class says %+v", gold.Status.Conditions)
	}
	if standard := e.waitCounts("standard", 1, 1, 0); !meta.IsStatusConditionTrue(standard.Status.Conditions, v1.ConditionDefault) {
		t.Errorf("the default class says %+v", standard.Status.Conditions)
	}

	// A missing class is waited for.
	e.waitCondition("waiting", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonClassNotFound)
	e.apply(class("later", "late"))
	e.waitPriority("waiting", "late")

	// A change concerns the Applications of the class alone.
	e.apply(class("gold", "higher"))
	kept := e.waitPriority("named", "higher")
	e.waitCounts("gold", 1, 1, 0)
	if after := get[appsv1.Deployment](e, "default"); after.Generation != before.Generation {
		t.Errorf("the Deployment of an Application of another class was changed: generation %d, was %d", after.Generation, before.Generation)
	}

	// A limit that comes later stalls, with the last good children; so does a class that goes.
	e.apply(class("gold", "highest", "  limits: {maxReplicas: 1}"))
	stalled := e.waitCondition("named", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonClassLimitExceeded)
	if message := meta.FindStatusCondition(stalled.Status.Conditions, v1.ConditionStalled).Message; !strings.Contains(message, `spec.replicas: Invalid value: 2: ApplicationClass "gold" allows at most 1`) {
		t.Errorf("the message is %q", message)
	}
	// Status says what is applied, and beside it what is refused; the class names the Application.
	if applied, refused := stalled.Status.Class, stalled.Status.RefusedClass; applied.Generation != 2 || applied.Defaults.PriorityClassName != "higher" ||
		refused == nil || *refused != (v1.RefusedClass{Name: "gold", Generation: 3}) {
		t.Errorf("status.class is %+v, status.refusedClass %+v", applied, refused)
	}
	gold := e.waitCounts("gold", 1, 0, 1)
	want := fmt.Sprintf("Fairlead refuses 1 of 1 Application of the class, and leaves its children as they are: %s/named (ClassLimitExceeded).", e.namespace)
	if ready := meta.FindStatusCondition(gold.Status.Conditions, v1.ConditionReady); ready.Status != metav1.ConditionFalse || ready.Message != want {
		t.Errorf("the class says %s: %q, want %q", ready.Status, ready.Message, want)
	}
	if err := e.fairlead.AppsV1().ApplicationClasses().Delete(t.Context(), "gold", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.waitCondition("named", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonClassNotFound)
	if after := get[appsv1.Deployment](e, "named"); after.UID != kept.UID || after.Generation != kept.Generation {
		t.Errorf("the Deployment was changed: generation %d, was %d", after.Generation, kept.Generation)
	}

	// The column says which of two defaults counts: the name is first, should both be created in the same second.
	e.apply(strings.Replace(class("a-newer", "new"), "{name: a-newer", `{name: a-newer, annotations: {applicationclass.apps.fairlead.dev/is-default: "true"}`, 1))
	e.waitPriority("default", "new")
	e.waitCounts("standard", 0, 0, 0)
	e.eventually("the column DEFAULT tells the two apart", func() (bool, string) {
		rows := e.row(v1.ApplicationClassResource, "standard") + "\n" + e.row(v1.ApplicationClassResource, "a-newer")
		return rows == "standard False True 0 0 0\na-newer True True 1 1 0", rows
	})

	// The annotation makes another class the default.
	e.apply(strings.Replace(class("a-newer", "new"), "{name", `{annotations: {applicationclass.apps.fairlead.dev/is-default: "false"}, name`, 1))
	e.waitPriority("default", "low")
	e.apply(strings.Replace(class("standard", "low"), `"true"`, `"false"`, 1))
	e.waitPriority("default", "")
}

// TestClassesAtTheRequest is about what the webhooks add.
func TestClassesAtTheRequest(t *testing.T) {
	t.Parallel()
	e := newEnv(t, classCluster(t))
	e.apply(class("standard", "low", "  limits: {allowedRegistries: [registry.example.com], maxReplicas: 3}"), class("spare", "low"))
	e.run(everywhere, withWebhooks)
	applications := e.fairlead.AppsV1().Applications(e.namespace)
	create := func(change func(*v1.ApplicationSpec), options metav1.CreateOptions) (*v1.Application, error) {
		a := &v1.Application{Spec: v1.ApplicationSpec{Image: "registry.example.com/web:1"}}
		a.Name = "web"
		change(&a.Spec)
		return applications.Create(t.Context(), a, options)
	}
	dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	e.eventually("the default class is stamped", func() (bool, string) {
		stamped, err := create(func(*v1.ApplicationSpec) {}, dryRun)
		if err != nil {
			return false, err.Error()
		}
		return stamped.Spec.ClassName == "standard", stamped.Spec.ClassName
	})

	exceeding := func(s *v1.ApplicationSpec) { s.Image, s.Replicas = "evil.example.com/web:1", new(int32(4)) }
	// The API server learns of each webhook configuration by a watch of its own.
	e.eventually("the validating webhook is called", func() (bool, string) {
		_, err := create(exceeding, dryRun)
		return apierrors.IsInvalid(err), fmt.Sprint(err)
	})
	_, err := create(exceeding, metav1.CreateOptions{})
	for _, part := range []string{
		`spec.image: Invalid value: "evil.example.com/web:1": ApplicationClass "standard" allows images of registry.example.com`,
		`spec.replicas: Invalid value: 4: ApplicationClass "standard" allows at most 3`,
	} {
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), part) {
			t.Errorf("an Application that exceeds its class: %v; want %s", err, part)
		}
	}
	if _, err := create(func(*v1.ApplicationSpec) {}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.waitPriority("web", "low")

	classes := e.fairlead.AppsV1().ApplicationClasses()
	e.eventually("a class in use is not deleted", func() (bool, string) {
		err := classes.Delete(t.Context(), "standard", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsConflict(err) && strings.Contains(err.Error(), "is in use by 1 Application ("+e.namespace+"/web)"), fmt.Sprint(err)
	})
	if err := classes.Delete(t.Context(), "spare", metav1.DeleteOptions{}); err != nil {
		t.Errorf("a class that nobody uses: %v", err)
	}
	invalid := &v1.ApplicationClass{Spec: v1.ApplicationClassSpec{Defaults: &v1.ApplicationDefaults{PriorityClassName: "Not A Name"}}}
	invalid.Name = "invalid"
	if _, err := classes.Create(t.Context(), invalid, metav1.CreateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.defaults.priorityClassName") {
		t.Errorf("an invalid class: %v", err)
	}
	// An Application can always be deleted, and its class after it.
	remove[v1.Application](e, "web")
	e.eventually("a class that is not in use any more is deleted", func() (bool, string) {
		err := classes.Delete(t.Context(), "standard", metav1.DeleteOptions{})
		return err == nil, fmt.Sprint(err)
	})
}

// TestClassRules has what the CRD alone refuses.
func TestClassRules(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	for _, test := range []struct{ spec, field string }{
		{`defaults: {strategy: {type: Sometimes}}`, "spec.defaults.strategy"},
		{`defaults: {strategy: {type: Recreate, rollingUpdate: {}}}`, "spec.defaults.strategy"},
		{`defaults: {resources: {claims: [{name: a}]}}`, "spec.defaults.resources"},
		{`defaults: {progressDeadlineSeconds: 0}`, "spec.defaults.progressDeadlineSeconds"},
		{`defaults: {terminationGracePeriodSeconds: -1}`, "spec.defaults.terminationGracePeriodSeconds"},
		{`defaults: {imagePullSecrets: [{name: a}, {name: a}]}`, "spec.defaults.imagePullSecrets[1]"},
		{`defaults: {networkPolicy: {ingress: [{from: []}]}}`, "spec.defaults.networkPolicy.ingress[0].from"},
		{`defaults: {routes: {ingressClassName: ""}}`, "spec.defaults.routes.ingressClassName"},
		{`limits: {securityProfile: restricted}`, "spec.limits.securityProfile"},
		{`limits: {allowedRegistries: ["https://ghcr.io"]}`, "spec.limits.allowedRegistries[0]"},
		{`limits: {allowedRegistries: [a.io, a.io]}`, "spec.limits.allowedRegistries[1]"},
		{`limits: {allowedHostnames: ["*"]}`, "spec.limits.allowedHostnames[0]"},
		{`limits: {allowedHostnames: ["a.*.com"]}`, "spec.limits.allowedHostnames[0]"},
		{`limits: {allowedAnnotations: ["a*b"]}`, "spec.limits.allowedAnnotations[0]"},
		{`limits: {allowedServiceTypes: [ExternalName]}`, "spec.limits.allowedServiceTypes[0]"},
		{`limits: {maxReplicas: -1}`, "spec.limits.maxReplicas"},
		{`limits: {maxReplicas: 10001}`, "spec.limits.maxReplicas"},
	} {
		u := e.decode("apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: refused}\nspec: {" + test.spec + "}")[0]
		_, err := e.resource(u.GroupVersionKind()).Create(t.Context(), u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.field) {
			t.Errorf("%s: %v; want %s to be refused", test.spec, err, test.field)
		}
	}

	// What is left out and what is empty are two things, and stay so.
	u := e.decode("apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: accepted}\nspec: {limits: {allowedHostnames: []}}")[0]
	created, err := e.resource(u.GroupVersionKind()).Create(t.Context(), u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		t.Fatal(err)
	}
	limits, _, _ := unstructured.NestedMap(created.Object, "spec", "limits")
	if got := fmt.Sprint(limits); got != "map[allowForeignServiceAccounts:false allowedHostnames:[] requireResourceLimits:false]" {
		t.Errorf("stored are the limits %s", got)
	}
}
