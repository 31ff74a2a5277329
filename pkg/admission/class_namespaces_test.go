// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// forTeam makes a class select the namespaces of a team.
func forTeam(team string) func(*v1.ApplicationClassSpec) {
	return func(s *v1.ApplicationClassSpec) {
		s.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": team}}
	}
}

// A class is for the namespaces that it selects. One whose selection is unknown is refused, and a required
// one cannot be left out.
func TestClassSelectsNamespaces(t *testing.T) {
	lax, standard := applicationClass("lax", false, forTeam("a")), applicationClass("standard", true, forTeam("a"))
	teamA, teamB := map[string]string{"team": "a"}, map[string]string{"team": "b"}
	find := func(labels map[string]string, err error) func(context.Context, Reference) (*metav1.PartialObjectMetadata, error) {
		return func(_ context.Context, reference Reference) (*metav1.PartialObjectMetadata, error) {
			if reference.Kind != KindNamespace {
				return nil, nil
			}
			if reference.Namespace != "" || reference.Name != "shop" {
				return nil, errors.New("it is not in that namespace")
			}
			return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: labels}}, err
		}
	}
	forbidden := apierrors.NewForbidden(corev1.Resource("namespaces"), "shop", errors.New("no"))
	for _, test := range []struct {
		name     string
		cached   map[string]string // nil: not cached
		live     map[string]string
		err      error
		required bool
		given    func(*v1.Application)
		stamped  string
		refused  []string
	}{
		{name: "selected", cached: teamA, given: inClass("lax")},
		{name: "not selected", cached: teamB, given: inClass("lax"), refused: []string{"spec.className: Forbidden", `ApplicationClass "lax" does not select namespace "shop"`}},
		{name: "selected, newer than the cache", live: teamA, given: inClass("lax")},
		{name: "not selected, newer than the cache", live: teamB, given: inClass("lax"), refused: []string{"does not select"}},
		{name: "may not be read", err: forbidden, given: inClass("lax"), refused: []string{"spec.className: Forbidden", "no permission to get namespaces"}},
		{name: "cannot be read", err: errors.New("etcd is gone"), given: inClass("lax"), refused: []string{"etcd is gone"}},
		{name: "default", cached: teamA, stamped: "standard"},
		{name: "default of others", cached: teamB},
		{name: "default whose selection is unknown", err: forbidden, refused: []string{"spec.className: Forbidden", `ApplicationClass "standard" is the default in namespaces`}},
		{name: "required, and there is a default", cached: teamA, required: true, stamped: "standard"},
		{name: "required, and there is none", cached: teamB, required: true, refused: []string{"spec.className: Required", `no default ApplicationClass selects namespace "shop"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			classes := &inClasses{classes: []*v1.ApplicationClass{lax, standard}, change: func(c *Config) {
				c.RequireClass, c.Find = test.required, find(test.live, test.err)
			}}
			if test.cached != nil {
				classes.namespaces = map[string]map[string]string{"shop": test.cached}
			}
			handler := classes.handler(t)
			patch := ""
			if test.stamped != "" {
				patch = `[{"op":"add","path":"/spec/className","value":"` + test.stamped + `"}]`
			}
			if got := string(ask(t, handler, MutatePath, review(t, application(test.given), nil)).Patch); got != patch {
				t.Errorf("patch is %s, want %s", got, patch)
			}
			given := test.given
			if test.stamped != "" {
				given = inClass(test.stamped)
			}
			response := ask(t, handler, ValidatePath, review(t, application(given), nil))
			if response.Allowed != (len(test.refused) == 0) {
				t.Errorf("allowed is %t", response.Allowed)
			}
			contains(t, messageOf(response), test.refused)
			// A change of anything else is not refused.
			labelled := application(given)
			labelled.Labels = map[string]string{"team": "x"}
			if response := ask(t, handler, ValidatePath, review(t, labelled, application(given))); test.err == nil && !response.Allowed {
				t.Errorf("a label is refused: %s", messageOf(response))
			}
		})
	}
}

// A default class is in use by the Applications of the namespaces that it selects, and of those that cannot be read.
func TestDefaultClassDeletion(t *testing.T) {
	class := applicationClass("standard", true, forTeam("a"))
	for _, test := range []struct {
		name   string
		labels map[string]string
		used   bool
	}{
		{"selected", map[string]string{"team": "a"}, true},
		{"not selected", map[string]string{}, false},
		{"unknown", nil, true},
	} {
		classes := &inClasses{classes: []*v1.ApplicationClass{class}, applications: []*v1.Application{application(nil)}}
		if test.labels != nil {
			classes.namespaces = map[string]map[string]string{"shop": test.labels}
		}
		response := ask(t, classes.handler(t), ValidateClassPath, classReview(t, "DELETE", nil, class))
		if response.Allowed == test.used {
			t.Errorf("%s: allowed %t: %s", test.name, response.Allowed, messageOf(response))
		}
	}
}
