// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// unready has been running for a minute, and should have been ready for half of it.
func unready() *child.PodProblems {
	return &child.PodProblems{Containers: []child.Container{{
		Name: "web", Unready: &child.Unready{Since: at(-60), Due: at(-30), Probe: "GET :8080/healthz"},
	}}}
}

// The newest Event is about the pods of the present spec, and there is one for each new cause.
func TestTransitionsOfPods(t *testing.T) {
	type change = func(*Input, *appsv1.Deployment)
	// counted are all pods of the Deployment, those of the current revision, and the ready ones. Three are desired.
	counted := func(all, updated, ready int32) change {
		return func(_ *Input, d *appsv1.Deployment) { rollingOut(d); counts(d, all, updated, ready) }
	}
	edited := func(in *Input, _ *appsv1.Deployment) { in.Snapshot.Application.Generation++ }
	refused := func(failure string) change {
		return func(in *Input, d *appsv1.Deployment) {
			withPods(0, nil)(in, d)
			in.Snapshot.ReplicaSets[1].Failure = `pods "web-2-x" is forbidden: ` + failure
		}
	}
	unpulled := func(image string) change {
		return withPods(1, func() *child.PodProblems {
			return &child.PodProblems{Containers: []child.Container{{
				Name: "web", Waiting: &child.ReasonMessage{Reason: "ErrImagePull", Message: `failed to pull and unpack image "` + image + `": not found`},
			}}}
		})
	}
	unset, exceeded := refused("failed quota: small: must specify requests.memory for: web"), refused("exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2")
	// First is a rollout whose first pod is not ready. Then one is ready, and the next is not.
	first, next := counted(4, 1, 3), counted(4, 2, 3)
	failing, failingNext := with(first, withPods(1, unready)), with(next, withPods(2, unready))
	const (
		probe = "Warning ReadinessFailing: 1 of 3 pods, container web: Readiness probe GET :8080/healthz has failed since 2026-11-21T11:59:00Z in pod web-2-0. "
		quota = "Warning QuotaExceeded: Exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2. "
		image = `Warning ImagePullFailed: 1 of 3 pods, container web: failed to pull and unpack image "web:3": not found. `
		begun = "1 of 3 pods are updated, 3 available; 3 of an older revision."
	)
	for _, test := range []struct {
		name     string
		old, new Input
		want     []string
	}{
		{"a probe fails in a rollout", with(first), failing, []string{probe + begun}},
		{"it fails with an image that can be pulled", with(first, unpulled("web:2")), with(first, withPods(1, unready), edited), []string{probe + begun}},
		{"it still fails", failing, failing, nil},
		{"it fails in more pods", failing, with(counted(5, 2, 3), withPods(3, unready)), nil},
		{"it fails after another edit of the pods", with(first, edited), with(first, withPods(1, unready), edited), []string{probe + begun}},
		{"the next pod is slow", with(next), failingNext, nil},
		{"a pod is ready, and then not", with(next), failing, nil},
		{"a pod of a ready Application", settled(), with(withPods(2, unready), counted(3, 3, 2)), []string{probe + "All 3 pods are updated, 2 available."}},
		{"more pods of a ready Application", with(func(_ *Input, d *appsv1.Deployment) { d.Spec.Replicas = new(int32(2)); counts(d, 2, 2, 2) }), with(withPods(2, unready), counted(3, 3, 2)), nil},

		{"the quota has another objection after an edit", with(first, unset), with(first, exceeded, edited), []string{quota + begun}},
		{"another message without an edit", with(first, unset), with(first, exceeded), nil},
		{"the same message after an edit", with(first, exceeded), with(next, exceeded, edited), nil},
		{"another image that cannot be pulled", with(first, unpulled("web:2")), with(first, unpulled("web:3"), edited), []string{image + begun}},
		{"the same image with more pods", with(first, unpulled("web:3")), with(next, unpulled("web:3"), edited), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, transition := range Transitions(compute(test.old, noon), compute(test.new, noon)) {
				got = append(got, transition.Type+" "+transition.Reason+": "+transition.Message)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the Events (-want +got):\n%s", diff)
			}
		})
	}
}

// The counts tell whether a pod of the current revision is ready, if all older ones are.
func TestRevisionServes(t *testing.T) {
	for _, test := range []struct {
		name                string
		all, updated, ready int32
		want                bool
	}{
		{"no pods", 0, 0, 0, false},
		{"the first pods start", 3, 3, 0, false},
		{"one of them is ready", 3, 3, 1, true},
		{"only old pods are ready", 4, 1, 3, false},
		{"an old pod has gone", 3, 1, 2, false},
		{"a new pod is ready", 4, 1, 4, true},
	} {
		status := v1.ApplicationStatus{Replicas: test.all, UpdatedReplicas: test.updated, ReadyReplicas: test.ready}
		if got := revisionServes(status); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
	}
}
