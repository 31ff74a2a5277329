// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

const (
	// dashboardPage is the page that draws, and dashboardBundle its code.
	dashboardPage   = root + "/hack/dashboards"
	dashboardBundle = root + "/bin/dashboards"
	pictureWidth    = 1400
	// scrapeInterval is also the interval of Grafana's data source: the queries take rates over four times as long.
	scrapeInterval = 5 * time.Second
)

// draw opens the page with a dashboard in chromium, and writes a picture of it.
func (p *prometheus) draw(dashboard string, from time.Time, file string) {
	p.Helper()
	server := p.serveDashboard(dashboard)
	program, err := exec.LookPath("chromium")
	if err != nil {
		p.Fatalf("%v: install it: apt-get install --no-install-recommends chromium", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.Flag("disable-dev-shm-usage", true))
	if os.Getuid() == 0 {
		// Chromium's sandbox refuses root. It sees nothing but our own page.
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	defer stop()
	ctx, closeTab := chromedp.NewContext(ctx)
	defer closeTab()

	address := fmt.Sprintf("%s/?from=%d&to=%d&scrape=%d&width=%d", server,
		from.Truncate(scrapeInterval).UnixMilli(), time.Now().Truncate(scrapeInterval).UnixMilli(), scrapeInterval/time.Second, pictureWidth)
	var state string
	var picture []byte
	if err := chromedp.Run(ctx,
		emulation.SetDeviceMetricsOverride(pictureWidth, 900, 1, false),
		chromedp.Navigate(address),
		chromedp.Poll(`document.body.dataset.state`, &state, chromedp.WithPollingTimeout(patience)),
		chromedp.FullScreenshot(&picture, 100),
	); err != nil {
		p.Fatalf("draw %s: %v", file, err)
	}
	if state != "drawn" {
		p.Fatalf("draw %s: %s", file, state)
	}
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		p.Fatal(err)
	}
	p.Logf("%s: %d kB", file, len(picture)/1000)
}

// serveDashboard serves the page, the dashboard, and Prometheus below /api.
func (p *prometheus) serveDashboard(dashboard string) string {
	p.Helper()
	upstream, err := url.Parse(p.url)
	if err != nil {
		p.Fatal(err)
	}
	packages := filepath.Join(dashboardPage, "node_modules")
	mux := http.NewServeMux()
	mux.Handle("/api/", httputil.NewSingleHostReverseProxy(upstream))
	mux.HandleFunc("/dashboard.json", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, dashboard) })
	// Grafana's components ask for icons and fonts where Grafana has them.
	icons := http.Dir(filepath.Join(packages, "@grafana", "ui", "dist", "public"))
	mux.Handle("/public/build/", http.StripPrefix("/public/build/", http.FileServer(icons)))
	for name, weight := range map[string]int{"Regular": 400, "Medium": 500} {
		font := filepath.Join(packages, "@fontsource", "inter", "files", fmt.Sprintf("inter-latin-%d-normal.woff2", weight))
		mux.HandleFunc("/public/fonts/inter/Inter-"+name+".woff2", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, font) })
	}
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(dashboardPage, "index.html"))
	})
	mux.Handle("/", http.FileServer(http.Dir(dashboardBundle)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &statusRecorder{ResponseWriter: w}
		mux.ServeHTTP(seen, r)
		// Prometheus' own errors reach the page, which says what was asked.
		if seen.status >= http.StatusBadRequest && !strings.HasPrefix(r.URL.Path, "/api/") {
			p.Errorf("the page asks for %s: %d", r.URL, seen.status)
		}
	}))
	p.Cleanup(server.Close)
	return server.URL
}

type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (r *statusRecorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}
