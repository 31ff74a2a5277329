// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/costly"
)

// large returns an Application that has to wait for its turn.
func large(name string) *v1.Application {
	app := application(name)
	app.Spec.Config = &v1.Config{MountPath: "/etc/web", Data: map[string]string{"a": strings.Repeat("x", fullCost)}}
	return app
}

// A tenant who edits large Applications ten times a second causes few writes, and an ordinary Application beside them
// follows each edit at once.
func TestLargeApplicationsTakeTurns(t *testing.T) {
	inWorld(t, setup{workers: 4, begin: withApplications(large("large-0"), large("large-1"), large("large-2"), application("web"))}, func(w *world) {
		pass(10 * time.Second)
		toLarge := func(r applytest.Request) bool { return r.Writes() && strings.HasPrefix(r.Name, "large-") }
		before := w.count(toLarge)
		const edits = 600
		for edit := range edits {
			image := fmt.Sprintf("registry.example.com/web:%d", edit+2)
			w.edit(fmt.Sprintf("large-%d", edit%3), func(a *v1.Application) { a.Spec.Image = image })
			if edit%10 == 0 {
				w.edit("web", func(a *v1.Application) { a.Spec.Image = image })
			}
			pass(100 * time.Millisecond)
			if edit%10 == 0 && w.image("web") != image {
				t.Fatalf("after edit %d the ordinary Application runs %s, want %s", edit, w.image("web"), image)
			}
		}
		// At most one is synced in a second, and a sync writes four objects at most.
		if got, most := w.count(toLarge)-before, 4*edits/10; got > most {
			t.Errorf("%d edits of large Applications caused %d writes, want %d at most", edits, got, most)
		}
		pass(10 * time.Second)
		for i := range 3 {
			if got, want := w.image(fmt.Sprintf("large-%d", i)), fmt.Sprintf("registry.example.com/web:%d", edits-1+i); got != want {
				t.Errorf("in the end large-%d runs %s, want %s", i, got, want)
			}
		}
	})
}

// A tenant who creates large Applications, instead of editing them, waits for turns too. The API server gives each its default status.
func TestNewLargeApplicationsTakeTurns(t *testing.T) {
	inWorld(t, setup{workers: 4}, func(w *world) {
		pass(time.Second)
		for i := range 10 {
			app := large(fmt.Sprintf("large-%d", i))
			app.Status.ObservedGeneration = -1
			applytest.Put(w.server, applytest.Applications, app)
		}
		pass(4 * time.Second)
		if got := w.count(createOf(child.Deployment)); got < 2 || got > 5 {
			t.Errorf("%d of 10 were written in 4 s, want one in a second", got)
		}
	})
}

// A large Application that waits for its turn can be deleted at once, and is forgotten.
func TestLargeApplicationIsDeletedWhileItWaits(t *testing.T) {
	web := large("web")
	web.Spec.DeletionPolicy = v1.DeletionOrphan
	inWorld(t, setup{begin: withApplications(web, large("other"))}, func(w *world) {
		pass(10 * time.Second)
		for edit := range 3 {
			w.edit("web", func(a *v1.Application) { a.Spec.Image = fmt.Sprintf("registry.example.com/web:%d", edit+2) })
			w.edit("other", func(a *v1.Application) { a.Spec.Image = fmt.Sprintf("registry.example.com/web:%d", edit+2) })
			pass(50 * time.Millisecond)
		}
		w.server.Delete(applytest.Applications, namespace, "web")
		pass(500 * time.Millisecond)
		if app := w.application("web"); app != nil {
			t.Errorf("it is still there, with the finalizers %v", app.Finalizers)
		}
	})
}

func TestThrottle(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	turns := newThrottle()
	reserve := func(namespace string, cost int, after, want time.Duration) {
		t.Helper()
		if got := turns.reserve(namespace, cost, start.Add(after)).Sub(start); got != want {
			t.Errorf("%s reserves %s after %s, want %s", namespace, got, after, want)
		}
	}
	reserve("a", fullCost, 0, 0)
	reserve("a", 10*fullCost, 0, minRest) // The most expensive ones wait no longer for what they cost.
	reserve("a", fullCost/2, 0, 2*minRest)
	reserve("a", fullCost, 0, 2*minRest+minRest/2)
	reserve("b", fullCost, 0, 0) // Another namespace has its own turns.
	turns.synced("b", 500*time.Millisecond)
	reserve("b", fullCost, 0, minRest)
	reserve("b", fullCost/3, 0, minRest+3*time.Second) // (1 s + 10 * 500 ms) / 2
	reserve("b", fullCost, 0, minRest+4*time.Second)
	for range 10 {
		turns.synced("b", time.Minute)
	}
	reserve("b", fullCost, 0, minRest+7*time.Second)
	reserve("b", fullCost, 0, minRest+7*time.Second+maxRest)
	for range 10 {
		turns.synced("b", 0)
	}
	reserve("b", fullCost, 60*time.Second, 60*time.Second)
	reserve("b", fullCost, 60*time.Second, 60*time.Second+minRest)
	reserve("c", fullCost, 2*time.Minute, 2*time.Minute)
	if len(turns.namespaces) != 1 {
		t.Errorf("namespaces at rest are kept: %v", turns.namespaces)
	}
	turns.synced("unknown", time.Second)
}

// The most expensive Applications take turns, each whatever is expensive in it.
func TestCostlyApplicationsAreLarge(t *testing.T) {
	for name, spec := range costly.Specs("example.com") {
		if cost := (&v1.Application{Spec: spec}).WriteCost(); cost <= v1.LargeCost {
			t.Errorf("the one with much %s costs %d, which is not more than %d", name, cost, v1.LargeCost)
		}
	}
}

// The examples, and the Applications of the golden files, never wait, except for those that have every field.
func TestOrdinaryApplicationsAreNotLarge(t *testing.T) {
	files, err := filepath.Glob("../../*/*/testdata/golden/*.in.yaml")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Glob("../../artifacts/examples/*.yaml")
	if err != nil || len(examples) == 0 {
		t.Fatalf("examples: %v, %v", examples, err)
	}
	found := 0
	for _, file := range append(files, examples...) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			var app v1.Application
			if err := yaml.Unmarshal([]byte(document), &app); err != nil || app.Kind != "Application" {
				continue
			}
			found++
			if name := filepath.Base(file); name == "full.yaml" || name == "everything.in.yaml" {
				continue
			}
			if cost := app.WriteCost(); cost > v1.LargeCost {
				t.Errorf("%s: %s costs %d, want %d at most", file, app.Name, cost, v1.LargeCost)
			}
		}
	}
	t.Logf("%d Applications", found)
	if found < 20 {
		t.Errorf("found %d Applications", found)
	}
}
