// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// sized are Applications of the namespace shop, with so many replicas each.
func sized(class string, replicas ...int32) []*v1.Application {
	var all []*v1.Application
	for i, n := range replicas {
		all = append(all, application(func(a *v1.Application) {
			a.Name, a.Spec.ClassName, a.Spec.Replicas = fmt.Sprintf("app-%02d", i), class, &n
		}))
	}
	return all
}

func TestClassImpact(t *testing.T) {
	class := func(isDefault bool, most int32, priority string) *v1.ApplicationClass {
		return applicationClass("standard", isDefault, func(s *v1.ApplicationClassSpec) {
			s.Limits = &v1.ApplicationLimits{MaxReplicas: &most}
			s.Defaults = &v1.ApplicationDefaults{PriorityClassName: priority}
		})
	}
	tight := class(false, 4, "")
	tight.Spec.Limits.AllowedRegistries = []string{"ghcr.io"}
	elsewhere := func(c *v1.ApplicationClass) *v1.ApplicationClass { forTeam("pay")(&c.Spec); return c }
	policed := func(isDefault bool, rules v1.NetworkPolicy) *v1.ApplicationClass {
		return applicationClass("standard", isDefault, func(s *v1.ApplicationClassSpec) {
			s.Defaults = &v1.ApplicationDefaults{NetworkPolicy: &rules}
		})
	}
	oneHost := func(c *v1.ApplicationClass) *v1.ApplicationClass {
		c.Spec.Limits.AllowedHostnames = []string{"example.com"}
		return c
	}
	labelled := func(c *v1.ApplicationClass) *v1.ApplicationClass {
		c.Labels = map[string]string{"team": "ops"}
		return c
	}
	invalid := sized("standard", 1)
	invalid[0].Spec.Image = ""
	everyone := []v1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "0.0.0.0/0"}}}
	accepts := v1.NetworkPolicy{Ingress: []v1.NetworkPolicyIngressRule{{From: everyone}}}
	both := v1.NetworkPolicy{Ingress: accepts.Ingress, Egress: []v1.NetworkPolicyEgressRule{{To: everyone}}}
	own := sized("standard", 1)
	own[0].Spec.NetworkPolicy = &v1.NetworkPolicy{}
	images := func(allowed []string) *v1.ApplicationClass {
		return applicationClass("standard", false, func(s *v1.ApplicationClassSpec) { s.Limits = &v1.ApplicationLimits{AllowedRegistries: allowed} })
	}
	memory := func(limit string) *v1.ApplicationClass {
		return applicationClass("standard", false, func(s *v1.ApplicationClassSpec) {
			limits := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}
			s.Defaults = &v1.ApplicationDefaults{Resources: &corev1.ResourceRequirements{Limits: limits}}
		})
	}
	asking := sized("standard", 1, 1)
	asking[1].Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("400Mi")}}
	limited := func(limit string) *v1.ApplicationClass {
		class := memory(limit)
		class.Spec.Defaults.Resources.Limits[corev1.ResourceCPU] = resource.MustParse("1")
		class.Spec.Limits = &v1.ApplicationLimits{MaxReplicas: new(int32(4)), RequireResourceLimits: new(true)}
		return class
	}
	refusedTwice := sized("standard", 6, 1)
	refusedTwice[1].Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("600Mi")}}
	waiting := sized("standard", 1, 1)
	waiting[1].Status.Revision = &v1.RevisionStatus{Current: 1} // It ran before its className changed.
	// refused has the children of a class that ceased to select its namespace.
	refused := sized("standard", 1)
	refused[0].Status.Class = &v1.AppliedClass{Name: "standard", Generation: 1, Defaults: &v1.ApplicationDefaults{NetworkPolicy: &accepts}}
	refused[0].Status.Revision = &v1.RevisionStatus{Current: 1}
	refused[0].Status.Conditions = []metav1.Condition{{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonClassNotAllowed}}
	grown := sized("standard", 6, 6)
	for _, application := range grown {
		application.Status.Conditions = []metav1.Condition{{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonClassLimitExceeded}}
	}
	grown[0].Status.Revision = &v1.RevisionStatus{Current: 1} // The other one has waited since its creation.
	unnamed := sized("", 6)
	unnamed[0].Status = grown[0].Status
	const again = "no longer stalled because of the class, so Fairlead carries out what the spec says, which may replace pods: "
	const onlyDNS = "only to DNS, because the class lists no egress, and accept only what it lists, beside routes and monitoring: "
	const reason = `spec.replicas: Invalid value: 6: ApplicationClass "standard" allows at most 4`
	for _, test := range []struct {
		name         string
		old, updated *v1.ApplicationClass
		applications []*v1.Application
		want         []string
	}{
		{name: "nothing changes", old: class(false, 4, ""), updated: class(false, 4, ""), applications: sized("standard", 6)},
		{name: "loosened", old: class(false, 4, ""), updated: class(false, 9, ""), applications: sized("standard", 6)},
		{name: "loosened for stalled ones", old: class(false, 4, ""), updated: class(false, 9, ""), applications: grown, want: []string{
			"with this change 2 Applications are " + again + "shop/app-00, shop/app-01",
		}},
		{name: "loosened, with another default", old: class(false, 4, ""), updated: class(false, 9, "low"), applications: grown, want: []string{
			"with this change 2 Applications are " + again + "shop/app-00, shop/app-01",
		}},
		{name: "tightened for several, for two reasons", old: class(false, 9, ""), updated: class(false, 4, ""), applications: sized("standard", 6, 6, 7), want: []string{
			"with this change 3 Applications are stalled and not updated any more: shop/app-00, shop/app-01, shop/app-02",
			"shop/app-00: " + reason,
			"shop/app-02: " + strings.Replace(reason, "6", "7", 1),
		}},
		{name: "no default any more", old: class(true, 4, ""), updated: class(false, 4, ""), applications: unnamed, want: []string{
			"with this change 1 Application is " + again + "shop/app-00",
		}},
		{name: "of another class", old: class(false, 9, ""), updated: class(false, 4, ""), applications: sized("other", 6)},
		{name: "tightened", old: class(false, 9, ""), updated: class(false, 4, ""), applications: sized("standard", 6, 2), want: []string{
			"with this change 1 Application is stalled and not updated any more: shop/app-00",
			"shop/app-00: " + reason,
		}},
		{name: "tightened for many", old: class(false, 9, ""), updated: class(false, 4, ""), applications: sized("standard", 2, 6, 6, 6, 6, 6), want: []string{
			"with this change 5 Applications are stalled and not updated any more: shop/app-01, shop/app-02, shop/app-03 and 2 more; --dry-run=server names all beforehand",
			"shop/app-01: " + reason,
		}},
		{name: "tightened by two limits", old: class(false, 9, ""), updated: tight, applications: sized("standard", 6, 6), want: []string{
			"with this change 2 Applications are stalled and not updated any more: shop/app-00, shop/app-01",
			`shop/app-00: spec.image: Invalid value: "registry.example.com/web:1": ApplicationClass "standard" allows images of ghcr.io (and 1 more error)`,
		}},
		{name: "loosened too little", old: class(false, 1, ""), updated: class(false, 4, ""), applications: sized("standard", 6, 3), want: []string{
			"with this change 1 Application stays stalled: shop/app-00",
			"shop/app-00: " + reason,
		}},
		{name: "loosened too little for many", old: class(false, 1, ""), updated: class(false, 4, ""), applications: sized("standard", 6, 6, 6, 6, 6), want: []string{
			"with this change 5 Applications stay stalled: shop/app-00, shop/app-01, shop/app-02 and 2 more; --dry-run=server names all beforehand",
			"shop/app-00: " + reason,
		}},
		{name: "tightened further", old: class(false, 5, ""), updated: class(false, 4, ""), applications: sized("standard", 5, 6), want: []string{
			"with this change 1 Application is stalled and not updated any more: shop/app-00",
			`shop/app-00: spec.replicas: Invalid value: 5: ApplicationClass "standard" allows at most 4`,
			"with this change 1 Application stays stalled: shop/app-01",
			"shop/app-01: " + reason,
		}},
		{name: "refused for another reason", old: class(false, 4, ""), updated: images([]string{"ghcr.io"}), applications: sized("standard", 6), want: []string{
			"with this change 1 Application stays stalled: shop/app-00",
			`shop/app-00: spec.image: Invalid value: "registry.example.com/web:1": ApplicationClass "standard" allows images of ghcr.io`,
		}},
		{name: "another limit loosened", old: oneHost(class(false, 4, "")), updated: class(false, 4, ""), applications: sized("standard", 6), want: []string{
			"with this change 1 Application stays stalled: shop/app-00",
			"shop/app-00: " + reason,
		}},
		{name: "given to the wrong namespace", old: elsewhere(class(false, 9, "")), updated: applicationClass("standard", false, forTeam("ops")), applications: sized("standard", 1), want: []string{
			"with this change 1 Application stays stalled: shop/app-00",
			`shop/app-00: spec.className: Forbidden: ApplicationClass "standard" does not select namespace "shop": no class does; ask the platform team, or remove the field`,
		}},
		{name: "created, and Applications wait for it", updated: applicationClass("standard", false, func(s *v1.ApplicationClassSpec) {
			s.Defaults = &v1.ApplicationDefaults{PriorityClassName: "low", NetworkPolicy: &accepts}
		}), applications: waiting, want: []string{
			"with this change 1 Application gets a new NetworkPolicy, after which its pods may connect " + onlyDNS + "shop/app-01",
			"with this change 1 Application gets other defaults, which may replace pods: shop/app-01",
		}},
		{name: "created too tight", updated: class(false, 4, ""), applications: sized("standard", 6), want: []string{
			"with this change 1 Application stays stalled: shop/app-00",
			"shop/app-00: " + reason,
		}},
		{name: "other defaults for one that is refused", old: class(false, 4, ""), updated: class(false, 4, "low"), applications: sized("standard", 6)},
		{name: "a label, and one that is refused", old: class(false, 4, ""), updated: labelled(class(false, 4, "")), applications: sized("standard", 6)},
		{name: "another limit of a class that does not select the namespace", old: elsewhere(class(false, 4, "")), updated: elsewhere(class(false, 9, "")), applications: sized("standard", 1)},
		{name: "one that is invalid in itself", old: class(false, 4, ""), updated: class(false, 9, ""), applications: invalid},
		{name: "other defaults", old: class(false, 9, ""), updated: class(false, 9, "low"), applications: sized("standard", 1, 1), want: []string{
			"with this change 2 Applications get other defaults, which may replace pods: shop/app-00, shop/app-01",
		}},
		{name: "a lower default than a request of its own", old: memory("512Mi"), updated: memory("256Mi"), applications: asking, want: []string{
			"with this change 2 Applications get other defaults, which may replace pods: shop/app-00, shop/app-01",
			"with this change 1 Application does not take every default: shop/app-01",
			`shop/app-01: spec.resources.limits[memory]: the default 256Mi of ApplicationClass "standard" is not taken, because your request 400Mi is higher: set a limit, or Fairlead sets none`,
		}},
		{name: "a lower default, for one of two that are refused", old: limited("512Mi"), updated: limited("256Mi"), applications: refusedTwice, want: []string{
			"with this change 2 Applications stay stalled: shop/app-01, shop/app-00",
			`shop/app-01: spec.resources.limits[memory]: Required value: ApplicationClass "standard" requires limits for cpu and memory of each container; ` +
				"its default of 256Mi is not taken, because your request 600Mi is higher: set a limit",
		}},
		{name: "a default that none of them took before", old: memory("256Mi"), updated: memory("200Mi"), applications: asking[1:], want: nil},
		{name: "made the default", old: class(false, 4, "low"), updated: class(true, 4, "low"), applications: sized("", 1, 6), want: []string{
			"with this change 1 Application is stalled and not updated any more: shop/app-01",
			"shop/app-01: " + reason,
			"with this change 1 Application gets other defaults, which may replace pods: shop/app-00",
		}},
		{name: "created as the default", updated: class(true, 9, "low"), applications: sized("", 1), want: []string{
			"with this change 1 Application gets other defaults, which may replace pods: shop/app-00",
		}},
		{name: "taken from the namespace", old: class(false, 9, ""), updated: elsewhere(class(false, 9, "")), applications: sized("standard", 1), want: []string{
			"with this change 1 Application is stalled and not updated any more: shop/app-00",
			`shop/app-00: spec.className: Forbidden: ApplicationClass "standard" does not select namespace "shop": no class does; ask the platform team, or remove the field`,
		}},
		{name: "given back to the namespace", old: elsewhere(policed(false, accepts)), updated: policed(false, accepts), applications: refused, want: []string{
			"with this change 1 Application is " + again + "shop/app-00",
		}},
		{name: "given back with another policy", old: elsewhere(policed(false, accepts)), updated: policed(false, both), applications: refused, want: []string{
			"with this change 1 Application gets a new NetworkPolicy, after which its pods may connect only to what the class lists, and to DNS, " +
				"and accept only what it lists, beside routes and monitoring: shop/app-00",
			"with this change 1 Application is " + again + "shop/app-00",
		}},
		{name: "an empty list instead of none", old: images(nil), updated: images([]string{}), applications: sized("standard", 1), want: []string{
			"spec.limits.allowedRegistries: it is empty, so the class allows no image and no Application: leave the field out to allow every image",
			"with this change 1 Application is stalled and not updated any more: shop/app-00",
			`shop/app-00: spec.image: Invalid value: "registry.example.com/web:1": ApplicationClass "standard" allows no images, because its allowedRegistries is empty`,
		}},
		{name: "a policy of ingress alone", old: applicationClass("standard", false, nil), updated: policed(false, accepts), applications: sized("standard", 1), want: []string{
			"with this change 1 Application gets a new NetworkPolicy, after which its pods may connect " + onlyDNS + "shop/app-00",
		}},
		{name: "for many", old: applicationClass("standard", false, nil), updated: policed(false, accepts), applications: sized("standard", 1, 1), want: []string{
			"with this change 2 Applications get a new NetworkPolicy, after which their pods may connect " + onlyDNS + "shop/app-00, shop/app-01",
		}},
		{name: "made the default", old: policed(false, accepts), updated: policed(true, accepts), applications: sized("", 1), want: []string{
			"with this change 1 Application gets a new NetworkPolicy, after which its pods may connect " + onlyDNS + "shop/app-00",
		}},
		{name: "another policy", old: policed(false, accepts), updated: policed(false, both), applications: sized("standard", 1), want: []string{
			"with this change 1 Application gets a new NetworkPolicy, after which its pods may connect only to what the class lists, and to DNS, " +
				"and accept only what it lists, beside routes and monitoring: shop/app-00",
		}},
		{name: "no policy any more", old: policed(false, both), updated: class(false, 9, "low"), applications: sized("standard", 1, 1), want: []string{
			"with this change 2 Applications lose their NetworkPolicy, which restricts the connections to and from the pods: shop/app-00, shop/app-01",
			"with this change 2 Applications get other defaults, which may replace pods: shop/app-00, shop/app-01",
		}},
		{name: "a policy of its own", old: policed(false, accepts), updated: policed(false, both), applications: own},
	} {
		t.Run(test.name, func(t *testing.T) {
			operation, classes := admissionv1.Create, []*v1.ApplicationClass(nil)
			if test.old != nil {
				operation, classes = admissionv1.Update, []*v1.ApplicationClass{test.old}
			}
			handler := (&inClasses{classes: classes, applications: test.applications, namespaces: map[string]map[string]string{"shop": {}}}).handler(t)
			response := ask(t, handler, ValidateClassPath, classReview(t, operation, test.updated, test.old))
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("allowed %t, warnings (-want +got):\n%s", response.Allowed, diff)
			}
		})
	}
}

// A dry run names every Application that fits into what the API server passes on.
func TestClassImpactInADryRun(t *testing.T) {
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("shop/app-%02d", i))
	}
	warnings := impact{changing: names, enclosed: names}.warnings(true)
	told := strings.Join(warnings, ", ")
	for _, name := range names {
		if strings.Count(told, name) != 2 {
			t.Errorf("%s is missing", name)
		}
	}
	for _, warning := range warnings {
		if len(warning) > maxWarning {
			t.Errorf("a warning of %d characters may be cut: %s", len(warning), warning)
		}
	}
	for range 1000 {
		names = append(names, "shop/app-of-a-long-name")
	}
	warnings = impact{changing: names}.warnings(true)
	if told := strings.Join(warnings, ""); len(told) > 2*maxWarnings || !strings.HasSuffix(told, " more") {
		t.Errorf("%d characters: %s", len(told), warnings[len(warnings)-1])
	}
}

// The time for thousands of Applications is limited, and the warning admits it.
func TestClassImpactIsBounded(t *testing.T) {
	handler := (&inClasses{}).handler(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := handler.impactOn(ctx, sized("standard", 1, 1), nil, nil).warnings(false)
	if diff := cmp.Diff([]string{"2 further Applications were not examined in time"}, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
