// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestForeignChildrenOfAnAdoption: an adoption takes a Deployment and a Service, and no autoscaler. Before it is complete, the pods may need
// that of others.
func TestForeignChildrenOfAnAdoption(t *testing.T) {
	const (
		foreign = `HorizontalPodAutoscaler "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: `
		keep    = foreign + "keep it, since what runs now may need it, and remove spec.autoscaling until the condition Adopted is True; " +
			"then leave it so, or delete the HorizontalPodAutoscaler and set the field again"
		after = foreign + "remove spec.autoscaling so that it stays, delete it, or give the Application another name"
	)
	status := func(status metav1.ConditionStatus) func(*v1.Application) {
		return func(a *v1.Application) {
			a.Spec.AdoptionPolicy = v1.AdoptionConsented
			a.Status.Conditions = []metav1.Condition{{Type: v1.ConditionAdopted, Status: status}}
		}
	}
	fresh := func(a *v1.Application) { a.Spec.AdoptionPolicy = v1.AdoptionConsented }
	both := func(a, b func(*v1.Application)) *v1.Application {
		return application(func(application *v1.Application) { a(application); b(application) })
	}
	for name, test := range map[string]struct {
		exist   []string
		updated *v1.Application
		old     any
		want    []string
	}{
		"at its creation":  {[]string{"Deployment/web", "Service/web", "HorizontalPodAutoscaler/web"}, both(fresh, scaled), nil, []string{keep}},
		"no Deployment":    {[]string{"Service/web", "HorizontalPodAutoscaler/web"}, both(fresh, scaled), nil, []string{after}},
		"before it is all": {[]string{"HorizontalPodAutoscaler/web"}, both(status(metav1.ConditionFalse), scaled), application(status(metav1.ConditionFalse)), []string{keep}},
		"after it":         {[]string{"HorizontalPodAutoscaler/web"}, both(status(metav1.ConditionTrue), scaled), application(status(metav1.ConditionTrue)), []string{after}},
		"as it was":        {[]string{"HorizontalPodAutoscaler/web"}, both(status(metav1.ConditionTrue), scaled), both(status(metav1.ConditionTrue), scaled), nil},
	} {
		c := &cluster{allowed: []string{"web"}, exist: test.exist, config: selecting("app", "web")}
		if response := ask(t, c.handler(t), ValidatePath, review(t, test.updated, test.old)); !slices.Equal(response.Warnings, test.want) {
			t.Errorf("%s: %q, want %q; %s", name, response.Warnings, test.want, messageOf(response))
		}
	}
}

// TestForeignServiceOfATool: the Service of a Deployment that may be adopted stays, also if a tool manages it.
func TestForeignServiceOfATool(t *testing.T) {
	const want = `Service "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: keep it, since what runs now may need it; it cannot be adopted ` +
		"because of metadata.annotations[meta.helm.sh/release-name]: a deployment tool manages it; take it out of that tool, then remove the mark"
	c := &cluster{allowed: []string{"web"}, exist: []string{"Deployment/web", "Service/web"}, config: func(c *Config) {
		selecting("app", "web")(c)
		find := c.Find
		c.Find = func(ctx context.Context, reference Reference) (*metav1.PartialObjectMetadata, error) {
			found, err := find(ctx, reference)
			if found != nil && reference.Kind == "Service" {
				found.Annotations = map[string]string{"meta.helm.sh/release-name": "web"}
			}
			return found, err
		}
	}}
	consented := application(func(a *v1.Application) { a.Spec.AdoptionPolicy = v1.AdoptionConsented })
	if response := ask(t, c.handler(t), ValidatePath, review(t, consented, nil)); !slices.Equal(response.Warnings, []string{want}) {
		t.Errorf("%q, want %q; %s", response.Warnings, want, messageOf(response))
	}
}

// TestLeftoversOfAConsentingApplication: what an earlier Application left behind is taken back as a whole, also by one that may adopt.
func TestLeftoversOfAConsentingApplication(t *testing.T) {
	const takeBack = "take back what an earlier Application left behind (docs/guides/take-back.md), or rename the Application"
	want := []string{
		`Deployment "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone and starts no pods: ` + takeBack,
		`Service "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: take it back as docs/guides/take-back.md says, or give the Application another name`,
	}
	consented := application(func(a *v1.Application) { a.Spec.AdoptionPolicy = v1.AdoptionConsented })
	for name, c := range map[string]*cluster{
		"by deletionPolicy Orphan": {allowed: []string{"web"}, leftBehind: []string{"Deployment/web", "Service/web"}},
		"by eject":                 {allowed: []string{"web"}, ejected: []string{"Deployment/web", "Service/web"}},
	} {
		if response := ask(t, c.handler(t), ValidatePath, review(t, consented, nil)); !slices.Equal(response.Warnings, want) {
			t.Errorf("%s: %q, want %q; %s", name, response.Warnings, want, messageOf(response))
		}
	}
}
