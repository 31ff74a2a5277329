// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/render/rendertest"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// check renders generated Applications and checks each rendering.
func check(t *testing.T, property func(t *rapid.T, app *v1.Application, facts render.Facts, children []child.Desired)) {
	t.Helper()
	fixedseed.Check(t, func(t *rapid.T) {
		app := rendertest.Applications().Draw(t, "application")
		facts := rendertest.Facts().Draw(t, "facts")
		property(t, app, facts, drawn(t, app, facts))
	})
}

func drawn(t *rapid.T, app *v1.Application, facts render.Facts) []child.Desired {
	children, err := render.Children(app, facts)
	if err != nil {
		t.Fatalf("Children: %v", err)
	}
	return children
}

func TestRenderIsDeterministicAndPure(t *testing.T) {
	check(t, func(t *rapid.T, app *v1.Application, facts render.Facts, children []child.Desired) {
		before := app.DeepCopy()
		again := drawn(t, app, facts)
		if diff := cmp.Diff(children, again); diff != "" {
			t.Fatalf("rendered twice (-first +second):\n%s", diff)
		}
		if diff := cmp.Diff(before, app); diff != "" {
			t.Fatalf("the render changed the Application (-before +after):\n%s", diff)
		}
		slices.Reverse(facts.RouteControllerNamespaces)
		facts.RouteControllerNamespaces = append(facts.RouteControllerNamespaces, facts.RouteControllerNamespaces...)
		if diff := cmp.Diff(children, drawn(t, app, facts)); diff != "" {
			t.Fatalf("rendered with the same facts in another order (-first +second):\n%s", diff)
		}
	})
}

func TestEveryChildBelongsToItsApplication(t *testing.T) {
	check(t, func(t *rapid.T, app *v1.Application, _ render.Facts, children []child.Desired) {
		var order []int
		seen := map[child.Ref]bool{}
		for _, desired := range children {
			order = append(order, slices.Index(child.Kinds(), desired.Kind))
			if seen[desired.Ref] {
				t.Fatalf("%s is rendered twice", desired.Ref)
			}
			seen[desired.Ref] = true
			object := rendertest.Object(t, desired)
			if object.GroupVersionKind() != desired.Kind.GroupVersionKind() {
				t.Fatalf("%s is a %s", desired.Ref, object.GroupVersionKind())
			}
			if object.GetNamespace() != app.Namespace {
				t.Fatalf("%s is not in the namespace of the Application", desired.Ref)
			}
			if problems := validation.IsDNS1123Label(object.GetName()); len(problems) > 0 {
				t.Fatalf("%s: name: %v", desired.Ref, problems)
			}
			collectable := app.Spec.DeletionPolicy != v1.DeletionOrphan || desired.Kind == child.ControllerRevision
			if !child.OwnedBy(object, app) || child.Collectable(object, app) != collectable || len(object.GetOwnerReferences()) > 1 {
				t.Fatalf("%s: owners are %v, the annotations %v", desired.Ref, object.GetOwnerReferences(), object.GetAnnotations())
			}
			wantOurLabels(t, app, desired.Ref.String(), object.GetLabels())
		}
		if !slices.IsSorted(order) {
			t.Fatalf("children are not in the order of the kinds: %v", refs(children))
		}
	})
}

// Whatever labels and annotations users set, ours have the right values.
func TestS10ReservedLabelsCannotBeOverridden(t *testing.T) {
	forged := map[string]string{"team": "shop"}
	for _, key := range []string{v1.LabelApplication, v1.LabelName, v1.LabelManagedBy, v1.AnnotationRenderedHash,
		v1.AnnotationConfigHash, v1.AnnotationReplicasManaged, v1.ReservedPrefix + "other"} {
		forged[key] = "forged"
	}
	check(t, func(t *rapid.T, app *v1.Application, facts render.Facts, _ []child.Desired) {
		app.Labels, app.Annotations = forged, forged
		app.Spec.PodMetadata = &v1.PodMetadata{Labels: forged, Annotations: forged}
		if account := app.Spec.ServiceAccount; account != nil {
			account.Annotations = forged
		}
		if service := app.Spec.Service; service != nil {
			service.Annotations = forged
		}
		for i := range app.Spec.Routes {
			app.Spec.Routes[i].Annotations = forged
		}
		for _, desired := range drawn(t, app, facts) {
			wantOurLabels(t, app, desired.Ref.String(), rendertest.Object(t, desired).GetLabels())
			wantNoForgery(t, desired.Ref.String(), rendertest.Object(t, desired).GetAnnotations())
			if desired.Kind == child.Deployment {
				template := deployment(t, desired).Spec.Template
				wantPodLabels(t, app, template.Labels)
				wantNoForgery(t, "pod template", template.Annotations)
			}
		}
	})
}

func wantOurLabels(t *rapid.T, app *v1.Application, what string, labels map[string]string) {
	for key, want := range map[string]string{v1.LabelApplication: app.Name, v1.LabelName: app.Name, v1.LabelManagedBy: v1.ManagedBy} {
		if labels[key] != want {
			t.Fatalf("%s: label %s is %q, want %q", what, key, labels[key], want)
		}
	}
	wantNoForgedLabel(t, what, labels)
}

// wantPodLabels: the spec may set the recommended labels of the pods, but not the one by which Fairlead selects them.
func wantPodLabels(t *rapid.T, app *v1.Application, labels map[string]string) {
	if labels[v1.LabelApplication] != app.Name {
		t.Fatalf("pod template: label %s is %q, want %q", v1.LabelApplication, labels[v1.LabelApplication], app.Name)
	}
	for _, key := range []string{v1.LabelName, v1.LabelManagedBy} {
		if labels[key] != app.Spec.PodMetadata.Labels[key] {
			t.Fatalf("pod template: label %s is %q, want that of the spec", key, labels[key])
		}
	}
	wantNoForgedLabel(t, "pod template", labels)
}

func wantNoForgedLabel(t *rapid.T, what string, labels map[string]string) {
	if _, has := labels[v1.ReservedPrefix+"other"]; has {
		t.Fatalf("%s has a forged label: %v", what, labels)
	}
}

func wantNoForgery(t *rapid.T, what string, annotations map[string]string) {
	for key, value := range annotations {
		if strings.HasPrefix(key, v1.ReservedPrefix) && value == "forged" {
			t.Fatalf("%s has a forged annotation: %v", what, annotations)
		}
	}
}

// Each child fits the schema of its type, without unknown fields or items with the same key. Decoding it into its
// type and encoding it again gives what was rendered, so no rendered field is dropped.
func TestEveryChildComesBackFromItsType(t *testing.T) {
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	check(t, func(t *rapid.T, _ *v1.Application, _ render.Facts, children []child.Desired) {
		for _, desired := range children {
			want, err := converter.ObjectToTyped(rendertest.Object(t, desired))
			if err != nil {
				t.Fatalf("%s does not fit its schema: %v", desired.Ref, err)
			}
			live, err := scheme.Scheme.New(desired.Kind.GroupVersionKind())
			if err != nil {
				t.Fatalf("%s: %v", desired.Ref, err)
			}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(rendertest.Object(t, desired).Object, live, true); err != nil {
				t.Fatalf("%s is not of its type: %v", desired.Ref, err)
			}
			live.GetObjectKind().SetGroupVersionKind(desired.Kind.GroupVersionKind())
			have, err := converter.ObjectToTyped(live)
			if err != nil {
				t.Fatalf("%s: %v", desired.Ref, err)
			}
			comparison, err := want.Compare(have)
			if err != nil {
				t.Fatalf("%s: %v", desired.Ref, err)
			}
			if !comparison.Removed.Empty() || !comparison.Modified.Empty() {
				t.Fatalf("%s does not come back as it was rendered:\n%s", desired.Ref, comparison)
			}
		}
	})
}

// In a NetworkPolicy an empty list of peers or ports opens everything.
func TestS11NetworkPoliciesOpenNothingByAccident(t *testing.T) {
	check(t, func(t *rapid.T, app *v1.Application, facts render.Facts, _ []child.Desired) {
		policy := app.Spec.NetworkPolicy
		if policy == nil {
			return
		}
		// A part of each rule has no effect.
		for i := range policy.Ingress {
			if rapid.Bool().Draw(t, "unknown port") {
				policy.Ingress[i].Ports = []string{"unknown"}
			}
			if rapid.Bool().Draw(t, "no peer") {
				policy.Ingress[i].From = []v1.NetworkPolicyPeer{{}}
			}
		}
		for i := range policy.Egress {
			if rapid.Bool().Draw(t, "no peer") {
				policy.Egress[i].To = nil
			}
		}
		for _, desired := range drawn(t, app, facts) {
			if desired.Kind == child.NetworkPolicy {
				wantNoOpenRule(t, app, desired)
			}
		}
	})
}

func wantNoOpenRule(t *rapid.T, app *v1.Application, desired child.Desired) {
	policy := networkPolicy(t, desired)
	if len(policy.Spec.PolicyTypes) != 2 {
		t.Fatalf("policyTypes are %v", policy.Spec.PolicyTypes)
	}
	if !cmp.Equal(policy.Spec.PodSelector, metav1.LabelSelector{MatchLabels: render.Selector(app)}) {
		t.Fatalf("podSelector is %v", policy.Spec.PodSelector)
	}
	for _, rule := range policy.Spec.Ingress {
		if len(rule.From) == 0 || len(rule.Ports) == 0 {
			t.Fatalf("open ingress rule: %v", rule)
		}
	}
	for _, rule := range policy.Spec.Egress {
		if len(rule.To) == 0 {
			t.Fatalf("open egress rule: %v", rule)
		}
	}
}
