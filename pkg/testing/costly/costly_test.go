// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package costly

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/crdschema"
)

// Each spec can be stored, and none with one item more.
func TestSpecsAreAtTheLimits(t *testing.T) {
	resources, err := crdschema.Load("../../../artifacts/crds")
	if err != nil {
		t.Fatal(err)
	}
	refused := func(spec v1.ApplicationSpec) string {
		application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}, Spec: spec}
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(application)
		if err != nil {
			t.Fatal(err)
		}
		object["apiVersion"], object["kind"] = v1.SchemeGroupVersion.String(), "Application"
		if errs := resources["Application"].Check(t.Context(), object); len(errs) > 0 {
			return errs.ToAggregate().Error()
		}
		if excess := application.FindExcess(); excess != nil {
			return excess.String()
		}
		return ""
	}
	more := map[string]func(*v1.ApplicationSpec){
		"config": func(s *v1.ApplicationSpec) { s.Config.Data["a"] += "x" },
		"routes": func(s *v1.ApplicationSpec) {
			s.Routes[0].Paths = append(s.Routes[0].Paths, v1.RoutePath{Path: "/one-more"})
		},
		"env": func(s *v1.ApplicationSpec) { s.Env = []corev1.EnvVar{{Name: "ONE_MORE", Value: "x"}} },
		"affinity": func(s *v1.ApplicationSpec) {
			terms := &s.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			*terms = append(*terms, (*terms)[0])
		},
	}
	for name, spec := range Specs("example.com") {
		if why := refused(spec); why != "" {
			t.Errorf("%s is refused: %s", name, why)
		}
		more[name](&spec)
		if refused(spec) == "" {
			t.Errorf("%s with more is not refused", name)
		}
	}
}
