// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/health"
)

// TestFormerHealthy wants that the status tells of each revision that is kept whether it was healthy, also after a newer
// one is.
func TestFormerHealthy(t *testing.T) {
	underWay, scaledToZero := health.Rollout{}, health.Rollout{Complete: true}
	type step struct {
		image string
		end   health.Rollout
	}
	pinned := func(number int64) func(*cluster) {
		return func(c *cluster) { c.application.Spec.Rollback.ToRevision = &number }
	}
	stored := func(numbers ...int64) func(*cluster) {
		return func(c *cluster) { c.application.Status.Revision.FormerHealthy = numbers }
	}
	three := []step{{"web:1", healthy}, {"web:2", underWay}, {"web:3", healthy}}
	for name, test := range map[string]struct {
		steps []step
		// then changes what is stored, before the last sync.
		then func(*cluster)
		want v1.RevisionStatus
	}{
		"the first":             {steps: []step{{"web:1", healthy}}, want: v1.RevisionStatus{Current: 1, LastHealthy: 1}},
		"under way":             {steps: []step{{"web:1", healthy}, {"web:2", underWay}}, want: v1.RevisionStatus{Current: 2, LastHealthy: 1}},
		"the second":            {steps: []step{{"web:1", healthy}, {"web:2", healthy}}, want: v1.RevisionStatus{Current: 2, LastHealthy: 2, FormerHealthy: []int64{1}}},
		"replaced too early":    {steps: three, want: v1.RevisionStatus{Current: 3, LastHealthy: 3, FormerHealthy: []int64{1}}},
		"replaced without pods": {steps: []step{{"web:1", scaledToZero}, {"web:2", healthy}}, want: v1.RevisionStatus{Current: 2, LastHealthy: 2}},
		"rolled back": {
			steps: []step{{"web:1", healthy}, {"web:2", healthy}, {"web:3", broken}},
			want:  v1.RevisionStatus{Current: 2, LastHealthy: 2, RolledBackFrom: 3, FormerHealthy: []int64{1}},
		},
		"rolled back, and was healthy once": {
			steps: []step{{"web:1", healthy}, {"web:2", healthy}, {"web:1", broken}},
			want:  v1.RevisionStatus{Current: 2, LastHealthy: 2, RolledBackFrom: 3, FormerHealthy: []int64{3}},
		},
		"after a rollback": {
			steps: []step{{"web:1", healthy}, {"web:2", broken}, {"web:3", healthy}},
			want:  v1.RevisionStatus{Current: 3, LastHealthy: 3, FormerHealthy: []int64{1}},
		},
		"healthy again, under a new number": {
			steps: []step{{"web:1", healthy}, {"web:2", healthy}, {"web:1", healthy}},
			want:  v1.RevisionStatus{Current: 3, LastHealthy: 3, FormerHealthy: []int64{2}},
		},
		"once healthy, and used again": {
			steps: []step{{"web:1", healthy}, {"web:2", healthy}, {"web:1", underWay}},
			want:  v1.RevisionStatus{Current: 3, LastHealthy: 2, FormerHealthy: []int64{3}},
		},
		"once healthy, and replaced before it was again": {
			steps: []step{{"web:1", healthy}, {"web:2", healthy}, {"web:1", underWay}, {"web:4", healthy}},
			want:  v1.RevisionStatus{Current: 4, LastHealthy: 4, FormerHealthy: []int64{3, 2}},
		},
		"healthy at the second attempt": {
			steps: []step{{"web:1", healthy}, {"web:2", underWay}, {"web:1", healthy}, {"web:2", healthy}},
			want:  v1.RevisionStatus{Current: 4, LastHealthy: 4, FormerHealthy: []int64{3}},
		},
		"pinned to one that was healthy": {
			steps: three, then: pinned(1),
			want: v1.RevisionStatus{Current: 1, LastHealthy: 3, FormerHealthy: []int64{1}},
		},
		"pinned to one that never was": {
			steps: three, then: pinned(2),
			want: v1.RevisionStatus{Current: 2, LastHealthy: 3, FormerHealthy: []int64{1}},
		},
		"deleted by another client": {
			steps: three, then: func(c *cluster) { c.history = c.history[1:] },
			want: v1.RevisionStatus{Current: 3, LastHealthy: 3},
		},
		"the last healthy one is deleted by another client": {
			steps: append(slices.Clone(three), step{"web:4", underWay}),
			then:  func(c *cluster) { c.history = append(c.history[:2:2], c.history[3]) },
			want:  v1.RevisionStatus{Current: 4, LastHealthy: 1},
		},
		"the list is stripped": {steps: three, then: stored(), want: v1.RevisionStatus{Current: 3, LastHealthy: 3}},
		"the list is forged": {
			steps: three, then: stored(-1, 0, 1, 1, 3, 3, 9),
			want: v1.RevisionStatus{Current: 3, LastHealthy: 3, FormerHealthy: []int64{1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			for _, step := range test.steps {
				c.run(t, step.image, step.end)
			}
			if test.then != nil {
				test.then(c)
			}
			if got := c.sync(t).Status; !cmp.Equal(got, test.want) {
				t.Errorf("the revisions are %+v, want %+v", got, test.want)
			}
		})
	}
}

// TestHealthyFollowsTheNumber: a revision that was healthy gets a higher number, is not healthy yet, and the status of that sync
// is written only after further ones, or never. The next sync still knows it, and can roll back to it.
func TestHealthyFollowsTheNumber(t *testing.T) {
	c := newCluster()
	c.run(t, "web:1", healthy)
	c.run(t, "web:2", health.Rollout{})
	before := *c.application.Status.Revision
	want := func(what string, want v1.RevisionStatus) {
		t.Helper()
		if got := c.sync(t).Status; !cmp.Equal(got, want) {
			t.Errorf("%s: the revisions are %+v, want %+v", what, got, want)
		}
	}
	for _, then := range []struct {
		image string
		want  v1.RevisionStatus
	}{
		{"web:1", v1.RevisionStatus{Current: 3, LastHealthy: 3}},
		{"web:2", v1.RevisionStatus{Current: 4, LastHealthy: 3}},
		{"web:1", v1.RevisionStatus{Current: 5, LastHealthy: 5}},
	} {
		c.application.Spec.Image = then.image
		want("the sync of "+then.image, then.want)
		c.application.Status.Revision = &before
		want("the sync after a status that was not written", then.want)
		c.application.Status.Revision = &before
	}
	c.run(t, "web:3", broken)
	if want := (v1.RevisionStatus{Current: 5, LastHealthy: 5, RolledBackFrom: 6}); c.runs != "web:1" || !cmp.Equal(*c.application.Status.Revision, want) {
		t.Errorf("it runs %s, and %+v", c.runs, c.application.Status.Revision)
	}
}

// TestForgedFormerNumbers: what is written on another ControllerRevision does not make it one that was healthy.
func TestForgedFormerNumbers(t *testing.T) {
	for _, forged := range []string{"1", "1,1,,x,-1,9223372036854775808", strings.Repeat("1,", 1_000)} {
		c := newCluster()
		c.run(t, "web:1", healthy)
		c.run(t, "web:2", health.Rollout{})
		c.history[1].Annotations[v1.AnnotationFormerNumbers] = forged
		if got, want := c.sync(t).Status, (v1.RevisionStatus{Current: 2, LastHealthy: 1}); !cmp.Equal(got, want) {
			t.Errorf("%.20q: the revisions are %+v, want %+v", forged, got, want)
		}
	}
}

// TestFormerHealthyIsBounded: with the largest limit, the list has all that were healthy and are kept. It is never longer
// than its schema allows, also if the limit is larger, as one that was stored without a schema is.
func TestFormerHealthyIsBounded(t *testing.T) {
	for limit, want := range map[int32]int{0: 0, 3: 2, 100: 99, 1000: maxFormerHealthy} {
		c := newCluster()
		c.application.Spec.RevisionHistoryLimit, c.application.Spec.Rollback = &limit, nil
		for i := range 2 * maxFormerHealthy {
			c.run(t, fmt.Sprint("web:", i), healthy)
		}
		c.run(t, "broken", broken)
		status := c.sync(t).Status
		// The last healthy one is kept too, and has its own field.
		if got := len(status.FormerHealthy); got != want {
			t.Errorf("with a limit of %d, %d former revisions are healthy, want %d", limit, got, want)
		}
		for _, number := range status.FormerHealthy {
			if !slices.ContainsFunc(c.history, func(r *appsv1.ControllerRevision) bool { return r.Revision == number }) {
				t.Errorf("with a limit of %d, revision %d is listed but not kept", limit, number)
			}
		}
	}
}
