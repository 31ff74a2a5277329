// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// violation is what axe finds: what is wrong, how bad it is, and where.
type violation struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML           string `json:"html"`
		FailureSummary string `json:"failureSummary"`
	} `json:"nodes"`
}

// TestAccessible lets axe look at every view, in light and in dark.
func TestAccessible(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join("testdata", "lib", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	f := newFake(t)
	b := open(t, f.url())
	// By the debugging protocol, which the page's policy does not bind.
	evaluate[bool](b, string(axe)+";true")
	views := []struct {
		name string
		show func()
	}{
		{"overview", func() {}},
		{"stage-watch", func() {
			b.click("[data-stage=watch]")
			b.eventually("shown", `document.querySelector("[aria-label=Informers]")`)
		}},
		{"stage-store", func() {
			b.click("[data-stage=store]")
			b.eventually("shown", `document.querySelector(".panel tbody tr")`)
		}},
		{"stage-queue", func() { b.click("[data-stage=queue]"); b.eventually("shown", `document.querySelector("table.queue")`) }},
		{"stage-outcome", func() {
			b.click("[data-stage=outcome]")
			b.eventually("shown", `document.querySelector(".panel .event")`)
		}},
		{"key", func() {
			b.click(".keys ul:not(.failing) .key")
			b.eventually("shown", `document.querySelector(".line li")`)
		}},
		{"key-paused", func() { b.click("#pause"); b.eventually("shown", `document.querySelector(".history")`) }},
		{"table", func() {
			b.click("#pause")
			b.click("#as-table")
			b.eventually("shown", `document.querySelector(".twin:not(.unseen)")`)
		}},
		{"help", func() {
			b.click("#as-table")
			b.click(".help summary")
			b.eventually("shown", `document.querySelector(".help[open]")`)
		}},
	}
	for _, view := range views {
		view.show()
		for _, look := range []struct {
			scheme        string
			width, height int64
			options       string
		}{
			{"light", 1280, 1000, `{ resultTypes: ["violations"] }`},
			{"dark", 1280, 1000, `{ runOnly: ["color-contrast"] }`}, // Nothing else differs.
			{"light", 800, 1100, ``},
			{"dark", 800, 1100, ``},
		} {
			b.width(look.width, look.height)
			b.scheme(look.scheme)
			b.eventually("the colours are "+look.scheme, fmt.Sprintf(`document.documentElement.dataset.theme === %q`, look.scheme))
			b.shoot(fmt.Sprintf("%s-%d-%s", view.name, look.width, look.scheme))
			if overflow := evaluate[int](b, `document.documentElement.scrollWidth - innerWidth`); overflow > 0 {
				t.Errorf("%s, %d wide: the page is %d pixels wider than the window", view.name, look.width, overflow)
			}
			if look.options == "" {
				continue
			}
			for _, found := range evaluate[[]violation](b, fmt.Sprintf(`axe.run(document, %s).then(({ violations }) => violations)`, look.options)) {
				if found.Impact != "serious" && found.Impact != "critical" {
					continue
				}
				for _, node := range found.Nodes {
					t.Errorf("%s, %s: %s (%s): %s\n%s\n%s", view.name, look.scheme, found.ID, found.Impact, found.Help, node.HTML, node.FailureSummary)
				}
			}
		}
	}
}

// TestKeyboard reaches everything without a mouse, and sees where it is.
func TestKeyboard(t *testing.T) {
	b := open(t, newFake(t).url())
	var reached []string
	for range 40 {
		b.run(chromedp.KeyEvent(kb.Tab))
		reached = append(reached, evaluate[string](b, `document.activeElement.id || document.activeElement.dataset.stage || document.activeElement.className`))
	}
	path := strings.Join(reached, " ")
	for _, want := range []string{"skip", "pause", "as-table", "export", "theme", "watch", "queue", "outcome", "filter-namespace", "filter-kind", "filter-text", "key bad"} {
		if !strings.Contains(path, want) {
			t.Errorf("Tab does not reach %s, but %s", want, path)
		}
	}
	b.press("[data-stage=plan]", kb.Enter)
	b.eventually("Enter opens a stage", `document.querySelector(".panel-title")?.innerText === "Plan" && document.activeElement.dataset.stage === "plan"`)
	b.run(chromedp.KeyEvent(kb.Escape))
	b.eventually("Escape leads back", `!document.querySelector(".panel-title")`)
	b.press("#pause", " ")
	b.eventually("Space on a button is that button alone", `document.querySelector("#pause[aria-pressed=true]")`)
}

// TestMotion: who does not want motion sees none, others see what flows.
func TestMotion(t *testing.T) {
	b := open(t, newFake(t).url())
	b.eventually("something flows", `document.querySelector(".flow")`)
	if running := evaluate[int](b, `document.getAnimations().length`); running > 0 {
		t.Errorf("%d animations run although nobody wants them", running)
	}
}

// TestTheme: the switch wins over the system, and is remembered.
func TestTheme(t *testing.T) {
	b := open(t, newFake(t).url())
	b.scheme("dark")
	b.eventually("the system's preference holds", `document.documentElement.dataset.theme === "dark"`)
	b.choose("#theme", "light")
	b.eventually("the choice holds", `document.documentElement.dataset.theme === "light"`)
	b.run(chromedp.Reload())
	b.eventually("the choice is remembered", `document.documentElement.dataset.theme === "light" && document.querySelector("#theme").value === "light"`)
}

// TestNarrow: where the drawing would be too small to read, its table is shown.
func TestNarrow(t *testing.T) {
	b := open(t, newFake(t).url())
	b.width(390, 800)
	b.eventually("the table is shown", `!document.querySelector(".drawing") && document.querySelector(".twin:not(.unseen) button")`)
	if overflow := evaluate[int](b, `document.documentElement.scrollWidth - innerWidth`); overflow > 0 {
		t.Errorf("the page is %d pixels wider than the window", overflow)
	}
	b.shoot("phone")
}

// TestExport saves what is shown.
func TestExport(t *testing.T) {
	f := newFake(t)
	b := open(t, f.url()+"#key=shop/web")
	b.eventually("the timeline is there", `document.querySelector(".line li")`)
	directory := t.TempDir()
	b.run(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(directory))
	b.click("#export")
	var content []byte
	until(t, "the file is there", func() bool {
		files, err := filepath.Glob(filepath.Join(directory, "fairlead-pipeline-shop-web-*.json"))
		if err != nil || len(files) != 1 {
			return false
		}
		content, err = os.ReadFile(files[0])
		return err == nil && len(content) > 0
	})
	var saved struct {
		Instance string
		Events   []json.RawMessage
		Contents struct{ Syncs []json.RawMessage }
	}
	if err := json.Unmarshal(content, &saved); err != nil {
		t.Fatal(err)
	}
	if saved.Instance != f.snapshot.Instance || len(saved.Events) != len(f.timeline.Events) || len(saved.Contents.Syncs) != 1 {
		t.Errorf("saved is\n%s", content)
	}
}
