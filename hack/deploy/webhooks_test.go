// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"fairlead.dev/fairlead/hack/internal/objects"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestWaitAnswering: only an answer of the webhooks shows that the API server reaches them.
func TestWaitAnswering(t *testing.T) {
	refused := apierrors.NewInvalid(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind).GroupKind(), "fairlead-deploy-probe",
		field.ErrorList{field.Forbidden(field.NewPath("spec"), "reserved")})
	unreached := apierrors.NewInternalError(errors.New("failed calling webhook: no endpoints available"))
	const done = "answering: the webhooks\n"
	const given = "The API server does not reach the webhooks yet, and refuses Applications until it does: "
	for name, test := range map[string]struct {
		answers []error // one after the other; the last one from then on
		want    string
	}{
		"at once":                    {[]error{refused}, done},
		"after a while":              {[]error{unreached, unreached, refused}, done},
		"not asked at first":         {[]error{nil, nil, unreached, refused}, done},
		"the API server was away":    {[]error{errors.New("connection refused"), refused}, done},
		"the API server is too busy": {[]error{apierrors.NewTooManyRequestsError("later"), refused}, done},
		"not reached":                {[]error{nil, unreached}, given + unreached.Error() + "\n"},
		"not asked":                  {[]error{nil}, given + errNotAsked.Error() + "\n"},
		"no answer at all":           {[]error{errors.New("connection refused")}, given + "connection refused\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewSimpleDynamicClient(runtime.NewScheme())
				answers := slices.Clone(test.answers)
				client.PrependReactor("create", v1.ApplicationResource, func(action clienttesting.Action) (bool, runtime.Object, error) {
					answer := answers[0]
					if len(answers) > 1 {
						answers = answers[1:]
					}
					return true, action.(clienttesting.CreateAction).GetObject(), answer
				})
				var out bytes.Buffer
				if err := waitAnswering(t.Context(), &cluster{objects: &objects.Client{Interface: client}, out: &out}, 10*time.Second); err != nil {
					t.Fatal(err)
				}
				if out.String() != test.want {
					t.Errorf("said %q, want %q", out.String(), test.want)
				}
			})
		})
	}
}
