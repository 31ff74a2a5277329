// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestBlockedDrains: a budget that keeps all pods is warned of where their number is open, unless there are more already.
func TestBlockedDrains(t *testing.T) {
	const (
		one = "spec.disruptionBudget.minAvailable: 1 blocks every drain of a node while there are fewer than 2 pods, and without replicas " +
			"there is 1 until another client scales the Deployment: set replicas to 2 or more, or remove disruptionBudget"
		share = "spec.disruptionBudget.minAvailable: 67% blocks every drain of a node while there are fewer than 4 pods, and without replicas " +
			"there is 1 until another client scales the Deployment: set replicas to 4 or more, or remove disruptionBudget"
	)
	const (
		oneNow = "spec.disruptionBudget.minAvailable: 1 blocks every drain of a node while there are fewer than 2 pods, and now there is 1: " +
			"set replicas to 2 or more, have the client that scales the Deployment keep as many, or remove disruptionBudget"
		shareNow = "spec.disruptionBudget.minAvailable: 67% blocks every drain of a node while there are fewer than 4 pods, and now there are 3: " +
			"set replicas to 4 or more, have the client that scales the Deployment keep as many, or remove disruptionBudget"
	)
	keeping := func(minAvailable string, changes ...func(*v1.Application)) *v1.Application {
		return application(func(a *v1.Application) {
			a.Spec.DisruptionBudget = &v1.DisruptionBudget{Mode: v1.DisruptionBudgetCustom, MinAvailable: new(intstr.Parse(minAvailable))}
			for _, change := range changes {
				change(a)
			}
		})
	}
	live := func(pods int32) func(*v1.Application) {
		return func(a *v1.Application) { a.Status.DesiredReplicas = pods }
	}
	unavailable := application(func(a *v1.Application) {
		a.Spec.DisruptionBudget = &v1.DisruptionBudget{Mode: v1.DisruptionBudgetCustom, MaxUnavailable: new(intstr.FromInt32(1))}
	})
	for _, test := range []struct {
		name         string
		updated, old *v1.Application
		want         []string
	}{
		{name: "the only pod", updated: keeping("1"), want: []string{one}},
		{name: "a share", updated: keeping("67%"), want: []string{share}},
		{name: "none", updated: keeping("0")},
		{name: "the default", updated: application(func(a *v1.Application) { a.Spec.DisruptionBudget = &v1.DisruptionBudget{} })},
		{name: "one may go", updated: unavailable},
		{name: "one of two", updated: keeping("1", replicas(2))},
		{name: "by an update", updated: keeping("1", live(1)), old: application(live(1)), want: []string{oneNow}},
		{name: "as before", updated: keeping("1", live(1), image("web:2")), old: keeping("1", live(1))},
		{name: "another client has scaled up", updated: keeping("1", live(2)), old: application(live(2))},
		{name: "replicas are removed, and the pods stay", updated: keeping("1", live(3)), old: keeping("1", live(3), replicas(3))},
		{name: "more than another client has", updated: keeping("67%", live(3)), old: application(live(3)), want: []string{shareNow}},
	} {
		t.Run(test.name, func(t *testing.T) {
			question := review(t, test.updated, nil)
			if test.old != nil {
				question = review(t, test.updated, test.old)
			}
			response := ask(t, new(cluster).handler(t), ValidatePath, question)
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}
