// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// A label of a namespace gives its Applications another class, which shares a host name with other namespaces. An Application of
// another namespace that was refused the host name gets it then.
func TestNamespaceLabelsWakeRefusedRoutes(t *testing.T) {
	const other = "other"
	begin := func(s *applytest.Server) {
		for _, name := range []string{namespace, other} {
			applytest.Put(s, applytest.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": name}}})
		}
		sharing := asDefault(classOf("sharing", "low"))
		sharing.Spec.Limits = &v1.ApplicationLimits{SharedHostnames: []string{"web.example.com"}}
		sharing.Spec.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "team", Operator: metav1.LabelSelectorOpIn, Values: []string{other, "partner"}},
		}}
		applytest.Put(s, applytest.ApplicationClasses, sharing)
		applytest.Put(s, applytest.Applications, routed("first", "web.example.com"))
	}
	inWorld(t, setup{begin: begin}, func(w *world) {
		pass(5 * time.Second)
		second := routed("second", "web.example.com")
		second.Namespace, second.Spec.Routes[0].Paths = other, []v1.RoutePath{{Path: "/second"}}
		applytest.Put(w.server, applytest.Applications, second)
		serves := func() bool {
			return applytest.Get[child.Object](w.server, child.Ingress, other, "second") != nil
		}
		pass(5 * time.Second)
		if serves() {
			t.Fatal("second serves a host name that is not shared")
		}
		applytest.Edit(w.server, applytest.Namespaces, "", namespace, func(n *corev1.Namespace) { n.Labels["team"] = "partner" })
		pass(5 * time.Second)
		if !serves() {
			t.Error("the host name is shared now, but second does not serve it")
		}
		w.wantRoutes("first")
	})
}
