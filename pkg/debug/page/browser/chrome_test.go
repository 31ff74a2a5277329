// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a test waits for what must come. It is no measure of speed.
const patience = time.Minute

// chromium is the browser of all tests. It starts when the first test asks for it.
type chromium struct {
	once sync.Once
	ctx  context.Context //nolint:containedctx // chromedp keeps the browser in it.
	end  func() error
	err  error
}

var shared chromium

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.end != nil {
		if err := shared.end(); err != nil {
			fmt.Fprintf(os.Stderr, "end the browser: %v\n", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// start is given a context that does not end with the first test.
func (s *chromium) start(ctx context.Context) {
	program, err := exec.LookPath("chromium")
	if err != nil {
		s.err = errors.New("chromium is missing; install it: apt-get install --no-install-recommends chromium")
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		chromedp.WindowSize(1280, 1000),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("force-color-profile", "srgb"),
		chromedp.Flag("font-render-hinting", "none"),
	)
	if os.Getuid() == 0 {
		// Chromium's sandbox refuses root. It sees nothing but our own page.
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(ctx, options...)
	var cancel context.CancelFunc
	s.ctx, cancel = chromedp.NewContext(allocator)
	s.end = func() error {
		defer stop()
		defer cancel()
		return chromedp.Cancel(s.ctx)
	}
	s.err = chromedp.Run(s.ctx)
}

// tab is the page, in a tab of its own, and what the browser complained about.
type tab struct {
	*testing.T
	ctx context.Context //nolint:containedctx // chromedp keeps the tab in it.

	mu         sync.Mutex
	complaints []string
}

// open opens the address and waits until the page is live. The test fails if the browser complains about the page: an
// error on the console, an exception, something that the content security policy forbids.
func open(t *testing.T, url string) *tab {
	t.Helper()
	shared.once.Do(func() { shared.start(context.WithoutCancel(t.Context())) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	ctx, cancel := chromedp.NewContext(shared.ctx)
	b := &tab{T: t, ctx: ctx}
	t.Cleanup(func() {
		for _, complaint := range b.heard() {
			t.Errorf("the browser complains: %s", complaint)
		}
		cancel()
	})
	// The first call makes the tab, which lives as long as the context of that call.
	if err := chromedp.Run(ctx); err != nil {
		t.Fatal(err)
	}
	chromedp.ListenTarget(ctx, b.listen)
	b.run(log.Enable(), emulation.SetTimezoneOverride("UTC"))
	b.scheme("light")
	b.run(chromedp.Navigate(url))
	b.eventually("the page is live", `document.querySelector(".connection.live") && document.querySelectorAll("[data-stage]").length === 13`)
	return b
}

func (b *tab) listen(event any) {
	var complaint string
	switch event := event.(type) {
	case *log.EventEntryAdded:
		if event.Entry.Level == log.LevelError || event.Entry.Source == log.SourceSecurity {
			complaint = fmt.Sprintf("%s: %s %s", event.Entry.Source, event.Entry.Text, event.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if event.Type == runtime.APITypeError || event.Type == runtime.APITypeWarning {
			complaint = fmt.Sprintf("console: %s", event.Args[0].Value)
		}
	case *runtime.EventExceptionThrown:
		complaint = event.ExceptionDetails.Error()
	}
	if complaint == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, complaint)
}

// heard returns the complaints since the last call.
func (b *tab) heard() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	complaints := b.complaints
	b.complaints = nil
	return complaints
}

func (b *tab) run(actions ...chromedp.Action) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// eventually waits until an expression is true.
func (b *tab) eventually(what, expression string) {
	b.Helper()
	var is bool
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	err := chromedp.Run(ctx, chromedp.Poll("!!("+expression+")", &is, chromedp.WithPollingTimeout(patience), chromedp.WithPollingInterval(50*time.Millisecond)))
	if err != nil {
		b.shoot("failed-" + strings.ReplaceAll(b.Name(), "/", "-"))
		b.Fatalf("waited until %s: %v; the page says\n%s", what, err, b.text("body"))
	}
}

// text returns what a person reads in an element.
func (b *tab) text(selector string) string {
	b.Helper()
	return evaluate[string](b, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, selector))
}

func evaluate[T any](b *tab, expression string) T {
	b.Helper()
	var result T
	b.run(chromedp.Evaluate(expression, &result, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return result
}

func (b *tab) click(selector string) {
	b.Helper()
	b.run(chromedp.Click(selector, chromedp.ByQuery, chromedp.NodeVisible))
}

// scheme is what the system prefers, light or dark; nothing moves, so that images are always the same.
func (b *tab) scheme(scheme string) {
	b.Helper()
	b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}))
}

func (b *tab) width(width, height int64) {
	b.Helper()
	b.run(emulation.SetDeviceMetricsOverride(width, height, 1, false))
}

// shoot writes an image of the whole page, if somebody wants to see it.
func (b *tab) shoot(name string) {
	b.Helper()
	directory := os.Getenv("PAGE_SCREENSHOTS")
	if directory == "" {
		return
	}
	var image []byte
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	err := chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		image, err = page.CaptureScreenshot().WithCaptureBeyondViewport(false).Do(ctx)
		return err
	}))
	if err == nil {
		err = os.WriteFile(filepath.Join(directory, name+".png"), image, 0o644)
	}
	if err != nil {
		b.Errorf("write the image %s: %v", name, err)
	}
}
