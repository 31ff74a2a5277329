// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Only a user who may update and delete the Deployment and the Service may let an Application adopt them.
func TestAdoptionNeedsRights(t *testing.T) {
	all := []string{"update deployments.apps/web", "delete deployments.apps/web", "update services/web", "delete services/web"}
	adopting := func(policy v1.AdoptionPolicy) *v1.Application {
		return application(func(a *v1.Application) { a.Spec.AdoptionPolicy = policy })
	}
	for _, test := range []struct {
		name     string
		new, old *v1.Application
		may      []string
		asked    []string
		refused  string
	}{
		{name: "never", new: adopting(v1.AdoptionNever)},
		{name: "created by a user who may", new: adopting(v1.AdoptionConsented), may: all, asked: all},
		{name: "created by a user who may not delete", new: adopting(v1.AdoptionConsented), may: []string{all[0], all[2]}, asked: all,
			refused: `must be allowed to delete deployments "web"`},
		{name: "created by a user who may nothing", new: adopting(v1.AdoptionConsented), asked: all, refused: `must be allowed to update services "web"`},
		{name: "switched on", new: adopting(v1.AdoptionConsented), old: adopting(""), asked: all, refused: "must be allowed"},
		{name: "on before", new: adopting(v1.AdoptionConsented), old: adopting(v1.AdoptionConsented)},
		{name: "switched off", new: adopting(v1.AdoptionNever), old: adopting(v1.AdoptionConsented)},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asked []string
			c := &cluster{config: func(c *Config) {
				c.ReviewAccess = func(_ context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
					of := spec.ResourceAttributes
					what := of.Verb + " " + strings.TrimSuffix(of.Resource+"."+of.Group, ".") + "/" + of.Name
					asked = append(asked, what)
					return authorizationv1.SubjectAccessReviewStatus{Allowed: slices.Contains(test.may, what)}, nil
				}
			}}
			var old any
			if test.old != nil {
				test.old.Spec.Image = "registry.example.com/web:0" // An update of more than a switch.
				old = test.old
			}
			response := ask(t, c.handler(t), ValidatePath, review(t, test.new, old))
			if diff := cmp.Diff(test.asked, asked); diff != "" {
				t.Errorf("reviews (-want +got):\n%s", diff)
			}
			if response.Allowed != (test.refused == "") || test.refused != "" && !strings.Contains(response.Result.Message, test.refused) {
				t.Errorf("the response is %+v", response)
			}
		})
	}
}
