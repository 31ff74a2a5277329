// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/warning"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

// warnings keeps what a client reads in the headers Warning.
type warnings []string

func (w *warnings) AddWarning(_, text string) { *w = append(*w, text) }

// TestRestart: what failed is not tried again, and of a suspended Application it is not known whether the spec still says it.
func TestRestart(t *testing.T) {
	const caution = "revision 2 failed and was rolled back: if the spec still asks for it, the restart tries it again"
	ready := func(reason string) metav1.Condition { return metav1.Condition{Type: v1.ConditionReady, Reason: reason} }
	for name, test := range map[string]struct {
		from    int64
		reason  string
		policy  v1.ReconcilePolicy
		changed bool // The status is about an earlier spec.
		warned  warnings
		refused string
	}{
		"after success":                          {reason: v1.ReasonReady},
		"after a rollback":                       {from: 2, reason: v1.ReasonRolledBack, refused: "revision 2 failed and was rolled back, and a restart would try it again: change the pods in the spec instead"},
		"of a changed spec after a rollback":     {from: 2, reason: v1.ReasonRolledBack, changed: true},
		"suspended":                              {reason: v1.ReasonSuspended, policy: v1.ReconcileSuspend},
		"suspended after a rollback":             {from: 2, reason: v1.ReasonSuspended, policy: v1.ReconcileSuspend, warned: warnings{caution}},
		"just being suspended, after a rollback": {from: 2, reason: v1.ReasonRolledBack, policy: v1.ReconcileSuspend, changed: true, warned: warnings{caution}},
	} {
		t.Run(name, func(t *testing.T) {
			application := &v1.Application{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 3},
				Spec:       v1.ApplicationSpec{ReconcilePolicy: test.policy},
				Status: v1.ApplicationStatus{
					ObservedGeneration: 3, Revision: &v1.RevisionStatus{Current: 1, RolledBackFrom: test.from},
					Conditions: []metav1.Condition{ready(test.reason)},
				},
			}
			if test.from > 0 {
				application.Status.Conditions = append(application.Status.Conditions, metav1.Condition{Type: v1.ConditionRolledBack, Status: metav1.ConditionTrue})
			}
			if test.changed {
				application.Status.ObservedGeneration--
			}
			var warned warnings
			ctx := request.WithUser(request.WithNamespace(t.Context(), "shop"), &user.DefaultInfo{Name: "dev"})
			err := restartIn(warning.WithWarningRecorder(ctx, &warned), application)
			if diff := cmp.Diff(test.warned, warned); diff != "" {
				t.Errorf("the warnings (-want +got):\n%s", diff)
			}
			if test.refused == "" && err != nil {
				t.Error(err)
			}
			want := `Operation cannot be fulfilled on applications.apps.fairlead.dev "web": ` + test.refused
			if test.refused != "" && (!apierrors.IsConflict(err) || err.Error() != want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

func restartIn(ctx context.Context, application *v1.Application) error {
	_, err := restarter(application).Create(ctx, application.Name, &v1alpha1.RestartOptions{}, nil, &metav1.CreateOptions{})
	return err
}

func restarter(application *v1.Application) *editor {
	return &editor{
		edit: edits()[0], applications: fake.NewClientset(application).AppsV1(),
		access: access{authorizerfactory.NewAlwaysAllowAuthorizer()},
	}
}

// TestRestartTwice: a restart that would change nothing is refused, and a second later it is none.
func TestRestartTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		restarts := restarter(&v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})
		ctx := request.WithUser(request.WithNamespace(t.Context(), "shop"), &user.DefaultInfo{Name: "dev"})
		restart := func() error {
			_, err := restarts.Create(ctx, "web", &v1alpha1.RestartOptions{}, nil, &metav1.CreateOptions{})
			return err
		}
		if err := restart(); err != nil {
			t.Fatal(err)
		}
		const want = `Operation cannot be fulfilled on applications.apps.fairlead.dev "web": it was restarted in this very second already: to restart it once more, send the request again`
		if err := restart(); !apierrors.IsConflict(err) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		<-time.After(time.Second)
		if err := restart(); err != nil {
			t.Error(err)
		}
	})
}
