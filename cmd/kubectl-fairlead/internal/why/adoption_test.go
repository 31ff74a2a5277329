// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

const waitsForPods = "Service web is adopted once every pod carries the label apps.fairlead.dev/application."

// adopting returns an Application whose Deployment is adopted and paused, and the Service waits for the pods.
func adopting(t *testing.T, reason string) *cluster.Loaded {
	t.Helper()
	loaded := clustertest.Load(t, "paused")
	loaded.Saved = true
	loaded.Application.Spec.AdoptionPolicy, loaded.Application.Spec.Paused = v1.AdoptionConsented, new(true)
	meta.SetStatusCondition(&loaded.Application.Status.Conditions, metav1.Condition{
		Type: v1.ConditionAdopted, Status: metav1.ConditionFalse, Reason: reason, Message: "Message.",
	})
	addForeign(loaded, child.Service, &corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "shop"}}}, v1.ResourcePending, waitsForPods)
	childOf(t, loaded, child.Service.Kind).SetAnnotations(map[string]string{v1.AnnotationAdoptableBy: string(loaded.Application.UID)})
	return loaded
}

// addForeign adds an object that has the name of a child, and is not the Application's.
func addForeign(loaded *cluster.Loaded, kind child.Kind, object child.Object, state v1.ResourceState, message string) {
	object.SetNamespace(loaded.Application.Namespace)
	object.SetName(loaded.Application.Name)
	object.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind())
	loaded.Children = append(loaded.Children, object)
	loaded.Application.Status.Resources = append(loaded.Application.Status.Resources, v1.ResourceStatus{
		Group: kind.Group, Kind: kind.Kind, Name: object.GetName(), State: state, Message: message,
	})
}

func setResource(loaded *cluster.Loaded, kind string, state v1.ResourceState, message string) {
	for i := range loaded.Application.Status.Resources {
		if resource := &loaded.Application.Status.Resources[i]; resource.Kind == kind {
			resource.State, resource.Message = state, message
		}
	}
}

func childOf(t *testing.T, loaded *cluster.Loaded, kind string) child.Object {
	t.Helper()
	for _, object := range loaded.Children {
		if object.GetObjectKind().GroupVersionKind().Kind == kind {
			return object
		}
	}
	t.Fatalf("there is no %s", kind)
	return nil
}

// printed is the answer as the user reads it, and as a program does.
func printed(t *testing.T, loaded *cluster.Loaded) (text, encoded string) {
	t.Helper()
	var written strings.Builder
	answer := why.Explain(loaded)
	answer.Print(screen.Fixed(&written, 400, false), treetest.Now)
	bytes, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return written.String(), string(bytes)
}

// wantParts wants each part with true in the text, and each with false not in it.
func wantParts(t *testing.T, name, text string, parts map[string]bool) {
	t.Helper()
	for part, want := range parts {
		if strings.Contains(text, part) != want {
			t.Errorf("%s: contains %q is not %t:\n%s", name, part, want, text)
		}
	}
}

// TestServiceWaitsForPods: nothing is in conflict while an adoption is held, and to delete the Service would be an outage.
func TestServiceWaitsForPods(t *testing.T) {
	const (
		waits = "Service web waits for its adoption.\n"
		leave = "   → Leave the Service as it is: the Application adopts it once what the message names is done.\n"
	)
	text, encoded := printed(t, adopting(t, v1.ReasonPodsHeld))
	wantParts(t, "held", text, map[string]bool{
		"   → Replace the pods: kubectl fairlead adopt web --rollout\n": true, waits: false, "Delete the": false, "does not belong": false,
	})
	wantParts(t, "held", encoded, map[string]bool{`"reason":"PodsHeld"`: true, `"reason":"Conflict"`: false})

	restricted := adopting(t, v1.ReasonPodsHeld)
	policy := &networkingv1.NetworkPolicy{}
	addForeign(restricted, child.NetworkPolicy, policy, v1.ResourceSynced, "")
	policy.OwnerReferences = childOf(t, restricted, child.Deployment.Kind).GetOwnerReferences()
	wantParts(t, "held, beside a NetworkPolicy", shown(t, restricted), map[string]bool{
		"The Deployment is adopted, and its pods run as before until you release them. NetworkPolicy web restricts the connections to and from each new pod.": true,
	})

	stopped := adopting(t, v1.ReasonPodsHeld)
	stopped.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
	deployment := childOf(t, stopped, child.Deployment.Kind).(*appsv1.Deployment)
	deployment.Spec.Replicas, deployment.Status.Replicas = new(int32(0)), 0
	meta.SetStatusCondition(&stopped.Application.Status.Conditions, metav1.Condition{Type: v1.ConditionDrifted, Status: metav1.ConditionTrue, Reason: v1.ReasonDrifted})
	text, _ = printed(t, stopped)
	wantParts(t, "observed, and without pods", text, map[string]bool{
		"Children differ from the spec, and stay so: reconcilePolicy is Observe.\n": true, "resume": false,
		"The Deployment is adopted, and has no pods. Fairlead changes no child, since reconcilePolicy is Observe.\n": true,
		"   → Let Fairlead change the children again, which replaces no pod while rollouts are paused: " +
			`kubectl patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"reconcilePolicy":"Enforce"}}'` + "\n" +
			"   → Then release the rollout: kubectl fairlead adopt web --rollout\n": true,
	})
	stopped.Application.Spec.ReconcilePolicy = v1.ReconcileEnforce
	wantParts(t, "without pods", shown(t, stopped), map[string]bool{
		"   → Release the rollout: kubectl fairlead adopt web --rollout\n": true, "the pods: kubectl": false,
	})

	text, encoded = printed(t, adopting(t, v1.ReasonRollingOut))
	wantParts(t, "rolling out", text, map[string]bool{waits: true, waitsForPods: true, leave: true, "Delete the": false})
	wantParts(t, "rolling out", encoded, map[string]bool{`"reason":"Pending"`: true, `"reason":"Conflict"`: false})

	text, _ = printed(t, adopting(t, v1.ReasonPaused))
	wantParts(t, "paused", text, map[string]bool{waits: true, waitsForPods: true, leave: true, "   → Go on: kubectl fairlead resume web\n": true, "--abort": false, "run as before": false})

	loaded := adopting(t, v1.ReasonPodsHeld)
	childOf(t, loaded, child.Service.Kind).SetAnnotations(nil)
	_, encoded = printed(t, loaded)
	wantParts(t, "without consent", encoded, map[string]bool{`"reason":"Conflict"`: true})
}

// TestHeldBesideAdded: the way on is the one of the adoption, whose release of the pods looks for containers that another client added. They
// come first.
func TestHeldBesideAdded(t *testing.T) {
	loaded := adopting(t, v1.ReasonPodsHeld)
	deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
	deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web"}, {Name: "main"}}
	containers := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate,
			FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{"f:spec":{"f:containers":` + fields + `}}}}`),
		}
	}
	deployment.ManagedFields = []metav1.ManagedFieldsEntry{
		containers("fairlead", `{"k:{\"name\":\"web\"}":{".":{},"f:name":{}}}`),
		containers("kubectl-client-side-apply", `{"k:{\"name\":\"main\"}":{".":{},"f:image":{},"f:name":{}}}`),
	}
	const (
		added = "Container main of the Deployment is not the Application's: kubectl-client-side-apply added it, and Fairlead leaves it there.\n"
		held  = "The Deployment is adopted, and its pods run as before until you release them.\n"
	)
	text := shown(t, loaded)
	wantParts(t, "held", text, map[string]bool{
		"paused/web is not ready (Paused): it waits until you release its pods.\n": true,
		"1. " + added: true, "2. " + held: true, "resume": false,
	})
	if got := strings.Count(text, added); got != 1 {
		t.Errorf("the container is named %d times:\n%s", got, text)
	}
	loaded.Application.Spec.ReconcilePolicy = v1.ReconcileSuspend
	wantParts(t, "suspended", shown(t, loaded), map[string]bool{added: true})
	wantParts(t, "another pause", shown(t, adopting(t, v1.ReasonPaused)), map[string]bool{"paused/web is not ready (Paused): it waits until you resume it.\n": true})
}

// TestSharedSelector: the pod is what to change, and never the Service.
func TestSharedSelector(t *testing.T) {
	loaded := adopting(t, v1.ReasonSelectorShared)
	setResource(loaded, child.Service.Kind, v1.ResourceConflict, "Service web cannot be adopted because it selects pod canary-1, "+
		"which does not carry the label apps.fairlead.dev/application of the Application; "+
		"change the labels in the pod template of its controller, or, if the controller selects by them, replace it by one with another selector.")
	text, encoded := printed(t, loaded)
	wantParts(t, "shared", text, map[string]bool{
		"Service web is not adopted, because it selects a pod that is not the Application's.\n": true,
		"   → Change the labels in the pod template of the controller of pod canary-1. If the controller selects by them, its selector cannot change: " +
			"replace it by another controller, which selects by other labels. Without a controller, delete the pod or give it other labels.\n": true,
		"   → Or, if pod canary-1 needs no requests, let the Service select the Application's pods alone: " +
			`kubectl patch service web --type=merge --patch '{"spec":{"selector":{"apps.fairlead.dev/application":"web"}}}'` + "\n": true,
		"   → Keep the Service: clients use it, and the Application adopts it once all of its pods are the Application's.\n": true,
		"Delete the": false,
	})
	wantParts(t, "shared", encoded, map[string]bool{`"reason":"SelectorShared"`: true, `"reason":"Conflict"`: false})
}

// TestServiceSelectsNoPod: a Service that Fairlead created selects by its label, which no pod has before the rollout.
func TestServiceSelectsNoPod(t *testing.T) {
	const what = "No pod carries the label that the Service selects, so requests fail until the pods are replaced.\n"
	loaded := adopting(t, v1.ReasonPodsHeld)
	wantParts(t, "the old Service", shown(t, loaded), map[string]bool{what: false})
	childOf(t, loaded, child.Service.Kind).(*corev1.Service).Spec.Selector = map[string]string{v1.LabelApplication: "web"}
	wantParts(t, "labelled pods", shown(t, loaded), map[string]bool{what: false})
	for _, pod := range loaded.Pods {
		delete(pod.Labels, v1.LabelApplication)
	}
	text, encoded := printed(t, loaded)
	wantParts(t, "pods without the label", text, map[string]bool{
		"1. " + what: true,
		"apps.fairlead.dev/application=web selects none of the pods\n":         true,
		"   → Replace the pods: kubectl fairlead adopt web --rollout\n":        true,
		"   → Or take the adoption back: kubectl fairlead adopt web --abort\n": true,
	})
	wantParts(t, "pods without the label", encoded, map[string]bool{`"reason":"NoPodSelected"`: true})
}

// TestDeploymentWithoutPods: a Deployment that is created again while rollouts are paused starts no pods.
func TestDeploymentWithoutPods(t *testing.T) {
	loaded := adopting(t, v1.ReasonRollingOut)
	const what = "The Deployment has no pods: it was created while rollouts are paused, and starts none before you resume them.\n"
	wantParts(t, "with pods", shown(t, loaded), map[string]bool{what: false})
	deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
	deployment.Status, loaded.Pods, loaded.ReplicaSets = appsv1.DeploymentStatus{}, nil, nil
	text, encoded := printed(t, loaded)
	wantParts(t, "without pods", text, map[string]bool{
		what: true,
		"   - Deployment/web status.replicas, 30m ago: 0, and spec.paused is true\n": true,
		"   → Start the pods: kubectl fairlead resume web\n":                         true,
	})
	wantParts(t, "without pods", encoded, map[string]bool{`"reason":"Paused"`: true})
	deployment.Spec.Replicas = new(int32(0))
	wantParts(t, "scaled to 0", shown(t, loaded), map[string]bool{what: false})
}

// TestAdoptionRefused: what is missing is to create, and only a spec that does not fit is to correct. The plugin writes no other Application
// while it has saved the Deployment, so the other way out is to take the adoption back.
func TestAdoptionRefused(t *testing.T) {
	const (
		missing  = "Deployment web cannot be adopted because of spec: Secret sx does not exist; no pod starts without it."
		scaled   = "Deployment web cannot be adopted because of spec.replicas: the adoption would change the number of pods from 3 to 5; set it to 3 in the Application, or remove it there."
		both     = "Deployment web cannot be adopted because of spec.replicas: set it; and because of spec: Secret sx does not exist; no pod starts without it; and because of spec.config: remove it."
		keys     = `Deployment web cannot be adopted because of spec: ConfigMap c does not exist; Secret sx has no key "a"; no pod starts without them.`
		correct  = "   → Correct the spec of the Application as the message says; then run the command, which names what needs your --accept: kubectl fairlead adopt web --existing\n"
		back     = "   → Or take the adoption back: kubectl fairlead adopt web --abort\n"
		another  = "   → Or delete this Application, and let the plugin write one that fits the Deployment: kubectl fairlead adopt web --harden\n"
		optional = "   → Or mark the reference optional: true.\n"
		replace  = "   → Or delete the Deployment with --cascade=orphan, after which the Application's own takes its pods over and replaces them, or give the Application another name.\n"
		create   = "   → Create Secret sx with the keys that the pods need; the adoption then goes on.\n"
	)
	for name, test := range map[string]struct {
		message         string
		saved, observes bool
		want            string
	}{
		"a Secret":             {message: missing, saved: true, want: create + back},
		"by hand":              {message: missing, want: create + optional},
		"observed":             {message: missing, saved: true, observes: true, want: "   → Create Secret sx with the keys that the pods need; then let the adoption go on: kubectl fairlead adopt web\n" + back},
		"an object and a key":  {message: keys, saved: true, want: "   → Create ConfigMap c with the keys that the pods need; add key \"a\" to Secret sx, or correct the key in the spec; the adoption then goes on.\n" + back},
		"a field":              {message: scaled, saved: true, want: correct + back + replace},
		"a field, by hand":     {message: scaled, want: correct + another + replace},
		"a Secret and a field": {message: both, saved: true, want: "   → Create Secret sx with the keys that the pods need.\n" + correct + back + replace},
	} {
		loaded := clustertest.Load(t, "conflict")
		loaded.Saved = test.saved
		loaded.Application.Spec.AdoptionPolicy, loaded.Application.Spec.Paused = v1.AdoptionConsented, new(true)
		if test.observes {
			loaded.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
		}
		loaded.Application.Status.Resources = []v1.ResourceStatus{{
			Group: child.Deployment.Group, Kind: child.Deployment.Kind, Name: "web", State: v1.ResourceConflict, Message: test.message,
		}}
		meta.SetStatusCondition(&loaded.Application.Status.Conditions, metav1.Condition{
			Type: v1.ConditionAdopted, Status: metav1.ConditionFalse, Reason: v1.ReasonRefused, Message: test.message,
		})
		deployment := childOf(t, loaded, child.Deployment.Kind)
		deployment.SetOwnerReferences(nil)
		deployment.SetAnnotations(nil)
		text, _ := printed(t, loaded)
		var got strings.Builder
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "   →") {
				got.WriteString(line)
			}
		}
		if got.String() != test.want {
			t.Errorf("%s:\n%swant\n%s", name, got.String(), test.want)
		}
	}
}
