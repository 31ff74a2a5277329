// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package schemagen_test

import (
	"encoding/json"
	"errors"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/revision"
	"fairlead.dev/fairlead/pkg/status"
)

// The limits. What a user can make the controller store, keep in memory and allocate must be a small multiple of what
// the user sent, and a status must always fit into an object. What a sync allocates is bounded with the race detector
// too: there a sync.Pool loses a quarter of its items, and the regular expressions of labels take their state from one.
const (
	maxStatus    = 128 << 10
	maxChild     = 1 << 20
	maxChildren  = 8    // times the size of the Application, beyond what every Application costs
	maxIndexed   = 4    // the same
	maxGarbage   = 2000 // the same
	basic        = 256 << 10
	basicGarbage = 32 << 20
)

var (
	differ = plan.NewDiffer(scheme.Scheme)
	noon   = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)
)

// checkApplication does with the Application everything that a sync does without a request.
func checkApplication(t *rapid.T, app *v1.Application, classes []*v1.ApplicationClass) {
	t.Helper()
	size := encodedSize(t, app.Spec) + encodedSize(t, app.ObjectMeta)
	for _, class := range classes {
		size += encodedSize(t, class.Spec)
	}
	before := allocated()
	defer func() {
		if garbage := int(allocated() - before); garbage > basicGarbage+maxGarbage*size {
			t.Fatalf("a sync of %d bytes allocates %d", size, garbage)
		}
	}()
	atMost(t, "the keys of its routes in an index", indexed(app), basic+maxIndexed*size)
	resolution := class.Resolve(app, class.Rules{Classes: classes})
	invalid, reason := resolution.Validate(validation.Options{})
	checkStatus(t, status.Input{Snapshot: child.Snapshot{Application: app}, Class: resolution.Applied, Invalid: invalid, InvalidReason: reason})
	if len(invalid) > 0 {
		return // Nothing is rendered of it.
	}
	choice, err := revision.Select(revision.Input{Application: resolution.Application})
	if err != nil {
		t.Fatalf("choose a revision: %v", err)
	}
	record, err := choice.Record("", "")
	if err != nil {
		t.Fatalf("record the revision: %v", err)
	}
	facts := render.Facts{Revision: render.Revision{Name: record.Name, Number: record.Number, FormerNumbers: record.FormerNumbers, RolledBackBefore: record.RolledBackBefore, Data: record.Data}}
	desired, err := render.Children(choice.Application, facts)
	if err != nil {
		t.Fatalf("render: %v", err)
	}
	live, total := stored(t, app, desired)
	atMost(t, "all children", total, basic+maxChildren*size)
	for _, children := range []map[child.Ref]child.Object{{}, live} {
		snapshot := child.Snapshot{Application: app, Children: children}
		steps, err := plan.Compute(differ, plan.Input{Snapshot: snapshot, Desired: desired})
		if err != nil {
			t.Fatalf("plan: %v", err)
		}
		in := status.Input{Snapshot: snapshot, Class: resolution.Applied, Revision: record.Status, Autoscaled: render.Autoscaled(app)}
		for _, failure := range []error{nil, errors.New(strings.Repeat("it went wrong ", 1000))} {
			in.Results = nil
			for _, step := range steps {
				in.Results = append(in.Results, plan.Result{Step: step, UID: "36a1d3e4-7a7c-4c9c-9e4f-6e0f2d1c3b5a", Err: failure})
			}
			in.URLs = status.ServedURLs(snapshot, in.Results, render.URLs(choice.Application, facts))
			checkStatus(t, in)
		}
		for _, step := range steps {
			if len(children) > 0 && step.Action != plan.Keep {
				t.Fatalf("%s is as it was rendered, but the plan is to %s it: %s, %q", step.Ref, step.Action, step.Reason, step.Fields)
			}
		}
	}
}

// checkClass does what the controller does with a class alone.
func checkClass(t *rapid.T, class *v1.ApplicationClass) {
	t.Helper()
	validation.ValidateApplicationClass(class)
}

func checkStatus(t *rapid.T, in status.Input) {
	t.Helper()
	next := status.Compute(in, noon)
	if next.Class != nil {
		next.Class.Defaults = nil // A copy of what the platform wrote, not the tenant.
	}
	atMost(t, "the status", encodedSize(t, next), maxStatus)
}

// stored returns the children as an informer has them, and their size in bytes.
func stored(t *rapid.T, app *v1.Application, desired []child.Desired) (live map[child.Ref]child.Object, total int) {
	t.Helper()
	live = map[child.Ref]child.Object{}
	for _, d := range desired {
		fields, err := d.Object()
		if err != nil {
			t.Fatal(err)
		}
		size := encodedSize(t, fields)
		atMost(t, d.Ref.String(), size, maxChild)
		total += size
		typed, err := scheme.Scheme.New(d.Kind.GroupVersionKind())
		if err != nil {
			live[d.Ref] = fields // of an optional kind
		} else {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields.Object, typed); err != nil {
				t.Fatalf("%s: %v", d.Ref, err)
			}
			live[d.Ref] = typed.(child.Object)
		}
		if !child.OwnedBy(live[d.Ref], app) {
			t.Fatalf("%s does not belong to the Application", d.Ref)
		}
		live[d.Ref].SetUID(types.UID("uid-of-" + d.Name))
		live[d.Ref].SetGeneration(1)
	}
	return live, total
}

func indexed(app *v1.Application) int {
	total := 0
	for _, key := range app.RouteKeys() {
		total += len(key.String())
	}
	return total
}

func atMost(t *rapid.T, what string, got, want int) {
	t.Helper()
	if got > want {
		t.Fatalf("%s: %d bytes, at most %d are wanted", what, got, want)
	}
}

func encodedSize(t *rapid.T, object any) int {
	t.Helper()
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return len(encoded)
}

// allocated returns how many bytes this process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func classesOfExamples(t *testing.T) []*v1.ApplicationClass {
	t.Helper()
	var classes []*v1.ApplicationClass
	for _, seed := range seeds(t, v1.ApplicationClassKind) {
		class := &v1.ApplicationClass{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(seed, class); err != nil {
			t.Fatal(err)
		}
		classes = append(classes, class)
	}
	return classes
}
