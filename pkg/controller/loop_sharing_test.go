// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

const otherNamespace = "other"

// withSharing has two namespaces, and classes that share host names: sharing does for all namespaces, sharing-too only for the
// other one. The class plain shares none.
func withSharing(s *applytest.Server) {
	for _, name := range []string{namespace, otherNamespace} {
		applytest.Put(s, applytest.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": name}}})
	}
	sharing, too := classOf("sharing", "low"), classOf("sharing-too", "low")
	for _, class := range []*v1.ApplicationClass{sharing, too} {
		class.Spec.Limits = &v1.ApplicationLimits{SharedHostnames: []string{"*.example.com"}}
	}
	too.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": otherNamespace}}
	for _, class := range []*v1.ApplicationClass{sharing, too, classOf("plain", "low")} {
		applytest.Put(s, applytest.ApplicationClasses, class)
	}
}

// sharing is an Application with a path of its own under the host name.
func sharing(namespace, name, class, hostname string) *v1.Application {
	a := routed(name, hostname)
	a.Namespace, a.Spec.ClassName, a.Spec.Routes[0].Paths = namespace, class, []v1.RoutePath{{Path: "/" + name}}
	return a
}

// syncs is how often an Application of the namespace shop was synced.
func (w *world) syncs(name string) int { return len(w.log.find("Synced", key(name).String())) }

// editOther changes an Application of the other namespace.
func (w *world) editOther(name string, change func(*v1.Application)) {
	w.Helper()
	applytest.Edit(w.server, applytest.Applications, otherNamespace, name, change)
}

// An Application no longer shares its host name, because it has another class or its class changed. The Application of another
// namespace, and of another class, that loses the host name to it says so at once. One that keeps its host name is not even queued.
func TestEndOfSharing(t *testing.T) {
	for name, leave := range map[string]func(*world){
		"className":     func(w *world) { w.editOther("leaving", func(a *v1.Application) { a.Spec.ClassName = "plain" }) },
		"missing class": func(w *world) { w.editOther("leaving", func(a *v1.Application) { a.Spec.ClassName = "missing" }) },
		"class deleted": func(w *world) { w.server.Delete(applytest.ApplicationClasses, "", "sharing-too") },
		"sharedHostnames": func(w *world) {
			applytest.Edit(w.server, applytest.ApplicationClasses, "", "sharing-too", func(c *v1.ApplicationClass) { c.Spec.Limits = nil })
		},
		"namespace label": func(w *world) {
			applytest.Edit(w.server, applytest.Namespaces, "", otherNamespace, func(n *corev1.Namespace) { n.Labels = nil })
		},
	} {
		for _, first := range []string{"leaving", "staying"} {
			t.Run(name+"/first is "+first, func(t *testing.T) {
				inWorld(t, setup{begin: withSharing}, func(w *world) {
					older := sharing(otherNamespace, "leaving", "sharing-too", "*.example.com")
					younger := sharing(namespace, "staying", "sharing", "web.example.com")
					if first == "staying" {
						older, younger = younger, older
					}
					applytest.Put(w.server, applytest.Applications, older)
					pass(5 * time.Second)
					applytest.Put(w.server, applytest.Applications, younger)
					pass(5 * time.Second)
					if !w.hasIngress("staying") || applytest.Get[child.Object](w.server, child.Ingress, otherNamespace, "leaving") == nil {
						t.Fatal("they do not share the host name")
					}
					before := w.syncs("staying")
					leave(w)
					pass(5 * time.Second)
					refused := meta.FindStatusCondition(w.application("staying").Status.Conditions, v1.ConditionStalled)
					if loses := refused != nil && refused.Reason == v1.ReasonRouteConflict; loses != (first == "leaving") {
						t.Errorf("staying loses its host name: %t; its condition is %+v", loses, refused)
					}
					if after := w.syncs("staying"); first == "staying" && after > before {
						t.Errorf("%d syncs of staying, which keeps its host name", after-before)
					}
				})
			})
		}
	}
}

// A tenant asks for a wildcard of a shared domain, and changes className again and again. That wakes no Application that keeps its
// host name.
func TestClassNamesWakeNobody(t *testing.T) {
	inWorld(t, setup{begin: withSharing}, func(w *world) {
		names := []string{"first", "second"}
		for _, name := range names {
			applytest.Put(w.server, applytest.Applications, sharing(namespace, name, "sharing", name+".example.com"))
		}
		pass(5 * time.Second)
		applytest.Put(w.server, applytest.Applications, sharing(otherNamespace, "thief", "sharing", "*.example.com"))
		pass(5 * time.Second)
		before := map[string]int{}
		for _, name := range names {
			before[name] = w.syncs(name)
		}
		for _, class := range []string{"plain", "sharing", "missing", "sharing-too", "", "sharing", "plain"} {
			w.editOther("thief", func(a *v1.Application) { a.Spec.ClassName = class })
			pass(5 * time.Second)
		}
		for _, name := range names {
			if got := w.syncs(name) - before[name]; got > 0 || !w.hasIngress(name) {
				t.Errorf("%s: %d syncs; it has an Ingress: %t", name, got, w.hasIngress(name))
			}
		}
	})
}
