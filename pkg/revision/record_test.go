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
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/render/rendertest"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// numbers are those of the history, in order.
func (c *cluster) numbers() []int64 {
	var numbers []int64
	for _, r := range c.history {
		numbers = append(numbers, r.Revision)
	}
	slices.Sort(numbers)
	return numbers
}

func TestHistory(t *testing.T) {
	c := newCluster()
	c.application.Spec.RevisionHistoryLimit = new(int32(2))
	for i := range 5 {
		c.run(t, fmt.Sprintf("web:%d", i+1), healthy)
	}
	if got := c.numbers(); !slices.Equal(got, []int64{3, 4, 5}) {
		t.Errorf("kept are %v", got)
	}
	// Back to what was before: the same object with a new number.
	c.run(t, "web:4", healthy)
	if got := c.numbers(); !slices.Equal(got, []int64{3, 5, 6}) || c.application.Status.Revision.LastHealthy != 6 {
		t.Errorf("kept are %v, %+v", got, c.application.Status.Revision)
	}
	c.application.Spec.RevisionHistoryLimit = new(int32(0))
	c.sync(t)
	if !slices.Equal(c.numbers(), []int64{6}) {
		t.Errorf("kept are %v", c.numbers())
	}
	// Others delete all of it: the current one comes back as it was, and numbers are not given twice.
	c.history = nil
	c.sync(t)
	if !slices.Equal(c.numbers(), []int64{6}) {
		t.Errorf("kept are %v", c.numbers())
	}
	c.history = nil
	c.run(t, "web:6", healthy)
	if got := c.numbers(); !slices.Equal(got, []int64{7}) {
		t.Errorf("kept are %v", got)
	}
}

// The last healthy one outlives any number of failures, although only one is to be kept.
func TestLastHealthyIsKept(t *testing.T) {
	c := newCluster()
	c.application.Spec.RevisionHistoryLimit, c.application.Spec.Rollback = new(int32(1)), nil
	c.run(t, "web:1", healthy)
	for i := range 5 {
		c.run(t, fmt.Sprintf("web:%d", i+2), broken)
	}
	if got := c.numbers(); !slices.Equal(got, []int64{1, 6}) {
		t.Errorf("kept are %v", got)
	}
}

// What bears the label and the owner, and another name than Fairlead gives, is no revision.
func TestOddNames(t *testing.T) {
	c := newCluster()
	c.run(t, "web:1", healthy)
	for _, name := range []string{"web", "web-1", "webbing-0123456789", "api-0123456789"} {
		odd := &appsv1.ControllerRevision{Revision: 9}
		odd.Name = name
		c.history = append(c.history, odd)
	}
	if record := c.sync(t); record.Number != 1 || len(record.Kept) != 0 {
		t.Errorf("the record is %+v", record)
	}
}

// Whatever is asked for, and however it ends: nothing is put back twice for one edit, nothing but what
// was healthy is put back, the last healthy revision is never lost, the limit holds, and a sync that
// knows nothing new changes nothing.
func TestAnySequence(t *testing.T) {
	fixedseed.Check(t, func(t *rapid.T) {
		c := newCluster()
		limit := rapid.Int32Range(0, 3).Draw(t, "limit")
		c.application.Spec.RevisionHistoryLimit = &limit
		served := map[string]bool{}
		rollbacks := 0
		asked := ""
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1:
				image := fmt.Sprintf("web:%d", rapid.IntRange(1, 4).Draw(t, "image"))
				if image != asked {
					asked, rollbacks = image, 0
				}
				c.application.Spec.Image = image
			case 2:
				c.references = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "references")
			case 3:
				c.rollout = healthy
			case 4:
				c.rollout = timedOut(rapid.SampledFrom([]string{v1.ReasonCrashLooping, v1.ReasonUnschedulable}).Draw(t, "why"), "")
			case 5:
				c.application.Spec.Replicas = new(rapid.Int32Range(0, 3).Draw(t, "replicas"))
			}
			if c.application.Spec.Image == "" {
				continue
			}
			if c.rollout.Complete && c.deployment != nil {
				served[c.runs] = true
			}
			before := c.runs
			record := c.sync(t)
			if c.runs != before && c.runs != asked {
				rollbacks++
			}
			if rollbacks > 1 {
				t.Fatalf("%s was rolled back %d times", asked, rollbacks)
			}
			if c.runs != asked && !served[c.runs] {
				t.Fatalf("%s was put back, and has never been healthy", c.runs)
			}
			status := record.Status
			numbers := c.numbers()
			if status.LastHealthy > 0 && !slices.Contains(numbers, status.LastHealthy) {
				t.Fatalf("the healthy revision %d is lost: %v", status.LastHealthy, numbers)
			}
			if len(served) > 0 && status.LastHealthy == 0 {
				t.Fatal("nobody knows any more that there was a healthy one")
			}
			// Beside the current one: the healthy one, the one given up, and the one that was deployed before.
			if most := max(int(limit), 3); len(numbers) > 1+most || len(slices.Compact(slices.Clone(numbers))) != len(numbers) {
				t.Fatalf("the history is %v with a limit of %d", numbers, limit)
			}
			rollout, runs := c.rollout, c.runs
			again := c.sync(t)
			if c.runs != runs || again.Name != record.Name || again.Number != record.Number || !cmp.Equal(c.rollout, rollout) {
				t.Fatalf("another sync made %+v of %+v", again, record)
			}
		}
	})
}

// BenchmarkChooseAndRecord is what each sync pays, also of an Application at rest.
func BenchmarkChooseAndRecord(b *testing.B) {
	in := Input{Application: rendertest.Applications().Example(5)}
	for b.Loop() {
		selection, err := Select(in)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := selection.Record("configmaps", "secrets"); err != nil {
			b.Fatal(err)
		}
	}
}

// TestHistoryIsBoundedInBytes: whatever the limit, large revisions do not pile up, and the one that was
// healthy last is never among those that go.
func TestHistoryIsBoundedInBytes(t *testing.T) {
	c := newCluster()
	c.application.Spec.RevisionHistoryLimit, c.application.Spec.Rollback = new(int32(100)), nil
	c.application.Spec.Args = []string{strings.Repeat("x", maxHistoryBytes/4)}
	kept := c.run(t, "web:0", healthy).Name
	for i := range 10 {
		c.run(t, fmt.Sprintf("web:%d", i+1), broken)
	}
	bytes := 0
	for _, r := range c.history {
		bytes += len(r.Data.Raw)
	}
	if bytes > 2*maxHistoryBytes || len(c.history) < 3 {
		t.Errorf("%d revisions of %d bytes, want at least 3, of at most %d", len(c.history), bytes, 2*maxHistoryBytes)
	}
	if !slices.ContainsFunc(c.history, func(r *appsv1.ControllerRevision) bool { return r.Name == kept }) {
		t.Error("the revision that was healthy last is gone")
	}
}
