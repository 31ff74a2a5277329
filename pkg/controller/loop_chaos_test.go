// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/render/rendertest"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// mishap is one thing that happens to a world. It is drawn before the world begins, because what
// fails in a bubble of synctest cannot be told to rapid from within.
type mishap struct {
	what   string
	kind   child.Kind
	number int
	spec   *v1.Application
	after  time.Duration
}

func (m mishap) String() string {
	text := m.what
	if m.kind != (child.Kind{}) {
		text += " " + m.kind.Kind
	}
	return fmt.Sprintf("%s %d, then %s", text, m.number, m.after)
}

// faults are answers of an API server in trouble.
var faults = []error{
	apierrors.NewInternalError(fmt.Errorf("trouble")),
	apierrors.NewTooManyRequests("later", 1),
	apierrors.NewConflict(schema.GroupResource{Resource: "any"}, "web", fmt.Errorf("somebody was faster")),
	apierrors.NewTimeoutError("the request timed out", 0),
	applytest.AnswerLostError{Err: fmt.Errorf("connection reset by peer")},
}

// What others do to children. Nothing of it is left once a child is repaired.
var tampering = []func(child.Object){
	func(o child.Object) {
		switch o := o.(type) {
		case *appsv1.Deployment:
			o.Spec.Template.Spec.Containers[0].Image = "theirs"
		case *corev1.Service:
			o.Spec.Selector = map[string]string{"theirs": "yes"}
		}
	},
	func(o child.Object) { o.SetAnnotations(nil) }, // With deletionPolicy Orphan one of them names the owner.
	func(o child.Object) { o.SetLabels(nil) },
	func(o child.Object) { o.SetOwnerReferences(nil) },
	func(o child.Object) { o.SetLabels(nil); o.SetOwnerReferences(nil) },
}

// hiding is the first kind of tampering after which a child is found again only by its UID, which
// the status lists. Before the first status that does, a moment after its creation, it is lost.
const hiding = 1

func (w *world) knows(ref child.Ref) bool {
	uid := applytest.Get[child.Object](w.server, ref.Kind, ref.Namespace, ref.Name).GetUID()
	return slices.ContainsFunc(w.application("web").Status.Resources, func(r v1.ResourceStatus) bool { return r.UID == uid })
}

func mishaps(r *rapid.T) []mishap {
	var all []mishap
	for range rapid.IntRange(1, 12).Draw(r, "mishaps") {
		m := mishap{
			what:   rapid.SampledFrom([]string{"edit", "edit", "tamper", "delete", "hold", "release", "expire", "fault", "restart", "pods"}).Draw(r, "what"),
			number: rapid.IntRange(0, 9).Draw(r, "number"),
			after:  rapid.SampledFrom([]time.Duration{0, time.Millisecond, 40 * time.Millisecond, time.Second, time.Minute}).Draw(r, "after"),
		}
		switch m.what {
		case "edit":
			m.spec = valid(r)
		case "hold", "release", "expire":
			m.kind = rapid.SampledFrom(append(child.Kinds(), applytest.Applications)).Draw(r, "kind")
		}
		all = append(all, m)
	}
	return all
}

// valid draws an Application that the default platform accepts.
func valid(r *rapid.T) *v1.Application {
	application := rendertest.Applications().Filter(func(a *v1.Application) bool {
		return len(validation.ValidateApplication(a, validation.Options{})) == 0
	}).Draw(r, "application")
	application.Namespace, application.Name, application.UID = namespace, "web", ""
	// What it refers to is not there; loop_references_test.go is about that.
	application.Spec.ConfigChangePolicy = v1.ConfigChangeIgnore
	return application
}

// befall carries a mishap out. Where there is nothing that it could happen to, nothing does.
func (w *world) befall(m mishap) {
	w.Helper()
	switch m.what {
	case "edit":
		w.edit("web", func(a *v1.Application) {
			a.Labels, a.Annotations, a.Spec = m.spec.Labels, m.spec.Annotations, m.spec.Spec
		})
	case "tamper", "delete":
		children := w.server.All()
		if len(children) == 0 {
			return
		}
		ref := children[m.number%len(children)]
		if m.what == "delete" {
			w.server.Delete(ref.Kind, ref.Namespace, ref.Name)
			return
		}
		how := m.number % len(tampering)
		if how >= hiding && !w.knows(ref) {
			return
		}
		applytest.Edit(w.server, ref.Kind, ref.Namespace, ref.Name, tampering[how])
	case "hold":
		w.server.HoldWatch(m.kind)
	case "release":
		w.server.ReleaseWatch(m.kind)
	case "expire":
		w.server.ExpireWatch(m.kind)
	case "fault":
		left := m.number
		w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			if !r.Writes() || left <= 0 {
				return nil
			}
			left--
			return faults[m.number%len(faults)]
		})
	case "restart":
		w.end()
		w.start()
	case "pods":
		if deployment := w.deployment("web"); deployment != nil {
			w.pods("web", *deployment.Spec.Replicas)
		}
	}
}

// recover ends all trouble and waits for as long as the longest back-off and pause may take.
func (w *world) recover() {
	for _, kind := range append(child.Kinds(), applytest.Applications) {
		w.server.ReleaseWatch(kind)
	}
	pass(30 * time.Minute)
	w.befall(mishap{what: "pods"})
	pass(30 * time.Minute)
}

// children is what is stored, without what the API server counts and notes for itself, and without
// the number of replicas where the spec leaves it to others, and the budget that depends on it: what it was before is kept on purpose.
func (w *world) children() map[string]any {
	all := map[string]any{}
	application := w.application("web")
	for _, ref := range w.server.All() {
		object := applytest.Get[child.Object](w.server, ref.Kind, ref.Namespace, ref.Name)
		if !child.OwnedBy(object, application) {
			// Somebody took it away, and then the spec no longer asks for it: it is theirs. If its feature
			// is on, it is missing in the comparison.
			continue
		}
		if ref.Kind == child.ControllerRevision && ref.Name != w.deployment("web").Annotations[v1.AnnotationRevision] {
			continue // What happened before is another story each time.
		}
		open := render.FixedReplicas(application) == nil
		if budget := application.Spec.DisruptionBudget; ref.Kind == child.PodDisruptionBudget && open && (budget == nil || budget.Mode != v1.DisruptionBudgetCustom) {
			continue
		}
		object.SetOwnerReferences(nil)
		object.SetUID("")
		object.SetResourceVersion("")
		object.SetGeneration(0)
		object.SetManagedFields(nil)
		object.SetCreationTimestamp(metav1.Time{})
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			w.Fatal(err)
		}
		delete(fields, "status")
		delete(fields, "revision")
		metadata := fields["metadata"].(map[string]any)
		annotations := metadata["annotations"].(map[string]any)
		// It is a hash over the owner too, whose UID depends on how many objects there were before.
		delete(annotations, v1.AnnotationRenderedHash)
		delete(annotations, v1.AnnotationCreatedFieldSet)
		if ref.Kind == child.Deployment && open {
			delete(annotations, v1.AnnotationReplicasManaged)
			delete(fields["spec"].(map[string]any), "replicas")
		}
		all[ref.String()] = fields
	}
	return all
}

// Whatever happens to an Application, its children and the API server, once the trouble is over
// everything is as if nothing had happened, the status says so, and there is silence. Once it is deleted, nothing of it is
// remembered.
func TestEverythingEndsWell(t *testing.T) {
	fixedseed.Check(t, func(r *rapid.T) {
		first, trouble := valid(r), mishaps(r)
		last := first
		for _, m := range trouble {
			if m.what == "edit" {
				last = m.spec
			}
		}
		var complaints []string
		complain := func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }
		var troubled, undisturbed map[string]any
		inWorld(t, setup{workers: 2, begin: withApplications(first.DeepCopy())}, func(w *world) {
			for _, m := range trouble {
				w.befall(m)
				pass(m.after)
			}
			w.recover()
			application := w.application("web")
			if !w.ready("web") || application.Status.ObservedGeneration != application.Generation {
				complain("the status is %+v", application.Status)
			}
			version := w.server.Version()
			pass(time.Hour)
			if got := w.server.Version(); got != version {
				complain("%d changes in an hour of silence", got-version)
			}
			troubled = w.children()
			w.server.Delete(applytest.Applications, namespace, "web")
			pass(time.Minute)
			if writes, applications, failures := w.remembered("web"); writes+applications+failures > 0 {
				complain("of the deleted Application %d writes, %d entries and %d failures are remembered", writes, applications, failures)
			}
			if len(complaints) > 0 {
				complain("log:\n%s", strings.Join(tail(w.log.find(), 30), "\n"))
			}
		})
		inWorld(t, setup{begin: withApplications(last.DeepCopy())}, func(w *world) {
			w.recover()
			undisturbed = w.children()
		})
		if diff := cmp.Diff(undisturbed, troubled); diff != "" {
			complain("children (-undisturbed +troubled):\n%s", diff)
		}
		if len(complaints) > 0 {
			r.Fatalf("after %s:\n%s", trouble, strings.Join(complaints, "\n"))
		}
	})
}

func tail(lines []string, most int) []string { return lines[max(0, len(lines)-most):] }
