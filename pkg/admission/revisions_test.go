// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestPinnedRevision: kubectl warns of a change that is not carried out, because the spec names a revision that does not exist, or that
// the class refuses.
func TestPinnedRevision(t *testing.T) {
	const (
		refused = `the spec is stored, but not applied until this is fixed: spec.image: Invalid value: "registry.example.com/web:1": ` +
			`in revision 1, which spec.rollback.toRevision asks for: ApplicationClass "standard" allows images of ghcr.io/acme` +
			`; no edit of the spec changes a revision: name another one, or remove toRevision`
		overLimit = `the spec is stored, but not applied until this is fixed: spec.replicas: Invalid value: 9: ApplicationClass "standard" allows at most 4`
		missing   = "the spec is stored, but not applied until this is fixed: spec.rollback.toRevision: Not found: 77: only revision 1 exists; name it, or remove the field"
		allowed   = "ghcr.io/acme/web:2"
		scaled    = "spec.rollback.toRevision: revision 77 does not exist, so this change has no effect until you name another one or remove the field. Revisions: 1"
		edited    = "spec.rollback.toRevision: revision 77 does not exist, so this change of the pods has no effect until you name another one or remove the field. Revisions: 1"
		stays     = "spec.rollback.toRevision: it names revision 1, so this change of the pods has no effect until you remove the field"
	)
	type change = func(*v1.Application)
	pin := func(number int64) change {
		return func(a *v1.Application) { a.Spec.Rollback = &v1.Rollback{ToRevision: &number} }
	}
	port := func(a *v1.Application) { a.Spec.Ports[0].ServicePort = new(int32(81)) }
	label := func(a *v1.Application) { a.Labels = map[string]string{"team": "shop"} }
	pause := func(a *v1.Application) { a.Spec.Paused = new(true) }
	ready := func(a *v1.Application) { a.Spec.MinReadySeconds = new(int32(5)) }
	of := func(changes ...change) *v1.Application {
		return inStandard(append([]change{image(allowed)}, changes...)...)
	}
	scale := func(from, to int32) func(*testing.T) *admissionv1.AdmissionReview {
		return func(t *testing.T) *admissionv1.AdmissionReview { return scaleReview(t, from, to) }
	}
	for _, test := range []struct {
		name     string
		old, new *v1.Application
		scale    func(*testing.T) *admissionv1.AdmissionReview
		former   string
		want     []string
	}{
		{name: "a revision that the class refuses", old: of(), new: of(pin(1)), want: []string{refused}},
		{name: "another image beside it", old: of(pin(1)), new: of(pin(1), image("ghcr.io/acme/web:3")), want: []string{refused}},
		{name: "another number of pods beside it", old: of(pin(1)), new: of(pin(1), replicas(2)), want: []string{refused}},
		{name: "another number of pods beside it, by scale", old: of(pin(1)), scale: scale(1, 2), want: []string{refused}},
		{name: "a label beside it", old: of(pin(1)), new: of(pin(1), label), want: []string{refused}},
		{name: "a pause beside it", old: of(pin(1)), new: of(pin(1), pause), want: []string{refused}},
		{name: "a label beside a spec that the class refuses, too", old: of(replicas(9), pin(1)), new: of(replicas(9), pin(1), label), want: []string{overLimit}},
		{name: "beside a spec that the class refuses, too", old: of(replicas(9)), new: of(replicas(9), pin(1)), want: []string{overLimit}},
		{name: "without it", old: of(pin(1)), new: of(replicas(2))},

		{name: "a revision that the class allows", old: of(), new: of(pin(1)), former: "ghcr.io/acme/web:1"},
		{name: "another image beside it", old: of(pin(1)), new: of(pin(1), image("ghcr.io/acme/web:3")), former: "ghcr.io/acme/web:1", want: []string{stays}},
		{name: "another image beside it, which corrects a missing one", old: of(pin(77)), new: of(pin(1), image("ghcr.io/acme/web:3")), former: "ghcr.io/acme/web:1", want: []string{stays}},
		{name: "another number of pods beside it", old: of(pin(1)), new: of(pin(1), replicas(2)), former: "ghcr.io/acme/web:1"},
		{name: "another number of pods beside it, by scale", old: of(pin(1)), scale: scale(1, 2), former: "ghcr.io/acme/web:1"},

		{name: "a label beside it", old: of(pin(1)), new: of(pin(1), label), former: "ghcr.io/acme/web:1"},

		{name: "another number of pods beside a missing revision", old: of(pin(77)), new: of(pin(77), replicas(2)), want: []string{scaled}},
		{name: "another number of pods beside a missing revision, by scale", old: of(pin(77)), scale: scale(1, 2), want: []string{scaled}},
		{name: "another port of the Service beside a missing revision", old: of(pin(77)), new: of(pin(77), port), want: []string{scaled}},
		{name: "a route beside a missing revision", old: of(pin(77)), new: of(pin(77), withRoute("a.example.com")), want: []string{scaled}},
		{name: "another image beside a missing revision", old: of(pin(77)), new: of(pin(77), image("ghcr.io/acme/web:3")), want: []string{edited}},
		{name: "a label beside a missing revision", old: of(pin(77)), new: of(pin(77), label), want: []string{missing}},
		{name: "the same number of pods beside a missing revision, by scale", old: of(pin(77), replicas(2)), scale: scale(2, 2)},
		{name: "minReadySeconds beside a missing revision", old: of(pin(77)), new: of(pin(77), ready), want: []string{scaled}},
	} {
		t.Run(test.name, func(t *testing.T) {
			history := &cluster{revisions: []int64{1}}
			if test.former != "" {
				history.former = application(image(test.former))
			}
			limited := applicationClass("standard", false, func(s *v1.ApplicationClassSpec) {
				s.Limits = &v1.ApplicationLimits{MaxReplicas: new(int32(4)), AllowedRegistries: []string{"ghcr.io/acme"}}
			})
			handler := (&inClasses{
				classes: []*v1.ApplicationClass{limited}, applications: []*v1.Application{test.old},
				change: func(c *Config) { c.Revisions = history },
			}).handler(t)
			var response *admissionv1.AdmissionResponse
			if test.scale != nil {
				response = ask(t, handler, ValidateScalePath, test.scale(t))
			} else {
				response = ask(t, handler, ValidatePath, review(t, test.new, test.old))
			}
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("%s; the warnings (-want +got):\n%s", messageOf(response), diff)
			}
		})
	}
}
