// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

// TestReadClasses: without permission to list classes, the one that the Application has is enough.
func TestReadClasses(t *testing.T) {
	resource := v1.Resource(v1.ApplicationClassResource)
	settled := &v1.Application{ObjectMeta: metav1.ObjectMeta{Generation: 1}, Status: v1.ApplicationStatus{ObservedGeneration: 1}}
	named := func(class string) *v1.Application { return &v1.Application{Spec: v1.ApplicationSpec{ClassName: class}} }
	for name, test := range map[string]struct {
		application *v1.Application
		mayList     bool
		mayGet      bool
		want        string
		denied      bool
	}{
		"list":                            {application: named("gold"), mayList: true, want: "gold silver"},
		"get":                             {application: named("gold"), mayGet: true, want: "gold"},
		"get one that does not exist":     {application: named("none"), mayGet: true},
		"nothing, of none":                {application: settled},
		"nothing":                         {application: named("gold"), denied: true},
		"get, and no name to get by":      {application: &v1.Application{}, mayGet: true, denied: true},
		"list, of one that has no status": {application: &v1.Application{}, mayList: true, want: "gold silver"},
	} {
		t.Run(name, func(t *testing.T) {
			fairlead := fake.NewClientset(&v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: "gold"}}, &v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: "silver"}})
			for verb, may := range map[string]bool{"list": test.mayList, "get": test.mayGet} {
				fairlead.PrependReactor(verb, v1.ApplicationClassResource, func(clienttesting.Action) (bool, runtime.Object, error) {
					return !may, nil, apierrors.NewForbidden(resource, "", errors.New(`User "dev" cannot `+verb))
				})
			}
			classes, err := readClasses(t.Context(), &cluster.Clients{Fairlead: fairlead}, test.application)
			var names []string
			for _, class := range classes {
				names = append(names, class.Name)
			}
			if got := strings.Join(names, " "); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			if denied := (*classesForbiddenError)(nil); errors.As(err, &denied) != test.denied || err != nil && !test.denied {
				t.Fatalf("%v, want denied %t", err, test.denied)
			}
			const advice = "cannot list\nIts class decides what an Application becomes. Ask for get and list of applicationclasses.apps.fairlead.dev in the whole cluster, " +
				"or pass the classes as files with --class-file; an empty directory, if there are none."
			if test.denied && !strings.HasSuffix(explain(err), advice) {
				t.Errorf("%q, want the end %q", explain(err), advice)
			}
		})
	}
}

// TestLacksHTTPRoutes: without the Gateway API, a route with parentRefs becomes an Ingress, so render and diff have to know.
func TestLacksHTTPRoutes(t *testing.T) {
	routed := &v1.Application{Spec: v1.ApplicationSpec{Routes: []v1.Route{{Name: "public"}}}}
	for _, test := range []struct {
		serves, resource string
		application      *v1.Application
		lacks            bool
	}{
		{"gateway.networking.k8s.io/v1", "httproutes", routed, false},
		{"gateway.networking.k8s.io/v1", "gateways", routed, true},
		{"gateway.networking.k8s.io/v1beta1", "httproutes", routed, true},
		{"gateway.networking.k8s.io/v1beta1", "httproutes", &v1.Application{}, false}, // It does not matter.
	} {
		kube := kubefake.NewClientset()
		kube.Resources = []*metav1.APIResourceList{{GroupVersion: test.serves, APIResources: []metav1.APIResource{{Name: test.resource}}}}
		lacks, err := lacksHTTPRoutes(t.Context(), &cluster.Clients{Kube: kube}, test.application)
		if lacks != test.lacks || err != nil {
			t.Errorf("%s %s with %d routes: %t, %v, want %t", test.serves, test.resource, len(test.application.Spec.Routes), lacks, err, test.lacks)
		}
	}
}
