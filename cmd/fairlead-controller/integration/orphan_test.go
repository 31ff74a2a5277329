// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestF23OrphanIsAlwaysHonoured combines deletionPolicy Orphan with every reconcilePolicy, every order of the edits
// that lead there, and every way to delete. No child may go, with the real garbage collector and without a
// webhook that puts the finalizer on.
func TestF23OrphanIsAlwaysHonoured(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.waitGarbageCollector()
	const exposed = small + "  ports: [{name: http, containerPort: 8080}]\n"
	set := func(reconcile v1.ReconcilePolicy, deletion v1.DeletionPolicy) func(*v1.ApplicationSpec) {
		return func(spec *v1.ApplicationSpec) {
			if reconcile != "" {
				spec.ReconcilePolicy = reconcile
			}
			if deletion != "" {
				spec.DeletionPolicy = deletion
			}
		}
	}
	edits := map[string][]func(*v1.ApplicationSpec){}
	for _, policy := range []v1.ReconcilePolicy{v1.ReconcileObserve, v1.ReconcileSuspend} {
		edits["at-once-"+string(policy)] = []func(*v1.ApplicationSpec){set(policy, v1.DeletionOrphan)}
		edits["orphan-first-"+string(policy)] = []func(*v1.ApplicationSpec){set("", v1.DeletionOrphan), set(policy, "")}
		edits["orphan-last-"+string(policy)] = []func(*v1.ApplicationSpec){set(policy, ""), set("", v1.DeletionOrphan)}
	}
	edits["later-enforce"] = []func(*v1.ApplicationSpec){set("", v1.DeletionOrphan)}
	edits["from-the-start"] = nil

	how := map[string]metav1.DeletionPropagation{}
	for order := range edits {
		for _, propagation := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
			name := strings.ToLower(order + "-" + string(propagation))
			how[name] = propagation
			spec := exposed
			if order == "from-the-start" {
				spec += orphan
			}
			e.apply(named(spec, name))
		}
	}
	before := map[string]map[string]types.UID{}
	for order, changes := range edits {
		for _, propagation := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
			name := strings.ToLower(order + "-" + string(propagation))
			e.waitReady(name)
			before[name] = withoutHistory(e.uids(name))
			if len(before[name]) != 3 {
				t.Fatalf("%s has %v, want three children", name, before[name])
			}
			for _, change := range changes {
				e.editSpec(name, change)
			}
		}
	}
	const edited = "later-enforce-background"
	const want = "Deployment " + edited + " stays when the Application is deleted: deletionPolicy is Orphan. Fairlead goes on with it as before."
	if got := e.waitEvent(edited, v1.EventOutlivesApplication, child.Deployment.Kind, edited).Note; got != want {
		t.Errorf("the Event says %q, want %q", got, want)
	}
	if left := e.events(edited, v1.EventOrphaned); len(left) > 0 {
		t.Errorf("Events of a deletion, which has not begun: %q", notes(left))
	}
	for name, propagation := range how {
		e.waitReleased(name)
		remove[v1.Application](e, name, propagation)
	}
	e.apply(named(exposed, "collected"))
	e.waitReady("collected")
	remove[v1.Application](e, "collected", metav1.DeletePropagationForeground)
	for name := range how {
		waitGone[v1.Application](e, name)
	}
	e.eventually("the garbage collector has come by", func() (bool, string) {
		left := e.uids("collected")
		return len(left) == 0, fmt.Sprint(left)
	})
	for name, want := range before {
		got := withoutHistory(e.uids(name))
		for ref, uid := range want {
			if got[ref] != uid {
				t.Errorf("%s: %s was %s and is %q", name, ref, uid, got[ref])
			}
		}
		if find[appsv1.Deployment](e, name).DeletionTimestamp != nil {
			t.Errorf("%s: the Deployment is being deleted", name)
		}
	}
}

// waitReleased waits until the garbage collector would delete no child with the Application: from then on Orphan
// is in effect.
func (e *env) waitReleased(name string) {
	e.Helper()
	e.eventually("the children of "+name+" are released", func() (bool, string) {
		for ref, owners := range e.owners(name) {
			if len(owners) > 0 {
				return false, fmt.Sprintf("%s has the owners %v", ref, owners)
			}
		}
		return len(e.application(name).Finalizers) > 0, "no finalizer"
	})
}

// TestF23OrphanToAndFro switches deletionPolicy of a running Application. The owners follow, no pod is replaced, and at
// the end the garbage collector deletes the children again.
func TestF23OrphanToAndFro(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.waitGarbageCollector()
	e.apply(full)
	e.waitReady("web")
	deployment := get[appsv1.Deployment](e, "web")
	for _, policy := range []v1.DeletionPolicy{v1.DeletionOrphan, v1.DeletionDelete, v1.DeletionOrphan, v1.DeletionDelete} {
		e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.DeletionPolicy = policy })
		application := e.waitReady("web")
		// What the status is about is in effect.
		for ref, owners := range e.owners("web") {
			if want := policy == v1.DeletionDelete; (len(owners) > 0) != want {
				t.Errorf("with %s %s has the owners %v", policy, ref, owners)
			}
		}
		for _, kind := range namedKinds() {
			live := e.live(kind, childName(kind, "web"))
			if _, annotated := live.GetAnnotations()[v1.AnnotationOwnerUID]; annotated != (policy == v1.DeletionOrphan) || !child.OwnedBy(live, application) {
				t.Errorf("with %s %s has the annotations %v", policy, kind, live.GetAnnotations())
			}
		}
	}
	// A Deployment counts a changed annotation as a generation; only another template replaces pods.
	if got := get[appsv1.Deployment](e, "web"); got.UID != deployment.UID || !equality.Semantic.DeepEqual(got.Spec.Template, deployment.Spec.Template) {
		t.Errorf("the Deployment is another one, or has another template: %v", got)
	}
	if got := e.replicaSets("web"); len(got) != 1 {
		t.Errorf("there are the ReplicaSets %q, want the first one alone", got)
	}
	remove[v1.Application](e, "web", metav1.DeletePropagationForeground)
	waitGone[v1.Application](e, "web")
	e.eventually("the children are garbage-collected", func() (bool, string) {
		left := e.uids("web")
		return len(left) == 0, fmt.Sprint(left)
	})
}

// TestF20DeletionWaitsForDeniedRelease lets a policy deny the release of a child. The Application stays, and says what it
// waits for; the child stays too.
func TestF20DeletionWaitsForDeniedRelease(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(small)
	e.waitReady("web")
	e.stop()
	e.create(fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: hold-%[1]s}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [UPDATE]}]
  matchConditions: [{name: here, expression: 'request.namespace == "%[1]s" && !request.userInfo.username.startsWith("system:")'}]
  validations: [{expression: "has(object.metadata.ownerReferences)", message: owners must stay}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: hold-%[1]s}
spec: {policyName: hold-%[1]s, validationActions: [Deny]}
`, e.namespace))
	policy, binding := "hold-"+e.namespace, e.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	e.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_ = binding.Delete(ctx, policy, metav1.DeleteOptions{})
		_ = e.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(ctx, policy, metav1.DeleteOptions{})
	})
	e.eventually("the policy denies", func() (bool, string) {
		_, err := e.children(child.Deployment).Patch(e.Context(), "web", types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null}}`),
			metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil, fmt.Sprint(err)
	})
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.DeletionPolicy = v1.DeletionOrphan })
	e.run()
	e.waitFinalizers("web", v1.FinalizerOrphan)
	remove[v1.Application](e, "web")
	application := e.waitCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonDeleting)
	if got := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady).Message; !strings.Contains(got, "keep Deployment web") || !strings.Contains(got, "owners must stay") {
		t.Errorf("it says %q", got)
	}
	e.waitEvent("web", v1.ReasonDeleting, "", "")
	if err := binding.Delete(t.Context(), policy, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	waitGone[v1.Application](e, "web")
	if got := e.owners("web")["Deployment web"]; len(got) > 0 {
		t.Errorf("the Deployment still has the owners %v", got)
	}
}
