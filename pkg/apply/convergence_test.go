// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/consistency"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/render/rendertest"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// syncs renders, plans and writes again and again, like the loop, with caches that are always up to date.
type syncs struct {
	*rapid.T
	test   *testing.T
	server *applytest.Server
	writer *Writer
	differ plan.Differ
}

func newSyncs(t *testing.T, r *rapid.T) *syncs {
	server := applytest.NewServer(t)
	return &syncs{
		T: r, test: t, server: server,
		writer: NewWriter(server.Client(), consistency.NewStore()),
		differ: plan.NewDiffer(scheme.Scheme),
	}
}

// snapshot returns what the informers have: all children of the Application by label or owner.
func (s *syncs) snapshot(application *v1.Application) child.Snapshot {
	children := map[child.Ref]child.Object{}
	for _, ref := range s.server.All() {
		object := applytest.Get[child.Object](s.server, ref.Kind, ref.Namespace, ref.Name)
		if object.GetLabels()[v1.LabelManagedBy] != v1.ManagedBy {
			continue
		}
		object.SetManagedFields(PostEntry(object.GetManagedFields()))
		if deployment, ok := object.(*appsv1.Deployment); ok {
			deployment.Status.ObservedGeneration = deployment.Generation // Kubernetes is quick here.
		}
		children[ref] = object
	}
	return child.Snapshot{Application: application, Children: children}
}

func (s *syncs) plan(application *v1.Application) []plan.Step {
	desired, err := render.Children(application, render.Facts{})
	if err != nil {
		s.Fatalf("render: %v", err)
	}
	steps, err := plan.Compute(s.differ, plan.Input{Snapshot: s.snapshot(application), Desired: desired})
	if err != nil {
		s.Fatalf("plan: %v", err)
	}
	return steps
}

// once syncs once, and records in the status by what the next plan recognises children. It reports whether a conflict
// requires another sync.
func (s *syncs) once(application *v1.Application) (conflict bool) {
	results := executed(s.test, s.test.Context(), s.writer, application, s.plan(application))
	application.Status.Resources = nil
	for _, result := range results {
		if result.Err != nil && !apierrors.IsConflict(result.Err) {
			s.Fatalf("%s %s (%s, %v): %v", result.Action, result.Ref, result.Reason, result.Fields, result.Err)
		}
		conflict = conflict || result.Err != nil
		if result.Action != plan.Delete {
			application.Status.Resources = append(application.Status.Resources, v1.ResourceStatus{
				Group: result.Ref.Kind.Group, Kind: result.Ref.Kind.Kind, Name: result.Ref.Name, UID: result.UID,
			})
		}
	}
	return conflict
}

// settle syncs until nothing is left to do, which must not take many syncs.
func (s *syncs) settle(application *v1.Application) {
	for range 4 {
		if conflict := s.once(application); conflict {
			continue
		}
		if !slices.ContainsFunc(s.plan(application), func(step plan.Step) bool { return step.Action != plan.Keep }) {
			return
		}
	}
	for _, step := range s.plan(application) {
		if step.Action != plan.Keep {
			s.Fatalf("after four syncs: %s %s: %s %v", step.Action, step.Ref, step.Reason, step.Fields)
		}
	}
}

// become gives the Application another spec.
func become(application *v1.Application, other *v1.Application) {
	application.Labels, application.Annotations = other.Labels, other.Annotations
	application.Spec = other.Spec
	application.Generation++
}

// One sync takes the children from any spec to any other, and a second one deletes what the old pods used. Then they
// are those of a new Application with that spec: nothing of the old one remains.
func TestAnySpecFollowsAnyOther(t *testing.T) {
	fixedseed.Check(t, func(r *rapid.T) {
		s := newSyncs(t, r)
		application := rendertest.Applications().Draw(r, "first")
		s.settle(application)
		second := rendertest.Applications().Draw(r, "second")
		become(application, second)
		for range 2 {
			if s.once(application) {
				r.Fatalf("a conflict where nobody else writes")
			}
		}
		for _, step := range s.plan(application) {
			if step.Action != plan.Keep {
				r.Fatalf("after the sync: %s %s: %s %v", step.Action, step.Ref, step.Reason, step.Fields)
			}
		}
		fresh := newSyncs(t, r)
		again := application.DeepCopy()
		again.Status = v1.ApplicationStatus{}
		fresh.settle(again)
		if diff := cmp.Diff(fresh.contents(again), s.contents(again)); diff != "" {
			r.Fatalf("stored (-new +changed):\n%s", diff)
		}
	})
}

// contents returns what is stored, without what the API server counts and records itself, and without the number of
// replicas if the spec leaves it open: Fairlead keeps the old one on purpose.
func (s *syncs) contents(application *v1.Application) map[string]any {
	all := map[string]any{}
	for _, ref := range s.server.All() {
		object := applytest.Get[child.Object](s.server, ref.Kind, ref.Namespace, ref.Name)
		object.SetUID("")
		object.SetResourceVersion("")
		object.SetGeneration(0)
		object.SetManagedFields(nil)
		object.SetCreationTimestamp(metav1.Time{})
		if deployment, ok := object.(*appsv1.Deployment); ok {
			delete(deployment.Annotations, v1.AnnotationCreatedFieldSet) // It tells of the past.
			if render.FixedReplicas(application) == nil {
				deployment.Spec.Replicas = nil
				delete(deployment.Annotations, v1.AnnotationReplicasManaged)
			}
		}
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			s.Fatalf("%s: %v", ref, err)
		}
		all[ref.String()] = fields
	}
	return all
}

// disturbances are what other writers do to a child.
var disturbances = map[string]func(child.Object){
	"remove the labels": func(o child.Object) { o.SetLabels(nil) },
	"remove the owner":  func(o child.Object) { o.SetOwnerReferences(nil) },
	"remove the hash":   func(o child.Object) { o.SetAnnotations(nil) },
	"change the hash":   func(o child.Object) { o.SetAnnotations(map[string]string{v1.AnnotationRenderedHash: "x"}) },
	"add a label":       func(o child.Object) { o.SetLabels(map[string]string{"theirs": "yes"}) },
	"change the content": func(o child.Object) {
		switch o := o.(type) {
		case *appsv1.Deployment:
			o.Spec.Replicas = new(int32(7))
			o.Spec.Template.Spec.Containers[0].Image = "theirs"
			o.Spec.Template.Spec.Volumes = append(o.Spec.Template.Spec.Volumes, corev1.Volume{Name: "theirs"})
		case *corev1.Service:
			o.Spec.Ports[0].Port = 4321
		case *corev1.ConfigMap:
			o.Data = map[string]string{"theirs": "yes"}
		}
	},
}

// Whatever other writers do to the children, a few syncs restore the spec, even if the Application changes at the
// same time.
func TestAnyDisturbanceIsRepaired(t *testing.T) {
	fixedseed.Check(t, func(r *rapid.T) {
		s := newSyncs(t, r)
		application := rendertest.Applications().Draw(r, "application")
		s.settle(application)
		names := []string{"delete"}
		for name := range disturbances {
			names = append(names, name)
		}
		slices.Sort(names)
		for i := range rapid.IntRange(1, 3).Draw(r, "disturbances") {
			refs := s.server.All()
			ref := rapid.SampledFrom(refs).Draw(r, fmt.Sprintf("child %d", i))
			name := rapid.SampledFrom(names).Draw(r, fmt.Sprintf("disturbance %d", i))
			if name == "delete" {
				if len(refs) > 1 {
					s.server.Delete(ref.Kind, ref.Namespace, ref.Name)
				}
				continue
			}
			applytest.Edit(s.server, ref.Kind, ref.Namespace, ref.Name, disturbances[name])
		}
		if rapid.Bool().Draw(r, "the Application changes too") {
			become(application, rendertest.Applications().Draw(r, "second"))
		}
		s.settle(application)
	})
}
