// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// routedTo is an Application with one route.
func routedTo(name, route string, more ...string) string {
	return named(small, name) + "  ports: [{name: http, containerPort: 80}]\n  routes: [{name: a, " + route + "}]\n" + strings.Join(more, "")
}

// hosts are all host names that the Ingresses of the namespace serve.
func (e *env) hosts() []string {
	e.Helper()
	list, err := e.kube.NetworkingV1().Ingresses(e.namespace).List(e.Context(), metav1.ListOptions{})
	if err != nil {
		e.Fatal(err)
	}
	var hosts []string
	for _, ingress := range list.Items {
		for _, rule := range ingress.Spec.Rules {
			hosts = append(hosts, rule.Host)
		}
		for _, tls := range ingress.Spec.TLS {
			hosts = append(hosts, tls.Hosts...)
		}
	}
	return hosts
}

// TestS8RouteHijackWithoutWebhooks lets a tenant of another namespace ask in every way for requests that belong to
// a host name which is taken, where no webhook refuses it: no Ingress of the tenant's ever serves them.
func TestS8RouteHijackWithoutWebhooks(t *testing.T) {
	t.Parallel()
	cluster := shared.Get(t)
	e, attacker := newEnv(t, cluster), newEnv(t, cluster)
	e.run(func(s *setup) { s.Namespaces = append(s.Namespaces, attacker.namespace) })
	domain := e.namespace + ".example.com"
	host, wild := "shop."+domain, "*.wild."+domain
	tenant := attacker.as("edit")
	// Older than its victim, so that age alone would make it the owner.
	tenant.create(routedTo("old", "hostnames: [old."+domain+"]"))
	attacker.waitReady("old")
	e.as("edit").create(routedTo("victim", "hostnames: ["+host+`, "`+wild+`"]`))
	e.waitReady("victim")

	asks := map[string]string{
		"same":         "hostnames: [" + host + "]",
		"login":        "hostnames: [" + host + "], paths: [{path: /login}]",
		"exact":        "hostnames: [" + host + "], paths: [{path: /, pathType: Exact}]",
		"regex":        "hostnames: [" + host + `], paths: [{path: "/(.*)", pathType: ImplementationSpecific}]`,
		"second":       "hostnames: [mine." + domain + ", " + host + "]",
		"tls":          "hostnames: [" + host + "], tls: {secretName: any}",
		"above":        `hostnames: ["*.` + domain + `"]`,
		"far-above":    `hostnames: ["*.example.com"]`,
		"below":        "hostnames: [a.wild." + domain + "]",
		"far-below":    "hostnames: [a.b.wild." + domain + "]",
		"narrow":       `hostnames: ["*.b.wild.` + domain + `"]`,
		"the-wildcard": `hostnames: ["` + wild + `"]`,
	}
	for name, route := range asks {
		tenant.create(routedTo(name, route))
	}
	tenant.editSpec("old", func(spec *v1.ApplicationSpec) { spec.Routes[0].Hostnames = []string{host} })
	for _, name := range append(slices.Collect(maps.Keys(asks)), "old") {
		stalled := attacker.waitCondition(name, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonRouteConflict)
		if message := describe(stalled); !strings.Contains(message, domain) {
			t.Errorf("%s is not told which host name is taken: %s", name, message)
		}
	}
	for _, taken := range []string{host, wild} {
		for _, served := range attacker.hosts() {
			if v1.HostsOverlap(served, taken) {
				t.Errorf("the attacker serves %s, which takes requests for %s", served, taken)
			}
		}
	}
	if got := e.hosts(); !slices.Equal(got, []string{host, wild}) {
		t.Errorf("the owner serves %q", got)
	}
}

// TestS8ServedHostIsNotTaken: an Application that serves a host name keeps it, though it asks for another one in vain,
// or only observes; its status names what is served; and no second Ingress serves it.
func TestS8ServedHostIsNotTaken(t *testing.T) {
	t.Parallel()
	cluster := shared.Get(t)
	e, attacker := newEnv(t, cluster), newEnv(t, cluster)
	e.run(func(s *setup) { s.Namespaces = append(s.Namespaces, attacker.namespace) })
	tenant := attacker.as("edit")
	host := func(name string) string { return name + "." + e.namespace + ".example.com" }
	e.create(routedTo("refused", "hostnames: ["+host("one")+"]"), routedTo("observing", "hostnames: ["+host("two")+"]"), routedTo("third", "hostnames: ["+host("three")+"]"))
	for _, name := range []string{"refused", "observing", "third"} {
		e.waitReady(name)
	}
	tenant.create(routedTo("squatter", "hostnames: ["+host("free")+"]"))
	attacker.waitReady("squatter")

	e.editSpec("refused", func(spec *v1.ApplicationSpec) { spec.Routes[0].Hostnames = []string{host("free")} })
	e.waitCondition("refused", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonRouteConflict)
	e.editSpec("observing", func(spec *v1.ApplicationSpec) {
		spec.ReconcilePolicy, spec.Routes[0].Hostnames = v1.ReconcileObserve, []string{host("unused")}
	})
	e.eventually("the edit is observed", func() (bool, string) {
		application := e.application("observing")
		return application.Status.ObservedGeneration == application.Generation, describe(application)
	})
	tenant.create(routedTo("thief-one", "hostnames: ["+host("one")+"]"), routedTo("thief-two", "hostnames: ["+host("two")+"]"))
	for _, name := range []string{"thief-one", "thief-two"} {
		attacker.waitCondition(name, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonRouteConflict)
	}
	if got := attacker.hosts(); !slices.Equal(got, []string{host("free")}) {
		t.Errorf("the attacker serves %q", got)
	}
	for name, served := range map[string]string{"refused": host("one"), "observing": host("two")} {
		if got := e.application(name).Status.URLs; !slices.Equal(got, []string{"http://" + served + "/"}) {
			t.Errorf("the URLs of %s are %q, and it serves %s", name, got, served)
		}
	}
	// Once it is served no more, it is given on.
	e.editSpec("refused", func(spec *v1.ApplicationSpec) { spec.Routes = nil })
	attacker.waitReady("thief-one")
}
