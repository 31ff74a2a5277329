// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
)

func routed(namespace string, hostnames ...string) *v1.Application {
	a := application(namespace)
	a.Spec.Routes = []v1.Route{{Name: "public", Hostnames: hostnames}}
	return a
}

// The index follows what the Applications ask for, over all namespaces that are watched.
func TestRouteClaimants(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options
		// visible is whether namespace c is watched.
		visible bool
	}{{"all namespaces", Options{}, true}, {"two namespaces", Options{Namespaces: []string{"a", "b"}}, false}} {
		t.Run(test.name, func(t *testing.T) {
			run(t, test.options, func(s *applytest.Server) {
				applytest.Put(s, applytest.Applications, routed("a", "web.example.com", "a.example.com"))
				applytest.Put(s, applytest.Applications, routed("b", "WEB.example.com"))
				applytest.Put(s, applytest.Applications, routed("c", "web.example.com"))
			}, func(f *fixture) {
				want := func(host string, namespaces ...string) {
					t.Helper()
					synctest.Wait()
					claimants, err := f.informers.RouteClaimants(v1.RouteKey{Host: host, Path: "/"})
					if err != nil {
						t.Fatal(err)
					}
					var got []string
					for _, claimant := range claimants {
						got = append(got, claimant.Namespace)
					}
					slices.Sort(got)
					if !test.visible {
						namespaces = slices.DeleteFunc(namespaces, func(n string) bool { return n == "c" })
					}
					if diff := cmp.Diff(namespaces, got, cmpopts.EquateEmpty()); diff != "" {
						t.Errorf("who asks for %s (-want +got):\n%s", host, diff)
					}
				}
				want("web.example.com", "a", "b", "c")
				want("a.example.com", "a")
				want("none.example.com")
				applytest.Edit(f.server, applytest.Applications, "a", "web", func(a *v1.Application) { a.Spec.Routes = nil })
				f.server.Delete(applytest.Applications, "b", "web")
				want("web.example.com", "c")
				want("a.example.com")
			})
		})
	}
}

func TestRouteIndexTakesApplicationsOnly(t *testing.T) {
	if _, err := routeIndex(&corev1.ConfigMap{}); err == nil {
		t.Error("a ConfigMap has routes")
	}
}
