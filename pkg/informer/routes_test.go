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
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
)

func routed(namespace string, hostnames ...string) *v1.Application {
	a := application(namespace)
	a.Spec.Routes = []v1.Route{{Name: "public", Hostnames: hostnames}}
	return a
}

func namespacesOf(claims []v1.RouteClaim) []string {
	var got []string
	for _, claim := range claims {
		got = append(got, claim.Application.Namespace)
	}
	slices.Sort(got)
	return got
}

// The index follows what the Applications ask for, over all namespaces that are watched.
func TestClaims(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options
		// visible is whether namespace c is watched.
		visible bool
	}{{"all namespaces", Options{}, true}, {"two namespaces", Options{Namespaces: []string{"a", "b"}}, false}} {
		t.Run(test.name, func(t *testing.T) {
			run(t, test.options, func(s *applytest.Server) {
				applytest.Put(s, applytest.Applications, routed("a", "web.example.com", "a.example.com"))
				applytest.Put(s, applytest.Applications, routed("b", "WEB.example.com."))
				applytest.Put(s, applytest.Applications, routed("c", "web.example.com"))
			}, func(f *fixture) {
				want := func(host string, namespaces ...string) {
					t.Helper()
					synctest.Wait()
					claims, err := f.informers.HostClaims(host)
					if err != nil {
						t.Fatal(err)
					}
					if !test.visible {
						namespaces = slices.DeleteFunc(namespaces, func(n string) bool { return n == "c" })
					}
					if diff := cmp.Diff(namespaces, namespacesOf(claims), cmpopts.EquateEmpty()); diff != "" {
						t.Errorf("who asks for %s (-want +got):\n%s", host, diff)
					}
				}
				want("web.example.com", "a", "b", "c")
				want("a.example.com", "a")
				want("*.example.com", "a", "a", "b", "c")
				want("none.example.com")
				for namespace, found := range map[string]int{"a": 1, "b": 1, "d": 0} {
					claims, err := f.informers.RouteClaims(namespace, v1.RouteKey{Host: "web.example.com", Path: "/"})
					if err != nil || len(claims) != found {
						t.Errorf("in namespace %s %d ask for web.example.com/, want %d (%v)", namespace, len(claims), found, err)
					}
				}
				applytest.Edit(f.server, applytest.Applications, "a", "web", func(a *v1.Application) { a.Spec.Routes = nil })
				f.server.Delete(applytest.Applications, "b", "web")
				want("web.example.com", "c")
				want("a.example.com")
			})
		})
	}
}

func TestRouteIndexTakesRoutesOnly(t *testing.T) {
	for name, index := range RouteIndexers() {
		if _, err := index(&corev1.ConfigMap{}); err == nil {
			t.Errorf("index %s: a ConfigMap has routes", name)
		}
	}
}

// Host names overlap whatever their depth, in the index as by v1.HostsOverlap.
func TestEachOfHost(t *testing.T) {
	const deep = "a.b.c.d.e.f.g.h.i.j.example.com"
	hosts := []string{
		"example.com", "*.example.com", "shop.example.com", "a.shop.example.com", "*.shop.example.com", "*.com", "notexample.com", "shop.example.org",
		deep, "*." + deep, "x." + deep, "*.x." + deep, "*.y." + deep, ".example.com", "com",
	}
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, RouteIndexers())
	for _, host := range hosts {
		if err := indexer.Add(routed(host, host)); err != nil {
			t.Fatal(err)
		}
	}
	for _, host := range hosts {
		var want, got []string
		for _, other := range hosts {
			if v1.HostsOverlap(host, other) && other != ".example.com" {
				want = append(want, other)
			}
		}
		if err := EachOfHost(indexer, host, func(_ Routed, host string) { got = append(got, host) }); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		slices.Sort(got)
		if host != ".example.com" && !slices.Equal(want, got) {
			t.Errorf("%s overlaps with %q, want %q", host, got, want)
		}
	}
}

// What the index keeps of a host name is bounded, however many labels it has.
func TestIndexOfHostsIsBounded(t *testing.T) {
	host := "a"
	for len(host) < 250 {
		host += ".a"
	}
	if got := len(hostValues(routed("a", host))); got > 1+maxDomains {
		t.Errorf("%d values for one host name", got)
	}
}
