// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long a page may take. It is no measure of speed.
const patience = time.Minute

// visitor opens pages in chromium, and keeps what it does not like.
type visitor struct {
	origin, screenshots string

	mu       sync.Mutex
	page     string
	requests int
	faults   []error
}

// checkInBrowser opens every document as a person does, draws its diagrams, and searches. No page may ask another server for
// anything, and none may have an error. In url is the front page.
func checkInBrowser(ctx context.Context, out io.Writer, url string, documents []string, screenshots string) error {
	program, err := exec.LookPath("chromium")
	if err != nil {
		return errors.New("chromium is missing; install it: apt-get install --no-install-recommends chromium. Without the check: ARGS=-browser=false")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.WindowSize(1440, 900), chromedp.Flag("disable-dev-shm-usage", true))
	if os.Getuid() == 0 {
		// Chromium's sandbox refuses root. It sees nothing but our own pages.
		options = append(options, chromedp.NoSandbox)
	}
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	defer stop()
	ctx, cancel := chromedp.NewContext(ctx)
	defer cancel()
	v := &visitor{origin: url, screenshots: screenshots}
	// The first call makes the tab, which lives as long as the context of that call.
	if err := chromedp.Run(ctx); err != nil {
		return err
	}
	chromedp.ListenTarget(ctx, v.listen)
	if err := v.do(ctx, network.Enable(), log.Enable(), runtime.Enable()); err != nil {
		return err
	}
	for _, document := range documents {
		if err := v.visit(ctx, document); err != nil {
			return errors.Join(v.found(), fmt.Errorf("%s: %w", document, err))
		}
	}
	if err := v.found(); err != nil {
		return err
	}
	if err := v.search(ctx); err != nil {
		return errors.Join(v.found(), fmt.Errorf("search: %w", err))
	}
	v.mu.Lock()
	requests := v.requests
	v.mu.Unlock()
	if requests < len(documents) {
		return fmt.Errorf("the browser made %d requests for %d documents; are they seen?", requests, len(documents))
	}
	fmt.Fprintf(out, "%d documents in a browser: %d requests, none to another server\n", len(documents), requests)
	return v.found()
}

// found returns what the visitor did not like so far.
func (v *visitor) found() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return errors.Join(v.faults...)
}

func (v *visitor) do(ctx context.Context, actions ...chromedp.Action) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it took longer than %s", patience))
	defer cancel()
	return errors.Join(chromedp.Run(ctx, actions...), context.Cause(ctx))
}

// visit opens a document. VitePress has taken the page over when the class is there.
func (v *visitor) visit(ctx context.Context, document string) error {
	v.mu.Lock()
	v.page = document
	v.mu.Unlock()
	address := v.origin + strings.TrimSuffix(strings.TrimSuffix(pageOf(document), ".md"), "index")
	if !strings.HasSuffix(address, "/") {
		address += ".html"
	}
	var diagrams int
	if err := v.do(ctx,
		chromedp.Navigate(address),
		v.until(`document.querySelector("#app")?.__vue_app__ && document.querySelector(".vp-doc h1")`),
		v.until(`[...document.querySelectorAll(".diagram")].every(d => d.querySelector("svg"))`),
		chromedp.Evaluate(`document.querySelectorAll(".diagram").length`, &diagrams),
	); err != nil {
		return err
	}
	switch document {
	case "README.md", "docs/tutorial.md", "docs/troubleshooting.md", "docs/fields.md", "docs/informers/03-reflector/README.md":
		return v.shoot(ctx, strings.ReplaceAll(strings.TrimSuffix(strings.ToLower(document), ".md"), "/", "-"))
	default:
		return nil
	}
}

// search types a word, as a person does, and follows the first answer.
func (v *visitor) search(ctx context.Context) error {
	if err := v.do(ctx,
		chromedp.Navigate(v.origin),
		v.until(`document.querySelector("#app")?.__vue_app__`),
		chromedp.Click(".VPNavBarSearch button", chromedp.ByQuery),
		chromedp.SendKeys("#localsearch-input", "workqueue", chromedp.ByQuery),
		v.until(`document.querySelectorAll("#localsearch-list .result").length > 3`),
	); err != nil {
		return err
	}
	if err := v.shoot(ctx, "search"); err != nil {
		return err
	}
	return v.do(ctx, chromedp.KeyEvent(kb.Enter), v.until(`!document.querySelector("#localsearch-input") && document.querySelector(".vp-doc h1")?.innerText.includes("Workqueue")`))
}

func (v *visitor) until(expression string) chromedp.Action {
	var is bool
	return chromedp.Poll("!!("+expression+")", &is, chromedp.WithPollingTimeout(patience), chromedp.WithPollingInterval(50*time.Millisecond))
}

// listen hears every request, and every complaint.
func (v *visitor) listen(event any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		v.requests++
		url := event.Request.URL
		if !strings.HasPrefix(url, v.origin) && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") {
			v.faults = append(v.faults, fmt.Errorf("%s asks for %s", v.page, url))
		}
	case *log.EventEntryAdded:
		if event.Entry.Level == log.LevelError || event.Entry.Source == log.SourceSecurity {
			v.faults = append(v.faults, fmt.Errorf("%s: %s: %s %s", v.page, event.Entry.Source, event.Entry.Text, event.Entry.URL))
		}
	case *runtime.EventExceptionThrown:
		v.faults = append(v.faults, fmt.Errorf("%s: %s", v.page, event.ExceptionDetails.Error()))
	}
}

// shoot writes a picture, and one as on a phone, if anyone wants to see them.
func (v *visitor) shoot(ctx context.Context, name string) error {
	if v.screenshots == "" {
		return nil
	}
	for variant, width := range map[string]int64{"": 1440, "-phone": 390} {
		var picture []byte
		if err := v.do(ctx,
			emulation.SetDeviceMetricsOverride(width, 1600, 1, false),
			chromedp.Sleep(time.Second), // The menu glides away.
			chromedp.CaptureScreenshot(&picture),
			emulation.ClearDeviceMetricsOverride(),
		); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(v.screenshots, name+variant+".png"), picture, 0o644); err != nil {
			return err
		}
	}
	return nil
}
