// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation/corpus"
)

// TestCorpus gives every object of the corpus to the API server. What the schema or a rule of the
// CRD is to refuse, it must refuse, with the recorded errors. The rest it lets in, since no webhook
// is registered here; then the sync must refuse an Application, in the status. A class has no sync.
func TestCorpus(t *testing.T) {
	t.Parallel()
	e := start(t)
	cases, err := corpus.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			e := e.sub(t)
			body := e.decode(c.Object)[0]
			if c.Layer != corpus.Admission {
				_, err := e.resource(body.GroupVersionKind()).Create(e.Context(), body, metav1.CreateOptions{
					DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
				})
				if err == nil {
					t.Fatal("the API server accepts it")
				}
				if strings.HasPrefix(c.Name, "types/") && e.isOlder() {
					return // These are the API server's own words.
				}
				for _, want := range c.Errors {
					if !says(err.Error(), want) {
						t.Errorf("refused otherwise than with %s:\n%v", want, err)
					}
				}
				return
			}
			if body.GetKind() == v1.ApplicationClassKind {
				if _, err := e.resource(body.GroupVersionKind()).Create(e.Context(), body, metav1.CreateOptions{
					DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
				}); err != nil {
					t.Errorf("the API server refuses it by itself: %v", err)
				}
				return
			}
			e.create(body)
			application := e.waitCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonInvalid)
			message := describe(application)
			if !slices.ContainsFunc(c.Errors, func(want string) bool { return strings.Contains(message, shortened(want)) }) {
				t.Errorf("stalled otherwise than with one of %q:\n%s", c.Errors, message)
			}
			if len(application.Status.Resources) > 0 {
				t.Errorf("there are children: %v", application.Status.Resources)
			}
			remove[v1.Application](e, "web")
			waitGone[v1.Application](e, "web")
		})
	}
}

// shortened is the beginning of an error, as far as conditions show a long one.
func shortened(text string) string {
	const most = 120
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}

// isOlder reports whether the API server is older than the one that `make cluster` builds.
func (e *env) isOlder() bool {
	e.Helper()
	server, err := e.kube.Discovery().ServerVersion()
	if err != nil {
		e.Fatal(err)
	}
	pinned, err := os.ReadFile("../../../hack/cluster/go.mod")
	if err != nil {
		e.Fatal(err)
	}
	return !strings.Contains(string(pinned), "\tk8s.io/kubernetes v1."+server.Minor+".")
}
