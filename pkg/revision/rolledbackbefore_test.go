// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/health"
)

// rolledBackBefore returns the numbers of the revisions that the ControllerRevisions name as rolled back before.
func (c *cluster) rolledBackBefore() []int64 {
	var numbers []int64
	for _, object := range c.history {
		names := strings.Split(object.Annotations[v1.AnnotationRolledBackBefore], ",")
		for _, other := range c.history {
			if slices.Contains(names, other.Name) {
				numbers = append(numbers, other.Revision)
			}
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// TestRolledBackBefore: a revision that was rolled back stays known as such after the next rollback, also where another client stripped the
// Deployment.
func TestRolledBackBefore(t *testing.T) {
	for name, strip := range map[string]bool{"with the mark": false, "by the status": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			want := func(image string, end health.Rollout, want ...int64) {
				t.Helper()
				c.run(t, image, end)
				if got := c.rolledBackBefore(); !cmp.Equal(got, want) {
					t.Errorf("after %s, the revisions %v were rolled back before, want %v", image, got, want)
				}
				if strip {
					delete(c.deployment.Annotations, v1.AnnotationRolledBackFrom)
				}
			}
			want("web:1", healthy)
			want("web:2", broken)
			want("web:3", broken, 2)
			want("web:4", broken, 2, 3)
			want("web:1", healthy, 2, 3, 4)
			want("web:6", healthy, 2, 3, 4)
			// One that is tried again gets a new number, and so does what it knows.
			want("web:4", broken, 2, 3, 7)
		})
	}
}

// TestRolledBackBeforeCostsNoWrite: the list of a ControllerRevision changes only together with its number, whatever becomes of the others.
func TestRolledBackBeforeCostsNoWrite(t *testing.T) {
	c := newCluster()
	c.run(t, "web:1", healthy)
	c.run(t, "web:2", broken)
	c.run(t, "web:3", broken)
	written := c.run(t, "web:4", healthy).RolledBackBefore
	if len(written) != 1 {
		t.Fatalf("the list is %q, want one name", written)
	}
	c.history = c.history[len(c.history)-1:]
	if got := c.sync(t).RolledBackBefore; !cmp.Equal(got, written) {
		t.Errorf("the list became %q, was %q", got, written)
	}
}

// TestForgedRolledBackBefore: what another client wrote does not grow what Fairlead writes.
func TestForgedRolledBackBefore(t *testing.T) {
	for _, forged := range []string{"web", ",,web-,other-0123456789", "web-0123456789-" + strings.Repeat("0", 1_000), strings.Repeat("web-0123456789,", 1_000)} {
		c := newCluster()
		c.run(t, "web:1", healthy)
		c.history[0].Annotations[v1.AnnotationRolledBackBefore] = forged
		if got := c.sync(t).RolledBackBefore; len(got) > maxFormerHealthy || len(strings.Join(got, ",")) > 2_000 {
			t.Errorf("%.20q: the list has %d names", forged, len(got))
		}
		c.run(t, "web:2", healthy)
		if got := c.run(t, "web:1", healthy).RolledBackBefore; len(got) > 0 {
			t.Errorf("%.20q: the list with the new number is %q, want none", forged, got)
		}
	}
}
