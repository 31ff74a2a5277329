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
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// classOf is a class whose pods have the priority.
func classOf(name, priority string) *v1.ApplicationClass {
	class := &v1.ApplicationClass{}
	class.Name = name
	class.Spec.Defaults = &v1.ApplicationDefaults{PriorityClassName: priority}
	return class
}

func asDefault(class *v1.ApplicationClass) *v1.ApplicationClass {
	class.Annotations = map[string]string{v1.AnnotationDefaultClass: "true"}
	return class
}

// named is an Application of the class.
func named(name, class string) *v1.Application {
	a := application(name)
	a.Spec.ClassName = class
	return a
}

func withClasses(classes ...*v1.ApplicationClass) func(*applytest.Server) {
	return func(s *applytest.Server) {
		for _, class := range classes {
			applytest.Put(s, applytest.ApplicationClasses, class)
		}
	}
}

func both(first, second func(*applytest.Server)) func(*applytest.Server) {
	return func(s *applytest.Server) { first(s); second(s) }
}

func (w *world) class(name string) *v1.ApplicationClass {
	return applytest.Get[*v1.ApplicationClass](w.server, applytest.ApplicationClasses, "", name)
}

func (w *world) editClass(name string, change func(*v1.ApplicationClass)) {
	w.Helper()
	applytest.Edit(w.server, applytest.ApplicationClasses, "", name, change)
}

// priority is that of the Deployment's pods.
func (w *world) priority(name string) string {
	w.Helper()
	deployment := w.deployment(name)
	if deployment == nil {
		return "no Deployment"
	}
	return deployment.Spec.Template.Spec.PriorityClassName
}

func (w *world) wantPriorities(want map[string]string) {
	w.Helper()
	got := map[string]string{}
	for name := range want {
		got[name] = w.priority(name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("priorities of the pods (-want +got):\n%s", diff)
	}
}

// wantCounts compares what a class says: Applications, updated, failing.
func (w *world) wantCounts(name string, want ...int32) {
	w.Helper()
	status := w.class(name).Status
	if got := []int32{status.Applications, status.Updated, status.Failing}; !cmp.Equal(want, got) {
		w.Errorf("class %s counts %v, want %v", name, got, want)
	}
}

// A change of a class is applied to its Applications and concerns no other one, whether they name it
// or have it by default. Nothing is written into a spec.
func TestClassChange(t *testing.T) {
	begin := both(withClasses(classOf("gold", "high"), asDefault(classOf("standard", "low"))),
		withApplications(named("named", "gold"), application("default"), named("other", "standard")))
	inWorld(t, setup{begin: begin}, func(w *world) {
		pass(time.Minute)
		w.wantPriorities(map[string]string{"named": "high", "default": "low", "other": "low"})
		w.wantCounts("gold", 1, 1, 0)
		w.wantCounts("standard", 2, 2, 0)
		if got := w.application("default"); got.Spec.ClassName != "" || got.Spec.PriorityClassName != "" || got.Generation != 1 {
			w.Errorf("the spec was changed: %+v", got.Spec)
		}
		want := &v1.AppliedClass{Name: "standard", Generation: 1, Defaults: &v1.ApplicationDefaults{PriorityClassName: "low"}}
		if diff := cmp.Diff(want, w.application("default").Status.Class); diff != "" {
			w.Errorf("status.class (-want +got):\n%s", diff)
		}

		syncs := func(name string) int { return len(w.log.find("Synced", `application="`+namespace+"/"+name+`"`)) }
		before := map[string]int{"named": syncs("named"), "default": syncs("default"), "other": syncs("other")}
		w.editClass("standard", func(c *v1.ApplicationClass) { c.Spec.Defaults.PriorityClassName = "lower" })
		pass(time.Minute)
		w.wantPriorities(map[string]string{"named": "high", "default": "lower", "other": "lower"})
		if got := syncs("named"); got != before["named"] {
			w.Errorf("the Application of another class was synced %d times", got-before["named"])
		}
		if syncs("default") == before["default"] || syncs("other") == before["other"] {
			w.Error("Applications of the class were not synced")
		}
		w.wantCounts("standard", 2, 2, 0)
		if got := w.class("standard").Status; got.ObservedGeneration != 2 || !meta.IsStatusConditionTrue(got.Conditions, v1.ConditionReady) {
			w.Errorf("status of the class is %+v", got)
		}

		// One that a user holds back is not updated.
		for _, policy := range []v1.ReconcilePolicy{v1.ReconcileObserve, v1.ReconcileEnforce} {
			w.edit("other", func(a *v1.Application) { a.Spec.ReconcilePolicy = policy })
			pass(time.Minute)
			w.wantCounts("standard", 2, map[v1.ReconcilePolicy]int32{v1.ReconcileObserve: 1, v1.ReconcileEnforce: 2}[policy], 0)
		}

		// At rest nothing is written, and a label of a class is nothing to act on.
		version, synced := w.server.Version(), len(w.log.find("Synced"))
		w.editClass("gold", func(c *v1.ApplicationClass) { c.Labels = map[string]string{"team": "a"} })
		pass(time.Hour)
		if w.server.Version() != version+1 || len(w.log.find("Synced")) != synced {
			w.Errorf("%d writes and %d syncs after a class got a label", w.server.Version()-version-1, len(w.log.find("Synced"))-synced)
		}
	})
}

// The default class comes, is replaced by a newer one, and goes; those that name a class stay as they are.
func TestDefaultClassChanges(t *testing.T) {
	begin := both(withClasses(classOf("gold", "high")), withApplications(named("named", "gold"), application("default")))
	inWorld(t, setup{begin: begin}, func(w *world) {
		pass(time.Minute)
		w.wantPriorities(map[string]string{"named": "high", "default": ""})
		if w.application("default").Status.Class != nil {
			w.Error("without a default class there is status.class")
		}
		applytest.Put(w.server, applytest.ApplicationClasses, asDefault(classOf("old", "low")))
		pass(time.Minute)
		w.wantPriorities(map[string]string{"named": "high", "default": "low"})
		applytest.Put(w.server, applytest.ApplicationClasses, asDefault(classOf("new", "lower")))
		pass(time.Minute)
		w.wantPriorities(map[string]string{"named": "high", "default": "lower"})
		w.wantCounts("old", 0, 0, 0)
		w.wantCounts("new", 1, 1, 0)
		for name, want := range map[string]string{"old": v1.ReasonNewerDefault, "new": v1.ReasonDefaultClass} {
			if got := meta.FindStatusCondition(w.class(name).Status.Conditions, v1.ConditionDefault); got == nil || got.Reason != want {
				w.Errorf("class %s says %+v, want %s", name, got, want)
			}
		}
		w.editClass("new", func(c *v1.ApplicationClass) { c.Annotations = nil })
		pass(time.Minute)
		w.wantPriorities(map[string]string{"named": "high", "default": "low"})
		w.server.Delete(applytest.ApplicationClasses, "", "old")
		pass(time.Minute)
		w.wantPriorities(map[string]string{"named": "high", "default": ""})
		if w.application("default").Status.Class != nil {
			w.Error("status.class outlived the class")
		}
	})
}

// An Application waits for its class, keeps its children when the class goes, and starts when it appears.
func TestMissingClass(t *testing.T) {
	inWorld(t, setup{begin: withApplications(named("web", "gold"))}, func(w *world) {
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonClassNotFound)
		if got := w.server.All(); len(got) > 0 {
			w.Errorf("there are %v before the class", got)
		}
		syncs := len(w.log.find("Synced"))
		pass(time.Hour)
		if got := len(w.log.find("Synced")); got != syncs {
			w.Errorf("%d syncs while it waits", got-syncs)
		}
		applytest.Put(w.server, applytest.ApplicationClasses, classOf("gold", "high"))
		pass(time.Second)
		w.wantPriorities(map[string]string{"web": "high"})
		w.pods("web", 1)
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
		w.server.Delete(applytest.ApplicationClasses, "", "gold")
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonClassNotFound)
		w.wantPriorities(map[string]string{"web": "high"})
	})
}

// A limit that is newer than an Application stalls it, with its last good children; the class counts it.
func TestClassLimit(t *testing.T) {
	begin := both(withClasses(classOf("gold", "high")), withApplications(named("web", "gold")))
	inWorld(t, setup{begin: begin}, func(w *world) {
		pass(time.Minute)
		w.editClass("gold", func(c *v1.ApplicationClass) {
			c.Spec.Defaults.PriorityClassName = "higher"
			c.Spec.Limits = &v1.ApplicationLimits{AllowedRegistries: []string{"ghcr.io/acme"}}
		})
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonClassLimitExceeded)
		stalled := meta.FindStatusCondition(w.application("web").Status.Conditions, v1.ConditionStalled)
		for _, part := range []string{"spec.image", "registry.example.com/web:1", `ApplicationClass "gold" allows`, "ghcr.io/acme"} {
			if !strings.Contains(stalled.Message, part) {
				w.Errorf("the message %q does not contain %q", stalled.Message, part)
			}
		}
		w.wantPriorities(map[string]string{"web": "high"})
		w.wantCounts("gold", 1, 0, 1)
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "ghcr.io/acme/web:1" })
		pass(time.Minute)
		w.wantPriorities(map[string]string{"web": "higher"})
		w.wantCounts("gold", 1, 1, 0)
	})
}

// While a change of a class is on its way to 500 Applications, an edit of one of them goes first,
// also when the others have waited for long; and the class does not tell of each of them.
func TestEditOvertakesClassChange(t *testing.T) {
	const applications = 500
	begin := func(s *applytest.Server) {
		withClasses(classOf("gold", "high"))(s)
		withApplications(application("slow"))(s)
		for i := range applications {
			a := named(fmt.Sprintf("web-%04d", i), "gold")
			a.Spec.ReconcilePolicy = v1.ReconcileObserve // Without children the test is quick.
			applytest.Put(s, applytest.Applications, a)
		}
	}
	inWorld(t, setup{begin: begin}, func(w *world) {
		pass(4 * time.Minute)
		w.wantCounts("gold", applications, 0, 0)
		ofClass := func(r applytest.Request) bool { return r.Kind == applytest.ApplicationClasses && r.Writes() }
		before := w.count(ofClass)

		// The only worker is kept busy while all others are queued.
		release := make(chan struct{})
		remove := w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			if r.Kind == child.Deployment && r.Writes() {
				<-release
			}
			return nil
		})
		w.edit("slow", func(a *v1.Application) { a.Spec.Image = "slow:2" })
		pass(time.Second)
		w.editClass("gold", func(c *v1.ApplicationClass) { c.Spec.Defaults.PriorityClassName = "higher" })
		pass(5 * time.Minute)
		w.edit("web-0499", func(a *v1.Application) { a.Spec.Image = "web:2" })
		pass(time.Second)
		seen := len(w.log.find("Synced"))
		close(release)
		pass(time.Minute)
		remove()
		synced := slices.DeleteFunc(w.log.find("Synced")[seen:], func(line string) bool { return strings.Contains(line, "slow") })
		if len(synced) < applications || !strings.Contains(synced[0], "web-0499") {
			w.Errorf("%d syncs, want %d, and that of web-0499 before all others:\n%s", len(synced), applications, synced[:min(3, len(synced))])
		}
		w.wantCounts("gold", applications, 0, 0)
		if got := w.class("gold").Status.Conditions; !meta.IsStatusConditionTrue(got, v1.ConditionReady) {
			w.Errorf("a sync is still due: %+v", got)
		}
		if got := w.count(ofClass) - before; got > 2 {
			w.Errorf("%d writes of the class's status", got)
		}
	})
}
