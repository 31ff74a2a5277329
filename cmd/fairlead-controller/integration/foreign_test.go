// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// foreignVariants are the ways in which an object with a child's name can belong to another owner. Informers have
// only those with our labels.
func foreignVariants() map[string]func(e *env, foreign *unstructured.Unstructured, application *v1.Application) {
	labelled := func(foreign *unstructured.Unstructured, application *v1.Application) {
		foreign.SetLabels(map[string]string{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: application.Name})
	}
	return map[string]func(*env, *unstructured.Unstructured, *v1.Application){
		"plain": func(*env, *unstructured.Unstructured, *v1.Application) {},
		"labelled": func(_ *env, foreign *unstructured.Unstructured, application *v1.Application) {
			labelled(foreign, application)
		},
		"controlled": func(e *env, foreign *unstructured.Unstructured, application *v1.Application) {
			labelled(foreign, application)
			foreign.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "controller", UID: get[corev1.ConfigMap](e, "controller").UID, Controller: new(true)}})
		},
		// It was left behind by an Application of the same name.
		"orphaned": func(_ *env, foreign *unstructured.Unstructured, application *v1.Application) {
			labelled(foreign, application)
			foreign.SetAnnotations(map[string]string{v1.AnnotationOwnerUID: string(uuid.NewUUID())})
		},
		// The annotation proves nothing against a controller.
		"claimed": func(e *env, foreign *unstructured.Unstructured, application *v1.Application) {
			labelled(foreign, application)
			foreign.SetAnnotations(map[string]string{v1.AnnotationOwnerUID: string(application.UID)})
			foreign.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "controller", UID: get[corev1.ConfigMap](e, "controller").UID, Controller: new(true)}})
		},
		// Being an owner is not being the controller.
		"owned": func(_ *env, foreign *unstructured.Unstructured, application *v1.Application) {
			labelled(foreign, application)
			foreign.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps.fairlead.dev/v1", Kind: "Application", Name: application.Name, UID: application.UID}})
		},
	}
}

// foreignNoticed is how soon the end of a conflict must show: the 30 s that status promises, and time for a busy machine.
const foreignNoticed = 45 * time.Second

// TestS12ForeignObject gives the name of a child to an object of another owner. The controller does not touch it and
// continues with everything else, status and an Event report it, and the conflict ends once the object is deleted.
func TestS12ForeignObject(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: controller}}")
	for _, kind := range namedKinds() {
		for variant, alter := range foreignVariants() {
			t.Run(kind.Kind+"/"+variant, func(t *testing.T) {
				t.Parallel()
				e := e.sub(t)
				application := lower(kind) + "-" + variant
				name := childName(kind, application)
				e.apply(specOf(application, driftSpec(kind)+"  reconcilePolicy: Suspend\n"))
				foreign := foreignObject(e, kind, name)
				alter(e, foreign, e.application(application))
				e.create(foreign)
				before := content(e.live(kind, name), "")
				cursor := e.cluster.AuditCursor(t)

				e.apply(specOf(application, driftSpec(kind)))
				e.waitCondition(application, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonConflict)
				conflicting := e.waitCondition(application, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConflict)
				checkConflict(t, conflicting, kind, name)
				if event := e.waitEvent(application, v1.ReasonConflict, kind.Kind, name); event.Type != corev1.EventTypeWarning {
					t.Errorf("the Event is of type %s, want %s", event.Type, corev1.EventTypeWarning)
				}
				if diff := cmp.Diff(before, content(e.live(kind, name), "")); diff != "" {
					t.Errorf("the foreign object changed (-before +after):\n%s", diff)
				}
				e.checkUntouched(cursor, kind, name)

				e.deleteChild(kind, name)
				deleted := time.Now()
				recovered := e.waitApplication(application, "is settled", settled)
				if took := time.Since(deleted); took > foreignNoticed {
					t.Errorf("the deletion was noticed after %s, want at most %s", took, foreignNoticed)
				}
				if got := resourceStatus(recovered, kind, name); got.UID == "" {
					t.Errorf("status says of the %s: %+v", kind, got)
				}
				e.waitCondition(application, v1.ConditionStalled, "", "")
			})
		}
	}
}

// dependents are the kinds of children that refer to one of the kind by name, or to one that does.
func dependents(kind child.Kind) []string {
	switch kind {
	case child.ServiceAccount, child.ConfigMap:
		return []string{"ControllerRevision", "Deployment", "HorizontalPodAutoscaler"}
	case child.Deployment:
		return []string{"HorizontalPodAutoscaler"}
	case child.Service:
		return []string{"Ingress", "HTTPRoute", "ServiceMonitor"}
	default:
		return nil
	}
}

// checkConflict checks that this child alone is in conflict, and that what refers to it waits.
func checkConflict(t *testing.T, application *v1.Application, kind child.Kind, name string) {
	t.Helper()
	for _, resource := range application.Status.Resources {
		switch {
		case resource.Kind == kind.Kind && resource.Name == name:
			if resource.State != v1.ResourceConflict || resource.UID != "" || resource.Message == "" {
				t.Errorf("status says of the %s: %+v", kind, resource)
			}
		case slices.Contains(dependents(kind), resource.Kind):
			if resource.State != v1.ResourcePending || resource.UID != "" || !strings.Contains(resource.Message, "It refers to ") {
				t.Errorf("status says of the %s, which refers to the %s: %+v", resource.Kind, kind, resource)
			}
			if message := describe(application); !strings.Contains(message, "Waiting for it: ") {
				t.Errorf("the condition does not say that the %s waits: %s", resource.Kind, message)
			}
		case resource.State != v1.ResourceSynced:
			t.Errorf("status says of another child: %+v", resource)
		}
	}
}

// checkUntouched checks that the controller wrote nothing to the object since the cursor: it may
// have tried to create a child of that name.
func (e *env) checkUntouched(cursor *controlplane.AuditCursor, kind child.Kind, name string) {
	e.Helper()
	for _, event := range e.written(cursor, controlplane.OnResource(kind.Resource)) {
		created := event.Verb == "create" && event.Code == 409
		if !created && (event.Name == name || event.Name == "") {
			e.Errorf("the controller wrote to the foreign object: %s", event)
		}
	}
}

// TestS13ForeignObjectOfOldUID gives the name of a child to an object that a deleted Application of the same name
// left behind. The controller never adopts it; the garbage collector deletes it, and then the controller creates the
// child.
func TestS13ForeignObjectOfOldUID(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.waitGarbageCollector()
	for _, kind := range namedKinds() {
		t.Run(kind.Kind, func(t *testing.T) {
			t.Parallel()
			e := e.sub(t)
			application := lower(kind)
			name := childName(kind, application)
			foreign := foreignObject(e, kind, name)
			foreign.SetLabels(map[string]string{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: application})
			foreign.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps.fairlead.dev/v1", Kind: "Application", Name: application, UID: types.UID(fmt.Sprintf("%036d", 1)), Controller: new(true)}})
			// The garbage collector has to wait until the controller has met the object.
			foreign.SetFinalizers([]string{"example.com/hold"})
			e.create(foreign)
			left := e.live(kind, name).GetUID()
			cursor := e.cluster.AuditCursor(t)
			e.apply(specOf(application, driftSpec(kind)))
			e.waitCondition(application, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConflict)
			e.checkUntouched(cursor, kind, name)

			e.patch(kind, name, types.MergePatchType, `{"metadata":{"finalizers":null}}`)
			recovered := e.waitApplication(application, "is settled", settled)
			if got := resourceStatus(recovered, kind, name).UID; got == left {
				t.Errorf("the %s of the old UID was adopted", kind)
			}
		})
	}
}

// TestS12ForeignObjectsSurviveSwitchedOffFeatures has objects that carry the Application's labels,
// and its plain ownerReference, under the names of children that it does not want.
func TestS12ForeignObjectsSurviveSwitchedOffFeatures(t *testing.T) {
	t.Parallel()
	e := start(t, unreviewedAccounts)
	e.apply(small + "  serviceAccount: {name: default}\n  reconcilePolicy: Suspend\n")
	application := e.application("web")
	before := map[child.Kind]types.UID{}
	for _, kind := range namedKinds() {
		if kind == child.Deployment {
			continue
		}
		foreign := foreignObject(e, kind, childName(kind, "web"))
		foreignVariants()["owned"](e, foreign, application)
		e.create(foreign)
		before[kind] = e.live(kind, childName(kind, "web")).GetUID()
	}
	cursor := e.cluster.AuditCursor(t)
	e.apply(small + "  serviceAccount: {name: default}\n")
	e.waitReady("web")
	e.apply(small + "  serviceAccount: {name: default}\n  minReadySeconds: 1\n")
	e.waitReady("web")
	for kind, uid := range before {
		if live := e.live(kind, childName(kind, "web")); live == nil || live.GetUID() != uid || live.GetDeletionTimestamp() != nil {
			t.Errorf("the foreign %s was deleted", kind)
		}
		e.checkUntouched(cursor, kind, childName(kind, "web"))
	}
}

// foreignObject is a small valid object of the kind.
func foreignObject(e *env, kind child.Kind, name string) *unstructured.Unstructured {
	e.Helper()
	specs := map[child.Kind]string{
		child.ServiceAccount:          `automountServiceAccountToken: true`,
		child.ConfigMap:               `data: {theirs: "1"}`,
		child.NetworkPolicy:           `spec: {podSelector: {matchLabels: {app: theirs}}}`,
		child.Deployment:              `spec: {replicas: 0, selector: {matchLabels: {app: theirs}}, template: {metadata: {labels: {app: theirs}}, spec: {containers: [{name: theirs, image: theirs}]}}}`,
		child.Service:                 `spec: {ports: [{port: 80}], selector: {app: theirs}}`,
		child.HorizontalPodAutoscaler: `spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: theirs}}`,
		child.PodDisruptionBudget:     `spec: {maxUnavailable: 1, selector: {matchLabels: {app: theirs}}}`,
		child.Ingress:                 `spec: {defaultBackend: {service: {name: theirs, port: {number: 80}}}}`,
	}
	return e.decode(fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s}\n%s\n", kind.GroupVersionKind().GroupVersion(), kind.Kind, name, specs[kind]))[0]
}
