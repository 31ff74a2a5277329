// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// A default that the class has for resources, and that the Application contradicts, is warned of: a quota may ask for it.
func TestDroppedResources(t *testing.T) {
	const (
		memory  = `spec.resources.limits[memory]: the default 256Mi of ApplicationClass "standard" is not taken, because your request 512Mi is higher: set a limit, or Fairlead sets none`
		cpu     = `spec.resources.limits[cpu]: the default 1 of ApplicationClass "standard" is not taken, because your request 1500m is higher: set a limit, or Fairlead sets none`
		request = `spec.resources.requests[memory]: the default 128Mi of ApplicationClass "standard" is not taken, because your limit 64Mi is lower: set a request, or Kubernetes takes the limit as the request`
		other   = `spec.resources.limits[memory]: the default 300Mi of ApplicationClass "gold" is not taken, because your request 512Mi is higher: set a limit, or Fairlead sets none`
		devices = `spec.resources.requests[example.com/gpu]: the default 1 of ApplicationClass "standard" is not taken, because your limit 2 is higher: set a request, or Kubernetes takes the limit as the request`
	)
	resources := func(text string) *corev1.ResourceRequirements {
		var parsed corev1.ResourceRequirements
		if err := yaml.UnmarshalStrict([]byte(text), &parsed); err != nil {
			t.Fatal(err)
		}
		return &parsed
	}
	with := func(text string, changes ...func(*v1.Application)) *v1.Application {
		return application(func(a *v1.Application) {
			a.Spec.Resources = resources(text)
			for _, change := range changes {
				change(a)
			}
		})
	}
	classOf := func(name string, isDefault bool, text string) *v1.ApplicationClass {
		return applicationClass(name, isDefault, func(s *v1.ApplicationClassSpec) { s.Defaults = &v1.ApplicationDefaults{Resources: resources(text)} })
	}
	classes := &inClasses{classes: []*v1.ApplicationClass{
		classOf("standard", true, `{requests: {memory: 128Mi, example.com/gpu: 1}, limits: {cpu: 1, memory: 256Mi, example.com/gpu: 1}}`),
		classOf("gold", false, `{limits: {memory: 300Mi}}`),
		applicationClass("bare", false, nil),
	}}
	for _, test := range []struct {
		name         string
		updated, old *v1.Application
		want         []string
	}{
		{name: "no resources", updated: application(nil)},
		{name: "both fit", updated: with(`{requests: {memory: 256Mi}}`)},
		{name: "both are set", updated: with(`{requests: {memory: 512Mi}, limits: {memory: 1Gi}}`)},
		{name: "a limit below the request", updated: with(`{requests: {memory: 512Mi}}`), want: []string{memory}},
		{name: "two of them", updated: with(`{requests: {cpu: 1500m, memory: 512Mi}}`), want: []string{cpu, memory}},
		{name: "a request above the limit", updated: with(`{limits: {memory: 64Mi}}`), want: []string{request}},
		{name: "another number of devices", updated: with(`{limits: {example.com/gpu: 2}}`), want: []string{devices}},
		{name: "a class that is named", updated: with(`{requests: {memory: 512Mi}}`, inClass("gold")), want: []string{other}},
		{name: "a class without defaults", updated: with(`{requests: {memory: 512Mi}}`, inClass("bare"))},
		{name: "as before", updated: with(`{requests: {memory: 512Mi}}`, func(a *v1.Application) { a.Spec.Image += "1" }), old: with(`{requests: {memory: 512Mi}}`)},
		{name: "another class than before", updated: with(`{requests: {memory: 512Mi}}`, inClass("gold")), old: with(`{requests: {memory: 512Mi}}`), want: []string{other}},
	} {
		t.Run(test.name, func(t *testing.T) {
			question := review(t, test.updated, nil)
			if test.old != nil {
				question = review(t, test.updated, test.old)
			}
			response := ask(t, classes.handler(t), ValidatePath, question)
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}

// TestOtherDefaults: another class may replace the pods that run, and an edit that changes nothing else of them does not look like that.
func TestOtherDefaults(t *testing.T) {
	const (
		replaced = "spec.className: the Application gets other defaults, which may replace its pods"
		policed  = "spec.className: the Application gets a new NetworkPolicy, after which its pods may connect only to DNS, because the class lists no egress, and accept only what it lists, beside routes and monitoring"
		routed   = "spec.className: the Application gets other defaults of routes, such as tls"
		opened   = "spec.className: the Application loses its NetworkPolicy, which restricts the connections to and from the pods"
		held     = "spec.reconcilePolicy: it is Observe, so this change has no effect until you set it to Enforce"
		pinned   = "spec.rollback.toRevision: revision 99 does not exist, so this change has no effect until you name another one or remove the field. Revisions: 1"
		missing  = `ApplicationClass "missing" does not exist; the Application waits for it. Classes for namespace "shop": bare, high, low, policy, same, tls`
	)
	defaults := func(priority string) *v1.ApplicationDefaults {
		return &v1.ApplicationDefaults{PriorityClassName: priority}
	}
	classOf := func(name, priority string) *v1.ApplicationClass {
		return applicationClass(name, false, func(s *v1.ApplicationClassSpec) { s.Defaults = defaults(priority) })
	}
	classes := &inClasses{
		classes: []*v1.ApplicationClass{classOf("low", "low"), classOf("same", "low"), classOf("high", "high"), applicationClass("bare", false, nil), applicationClass("policy", false, func(s *v1.ApplicationClassSpec) {
			s.Defaults = &v1.ApplicationDefaults{NetworkPolicy: &v1.NetworkPolicy{}}
		}), applicationClass("tls", false, func(s *v1.ApplicationClassSpec) {
			s.Defaults = &v1.ApplicationDefaults{Routes: &v1.RouteDefaults{TLS: &v1.RouteTLSDefaults{}}}
		})},
	}
	type change = func(*v1.Application)
	runsWith := func(class, priority string) change {
		return func(a *v1.Application) {
			a.Spec.ClassName, a.Status.Replicas, a.Status.Class = class, 2, &v1.AppliedClass{Name: class, Defaults: defaults(priority)}
		}
	}
	own := func(a *v1.Application) { a.Spec.NetworkPolicy = &v1.NetworkPolicy{} }
	hasPolicy := func(a *v1.Application) {
		a.Spec.ClassName, a.Status.Class = "policy", &v1.AppliedClass{Name: "policy", Defaults: &v1.ApplicationDefaults{NetworkPolicy: &v1.NetworkPolicy{}}}
	}
	omitted := func(a *v1.Application) { a.Status.Class = &v1.AppliedClass{Name: "low", DefaultsOmitted: true} }
	without := func(a *v1.Application) { a.Status.Replicas, a.Status.Class = 2, nil }
	for _, test := range []struct {
		name    string
		old     []change
		changes []change
		want    []string
		foreign bool // The NetworkPolicy is not the Application's.
	}{
		{name: "others", old: []change{runsWith("low", "low")}, changes: []change{inClass("high")}, want: []string{replaced}},
		{name: "a NetworkPolicy", old: []change{runsWith("bare", "")}, changes: []change{inClass("policy")}, want: []string{policed}},
		{name: "a NetworkPolicy, and it has one of its own", old: []change{runsWith("bare", ""), own}, changes: []change{inClass("policy")}},
		{name: "no NetworkPolicy any more", old: []change{runsWith("bare", ""), hasPolicy}, changes: []change{inClass("bare")}, want: []string{opened}},
		{name: "no NetworkPolicy any more, and the one of its name is another's", old: []change{runsWith("bare", ""), hasPolicy}, changes: []change{inClass("bare")}, foreign: true},
		{name: "TLS of routes", old: []change{runsWith("bare", ""), withRoute("a.example.com")}, changes: []change{inClass("tls")}, want: []string{routed}},
		{name: "none any more", old: []change{runsWith("low", "low")}, changes: []change{inClass("")}, want: []string{replaced}},
		{name: "the first ones", old: []change{without}, changes: []change{inClass("low")}, want: []string{replaced}},
		{name: "those of the class, which status omits", old: []change{runsWith("low", "low"), omitted}, changes: []change{inClass("high")}, want: []string{replaced}},
		{name: "the same, which status omits", old: []change{runsWith("low", "low"), omitted}, changes: []change{inClass("same")}},
		{name: "the same", old: []change{runsWith("low", "low")}, changes: []change{inClass("same")}},
		{name: "those that the pods kept from before a typo", old: []change{runsWith("low", "low"), inClass("lwo")}, changes: []change{inClass("low")}},
		{name: "a class that may follow", old: []change{runsWith("low", "low")}, changes: []change{inClass("missing")}, want: []string{missing}},
		{name: "and another image", old: []change{runsWith("low", "low")}, changes: []change{inClass("high"), image("web:2")}},
		{name: "without pods", old: []change{runsWith("low", "low"), func(a *v1.Application) { a.Status.Replicas = 0 }}, changes: []change{inClass("high")}},
		{
			name: "paused", old: []change{runsWith("low", "low"), func(a *v1.Application) { a.Spec.Paused = new(true) }}, changes: []change{inClass("high")},
			want: []string{replaced + " once you set spec.paused to false"},
		},
		{
			name: "Observe", old: []change{runsWith("low", "low"), func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileObserve }}, changes: []change{inClass("high")},
			want: []string{held},
		},
		{name: "pinned", old: []change{runsWith("low", "low"), toRevision99}, changes: []change{inClass("high")}, want: []string{pinned}},
	} {
		t.Run(test.name, func(t *testing.T) {
			old := application(func(a *v1.Application) {
				for _, change := range test.old {
					change(a)
				}
			})
			updated := old.DeepCopy()
			for _, change := range test.changes {
				change(updated)
			}
			objects := &cluster{revisions: []int64{1}, owned: []string{"NetworkPolicy/web"}, config: func(c *Config) { c.Classes = classes }}
			if test.foreign {
				objects.exist, objects.owned = objects.owned, nil
			}
			response := ask(t, objects.handler(t), ValidatePath, review(t, updated, old))
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}

// TestDroppedDefaults: a default of the class that another field of the Application excludes is warned of, since status shows only what was
// taken.
func TestDroppedDefaults(t *testing.T) {
	const (
		deadline    = `spec.progressDeadlineSeconds: the default 120 of ApplicationClass "standard" is not taken, because your minReadySeconds 120 is not below it: set a deadline, or it is 600`
		grace       = `spec.terminationGracePeriodSeconds: the default 10 of ApplicationClass "standard" is not taken, because a lifecycle hook of yours sleeps for 11 s: set a period, or it is 30`
		recreate    = `spec.strategy.type: the default Recreate of ApplicationClass "recreate" is not taken, because you set rollingUpdate: remove rollingUpdate, or the pods are replaced step by step`
		unavailable = `spec.strategy.rollingUpdate.maxUnavailable: the default 0% of ApplicationClass "standard" is not taken, because your maxSurge is 0 too: set it to more than 0, or it is 1`
		httpRoute   = `spec.routes[public].type: the default HTTPRoute of ApplicationClass "gateway" is not taken, because 17 hostnames are more than the 16 of an HTTPRoute: split the route, or it becomes an Ingress`
		specific    = `spec.routes[public].type: the default HTTPRoute of ApplicationClass "gateway" is not taken, because no HTTPRoute has your pathType ImplementationSpecific: use another one, or the route becomes an Ingress`
		parent      = `spec.routes[public].parentRefs: the default shared of ApplicationClass "parent" is not taken, because 17 hostnames are more than the 16 of an HTTPRoute: split the route, or it becomes an Ingress`
		surge       = `spec.strategy.rollingUpdate.maxSurge: the default 0 of ApplicationClass "surgeless" is not taken, because your maxUnavailable is 0 too: set it to more than 0, or it is 25%`
	)
	with := func(text string, changes ...func(*v1.Application)) *v1.Application {
		return application(func(a *v1.Application) {
			if err := yaml.UnmarshalStrict([]byte(text), &a.Spec); err != nil {
				t.Fatal(err)
			}
			for _, change := range changes {
				change(a)
			}
		})
	}
	classOf := func(name string, isDefault bool, text string) *v1.ApplicationClass {
		return applicationClass(name, isDefault, func(s *v1.ApplicationClassSpec) {
			s.Defaults = &v1.ApplicationDefaults{}
			if err := yaml.UnmarshalStrict([]byte(text), s.Defaults); err != nil {
				t.Fatal(err)
			}
		})
	}
	classes := &inClasses{classes: []*v1.ApplicationClass{
		classOf("standard", true, `{progressDeadlineSeconds: 120, terminationGracePeriodSeconds: 10, strategy: {rollingUpdate: {maxUnavailable: 0%, maxSurge: 1}}}`),
		classOf("recreate", false, `strategy: {type: Recreate}`),
		classOf("gateway", false, `routes: {type: HTTPRoute, parentRefs: [{name: shared}]}`),
		classOf("parent", false, `routes: {parentRefs: [{name: shared}]}`),
		classOf("surgeless", false, `strategy: {rollingUpdate: {maxSurge: 0}}`),
	}}
	many := func(n int) func(*v1.Application) {
		var hostnames []string
		for i := range n {
			hostnames = append(hostnames, fmt.Sprintf("h%d.example.com", i))
		}
		return withRoute(hostnames...)
	}
	specificPath := func(a *v1.Application) {
		a.Spec.Routes[0].Paths = []v1.RoutePath{{PathType: networkingv1.PathTypeImplementationSpecific}}
	}
	ingress := func(a *v1.Application) { a.Spec.Routes[0].Type = v1.RouteIngress }
	const sleeping = `lifecycle: {preStop: {sleep: {seconds: 11}}}`
	for _, test := range []struct {
		name         string
		updated, old *v1.Application
		want         []string
	}{
		{name: "all fit", updated: with(`{minReadySeconds: 119, lifecycle: {preStop: {sleep: {seconds: 10}}}}`)},
		{name: "a deadline that no pod meets", updated: with(`minReadySeconds: 120`), want: []string{deadline}},
		{name: "its own deadline", updated: with(`{minReadySeconds: 120, progressDeadlineSeconds: 121}`)},
		{name: "a period that ends before the hook", updated: with(sleeping), want: []string{grace}},
		{name: "its own period", updated: with(`{lifecycle: {preStop: {sleep: {seconds: 11}}}, terminationGracePeriodSeconds: 11}`)},
		{name: "two of them", updated: with(`{minReadySeconds: 120, lifecycle: {preStop: {sleep: {seconds: 11}}}}`), want: []string{deadline, grace}},
		{name: "another strategy", updated: with(`strategy: {rollingUpdate: {maxSurge: 1}}`, inClass("recreate")), want: []string{recreate}},
		{name: "its own strategy", updated: with(`strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}`, inClass("recreate"))},
		{name: "nothing may be unavailable", updated: with(`strategy: {rollingUpdate: {maxSurge: 0}}`), want: []string{unavailable}},
		{name: "nothing may surge", updated: with(`strategy: {rollingUpdate: {maxUnavailable: 0}}`, inClass("surgeless")), want: []string{surge}},
		{name: "more host names than an HTTPRoute has", updated: with("", inClass("gateway"), many(17)), want: []string{httpRoute}},
		{name: "more host names than a Gateway's route has", updated: with("", inClass("parent"), many(17)), want: []string{parent}},
		{name: "as many as it has", updated: with("", inClass("gateway"), many(16))},
		{name: "a path of an Ingress", updated: with("", inClass("gateway"), many(1), specificPath), want: []string{specific}},
		{name: "its own type", updated: with("", inClass("gateway"), many(17), ingress)},
		{name: "as before", updated: with(sleeping, image("web:2")), old: with(sleeping)},
	} {
		t.Run(test.name, func(t *testing.T) {
			question := review(t, test.updated, nil)
			if test.old != nil {
				question = review(t, test.updated, test.old)
			}
			response := ask(t, classes.handler(t), ValidatePath, question)
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}
