// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"fairlead.dev/fairlead/pkg/debug"
)

func contains(name debug.Name, part string) bool { return strings.Contains(name.Name, part) }

// TestDrawing shows every stage, with its numbers, what it is and where its code is.
func TestDrawing(t *testing.T) {
	b := open(t, newFake(t).url())
	var want []string
	for _, stage := range debug.Stages() {
		want = append(want, string(stage))
	}
	drawn := evaluate[[]string](b, `[...document.querySelectorAll("[data-stage]")].map((one) => one.dataset.stage)`)
	if !slices.Equal(drawn, want) {
		t.Errorf("drawn are the stages %q, want %q", drawn, want)
	}
	if label := evaluate[string](b, `document.querySelector("[data-stage=worker]").getAttribute("aria-label")`); label != "Workers: 2 of 16, busy · 4.2/s" {
		t.Errorf("the workers say %q", label)
	}
	for _, stage := range want {
		b.press("[data-stage="+stage+"]", kb.Enter)
		b.eventually(stage+" is explained", `document.querySelector("[data-stage=`+stage+`][aria-pressed=true]") && document.querySelector(".panel .lead")`)
		if text := b.text(".panel .code"); !strings.Contains(text, ".go") {
			t.Errorf("%s does not name its code: %q", stage, text)
		}
	}
	twin := evaluate[int](b, `document.querySelectorAll(".twin.unseen tbody tr").length`)
	if twin != len(want) {
		t.Errorf("the table for screen readers has %d rows, want %d", twin, len(want))
	}
	b.click("#as-table")
	b.eventually("the table has taken the place of the drawing", `document.querySelector(".twin:not(.unseen)") && !document.querySelector(".drawing")`)
	if text := b.text(".twin"); !strings.Contains(text, "Workers\t2 of 16 busy\t4.2\t120 syncs\t200 µs\t1.5 ms") {
		t.Errorf("the table says\n%s", text)
	}
}

// TestFollowKey leads from the watch event to the writes, with the reasons.
func TestFollowKey(t *testing.T) {
	f := newFake(t)
	b := open(t, f.url())
	if text := b.text(".keys"); !strings.HasPrefix(text, "Failing 1\nshop/broken\n5×\nForbidden (403): create deployments.apps") {
		t.Errorf("the failing key is not first:\n%s", text)
	}
	b.click(".keys ul:not(.failing) .key")
	b.eventually("the timeline is there", `document.querySelector(".line li")`)
	types := evaluate[[]string](b, `[...document.querySelectorAll(".line li")].map((one) => one.dataset.type)`)
	want := []string{
		"WatchEvent", "Handled", "Enqueued", "Started", "Observed", "Fresh", "Rendered", "Step", "Planned", "Wrote", "Wrote", "Status", "Synced", "Delayed",
	}
	if !slices.Equal(types, want) {
		t.Errorf("the timeline has %q, want %q", types, want)
	}
	text := b.text(".panel")
	for _, says := range []string{
		"Application updated", "Succeeded", "2 writes", "13 ms", "Trace 4bf92f3577b34da6a3ce929d0e0e4736", // the sync as a whole
		"in the queue 100 µs", "apply 6.8 ms", "status 4.9 ms", // where the time went
		"Event of the watch: application changed", "Handler called: application updated", ".spec.image",
		"Queued: Application updated", "Apply deployment: the Application changed", `.spec.template.spec.containers[name="web"].image`,
		"Applied deployment", "HTTP 200", "version 1811 → 1840", "Updated application status", "Comes back in 10 min: look again",
	} {
		if !strings.Contains(text, says) {
			t.Errorf("the timeline does not say %q", says)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	// The address leads there again.
	if hash := evaluate[string](b, `location.hash`); hash != "#key=shop/web" {
		t.Errorf("the address ends in %q", hash)
	}
	again := open(t, f.url()+"#key=shop/web")
	again.eventually("the timeline is there", `document.querySelector(".line li")`)
	again.press("body", kb.Escape)
	again.eventually("nothing is selected", `!document.querySelector(".line") && location.hash === ""`)
	again.run(back())
	again.eventually("the way back leads to the key", `document.querySelector(".line li") && location.hash === "#key=shop/web"`)
}

// TestDelayByAnEvent: what no sync has arranged is not told as the last one's outcome.
func TestDelayByAnEvent(t *testing.T) {
	f := newFake(t)
	last := f.timeline.Events[len(f.timeline.Events)-1]
	last.Sequence, last.Sync, last.Reason = last.Sequence+1, 0, "more changes may follow"
	f.timeline.Events = append(f.timeline.Events, last)
	b := open(t, f.url()+"#key=shop/web")
	b.eventually("it waits for the next sync", `document.querySelector("[aria-label='Since the last sync']")?.innerText.includes("more changes may follow")`)
	if text := b.text("details.sync"); strings.Contains(text, "more changes") || !strings.Contains(text, "look again") {
		t.Errorf("the last sync is told as\n%s", text)
	}
}

// TestNothingHeld is a key that the controller knows nothing about, in an address that somebody sent.
func TestNothingHeld(t *testing.T) {
	b := open(t, newFake(t).url()+"#key=shop/gone")
	b.eventually("it says so", `document.querySelector(".panel").innerText.includes("Nothing is recorded about this.")`)
	b.expect("404")
}

// TestNamesAreText: what looks like markup in a name or an error is shown as it is.
func TestNamesAreText(t *testing.T) {
	f := newFake(t)
	b := open(t, f.url())
	const hostile = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`
	f.publish(debug.Event{
		Stage: debug.StageApply, Type: debug.TypeWrote, Verb: "apply", Resource: hostile, Reason: hostile, Error: hostile, Result: hostile,
		Key: &debug.Name{Namespace: hostile, Name: hostile}, Object: &debug.Name{Name: hostile}, Fields: []string{hostile},
	})
	b.eventually("the event is listed", `document.querySelector(".events .error")?.innerText.startsWith("<img")`)
	if injected := evaluate[int](b, `document.querySelectorAll("#page img, #page script").length`); injected > 0 {
		t.Errorf("%d elements came out of a name", injected)
	}
}

// TestLookInsideCache looks an object up by an index, and at one with its values redacted.
func TestLookInsideCache(t *testing.T) {
	f := newFake(t)
	b := open(t, f.url()+"#stage=store")
	b.eventually("the cache is listed", `document.querySelector("[aria-label='Objects in the cache'] tbody tr")`)
	b.choose("#cache-index", "application")
	b.eventually("a value can be given", `document.querySelector("#cache-value")`)
	b.fill("#cache-value", "shop/web"+kb.Enter)
	b.eventually("the index was asked", `performance.getEntriesByType("resource").some(({ name }) => name.includes("index=application&value=shop%2Fweb"))`)
	b.eventually("the object is listed", `document.querySelector("[aria-label='Objects in the cache'] tbody .link")`)
	b.click("[aria-label='Objects in the cache'] tbody .link")
	b.eventually("the object is shown, redacted", `document.querySelector("pre.object")?.innerText.includes('"template": "redacted"')`)
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.lookups[len(f.lookups)-1]
	if asked.Index != "application" || asked.Value != "shop/web" {
		t.Errorf("the cache was asked for %+v", asked)
	}
}
