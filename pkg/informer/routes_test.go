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
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
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

// The index follows the specs of the Applications in all watched namespaces.
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

// The index finds host names that overlap, whatever their depth, just as v1.HostsOverlap does.
func TestEachOfHost(t *testing.T) {
	const deep = "a.b.c.d.e.example.com" // With two more labels it is as deep as may be.
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
		if err := VisitHost(indexer, host, func(_ Routed, host string) { got = append(got, host) }); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		slices.Sort(got)
		if host != ".example.com" && !slices.Equal(want, got) {
			t.Errorf("%s overlaps with %q, want %q", host, got, want)
		}
	}
}

// The index keeps a bounded number of entries for a host name, however many labels it has.
func TestIndexOfHostsIsBounded(t *testing.T) {
	host := "a"
	for len(host) < 250 {
		host += ".a"
	}
	if got := len(hostValues(routed("a", host))); got > 1+maxDomains {
		t.Errorf("%d values for one host name", got)
	}
}

// TestS8MadeUpRoutes has Ingresses that a user wrote to look like Fairlead's. They must not take a host name from the
// Application that has it, least of all every host name at once.
func TestS8MadeUpRoutes(t *testing.T) {
	run(t, Options{}, func(s *applytest.Server) {
		applytest.Put(s, applytest.Applications, routed("victim", "shop.example.com"))
		applytest.Put(s, applytest.Applications, application("evil"))
		leaving := routed("evil", "soon.example.com")
		leaving.Name, leaving.Finalizers, leaving.DeletionTimestamp = "leaving", []string{"example.com/hold"}, new(metav1.Now())
		applytest.Put(s, applytest.Applications, leaving)
		for name, owner := range map[string]string{"ghost": "ghost", "namesake": "web"} {
			applytest.Put(s, child.Ingress, madeUp(name, owner, "*.com", "shop.example.com"))
		}
	}, func(f *fixture) {
		synctest.Wait()
		for host, want := range map[string][]string{
			"shop.example.com": {"evil", "evil", "victim"}, // Ranked after the victim, once that serves it.
			"any.example.com":  nil,
			"soon.example.com": nil,
		} {
			claims, err := f.informers.HostClaims(host)
			if diff := cmp.Diff(want, namespacesOf(claims), cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("claims to %s (-want +got, %v):\n%s", host, err, diff)
			}
			for _, claim := range claims {
				if claim.Serves && claim.Application.AsksForHost(host) {
					t.Errorf("%s counts as serving %s as asked", claim.Application.Namespace, host)
				}
			}
		}
	})
}

// madeUp returns an Ingress whose ownerReference has the name of an Application, and a UID that no object has.
func madeUp(name, owner string, hosts ...string) *networkingv1.Ingress {
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{
		Namespace: "evil", Name: name,
		Labels: map[string]string{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: owner},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.ApplicationKind, Name: owner, UID: "made-up", Controller: new(true),
		}},
	}}
	for _, host := range hosts {
		ingress.Spec.Rules = append(ingress.Spec.Rules, networkingv1.IngressRule{Host: host})
	}
	return ingress
}
