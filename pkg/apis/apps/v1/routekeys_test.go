// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
)

func TestNewRouteKey(t *testing.T) {
	for _, test := range []struct {
		path     string
		pathType networkingv1.PathType
		want     string
	}{
		{"", "", "web.example.com/"},
		{"/", networkingv1.PathTypePrefix, "web.example.com/"},
		{"/", networkingv1.PathTypeExact, "web.example.com/"},
		{"/login", networkingv1.PathTypePrefix, "web.example.com/login"},
		{"/login/", networkingv1.PathTypePrefix, "web.example.com/login"},
		{"/login/", networkingv1.PathTypeExact, "web.example.com/login"},
		{"/Login", "", "web.example.com/Login"},
		{"/l%6Fgin", networkingv1.PathTypeExact, "web.example.com/login"},
		{"/l%6Fgin", networkingv1.PathTypeImplementationSpecific, "web.example.com/l%6Fgin"},
		{"/50%", "", "web.example.com/50%"},
	} {
		if got := NewRouteKey("WEB.example.com", RoutePath{Path: test.path, PathType: test.pathType}).String(); got != test.want {
			t.Errorf("%s %s is %s, want %s", test.pathType, test.path, got, test.want)
		}
	}
}

func TestRouteKeys(t *testing.T) {
	application := &Application{Spec: ApplicationSpec{Routes: []Route{
		{Hostnames: []string{"b.example.com", "a.example.com"}},
		{Hostnames: []string{"a.example.com"}, Paths: []RoutePath{{Path: "/x"}, {Path: "/x/"}, {Path: "/"}}},
	}}}
	want := []RouteKey{{"b.example.com", "/"}, {"a.example.com", "/"}, {"a.example.com", "/x"}}
	if diff := cmp.Diff(want, application.RouteKeys()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if got := (&Application{}).RouteKeys(); got != nil {
		t.Errorf("without routes there are %v", got)
	}
}
