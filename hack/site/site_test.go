// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write makes a tree of files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// wantError wants each part in the error, and none if there is no part.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if len(parts) == 0 && err != nil {
		t.Error(err)
	}
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %v, want %q in it", err, part)
		}
	}
}

// TestStage stages the documents of this repository: every link leads somewhere, and the navigation is complete.
func TestStage(t *testing.T) {
	pages := filepath.Join(t.TempDir(), "pages")
	staged, err := stage("../..", pages)
	if err != nil {
		t.Fatal(err)
	}
	if len(staged.documents) < 40 || len(staged.sources) < 100 {
		t.Errorf("%d documents and %d files", len(staged.documents), len(staged.sources))
	}
	for _, page := range []string{"index.md", "docs/index.md", "docs/informers/03-reflector/index.md", "docs/images/pipeline.png", "source/pkg/controller/sync.go.md", "navigation.json"} {
		if _, err := os.Stat(filepath.Join(pages, page)); err != nil {
			t.Error(err)
		}
	}
}

func TestStageFindsDeadLinks(t *testing.T) {
	root := write(t, map[string]string{"README.md": "# A\n[b](docs/b.md)\n[c](docs/c.go#L3)\n[out](../x.md)\n", "docs/a.md": "# A\n`[no](link.md)`\n```text\n[no](link.md)\n```\n"})
	_, err := stage(root, filepath.Join(root, "pages"))
	wantError(t, err, "README.md: the link to docs/b.md", "README.md: the link to docs/c.go#L3", "README.md: the link to ../x.md")
	if strings.Contains(err.Error(), "link.md") {
		t.Errorf("code has no links: %v", err)
	}
}

func TestRewrite(t *testing.T) {
	root := write(t, map[string]string{"README.md": "", "docs/README.md": "", "docs/a/README.md": "", "docs/a/b.md": "", "pkg/x.go": "", ".hidden/run.yaml": "", "pkg/y/y.go": ""})
	for line, want := range map[string]string{
		"[up](../../README.md)":                  "[up](../../index.md)",
		"[b](b.md#part), [c](../README.md#part)": "[b](./b.md#part), [c](../index.md#part)",
		"`f`, [x.go:3](../../pkg/x.go#L3)":       "`f`, [x.go:3](../../source/pkg/x.go.md#L3)",
		"[dir](../../pkg/y)":                     "[dir](../../source/pkg/y/index.md)",
		"[h](../../.hidden/run.yaml)":            "[h](../../source/hidden/run.yaml.md)",
		"[here](#part) [web](https://a.example)": "[here](#part) [web](https://a.example)",
		"`[b](b.md)` and [`b`](b.md)":            "`[b](b.md)` and [`b`](./b.md)",
		"NAME is <name>, `<name>`, <details>":    "NAME is &lt;name&gt;, `<name>`, <details>",
	} {
		s := &staging{root: root, texts: map[string]string{}, sources: map[string]bool{}}
		if got := s.rewrite("docs/a/README.md", line); got != want || len(s.faults) > 0 {
			t.Errorf("%s\nbecame %s\nwant   %s\n%v", line, got, want, s.faults)
		}
	}
}

func TestNavigation(t *testing.T) {
	documents := map[string]string{}
	for _, c := range chapters {
		for _, page := range c.pages {
			documents[strings.ReplaceAll(page, "/*", "/README.md")] = "# Title\n"
		}
	}
	documents["docs/guides/b.md"] = "# `b`\n"
	menu, err := navigation(documents)
	if err != nil {
		t.Fatal(err)
	}
	if titles := []string{menu[0].Text, menu[1].Text, menu[2].Text, menu[3].Text}; !slices.Equal(titles, []string{"Decide", "Start", "Operate", "Study"}) {
		t.Errorf("the chapters are %q", titles)
	}
	guides := menu[1].Items[slices.IndexFunc(menu[1].Items, func(i item) bool { return i.Link == "/docs/guides/" })]
	if len(guides.Items) != 1 || guides.Items[0].Text != "b" || guides.Items[0].Link != "/docs/guides/b.md" {
		t.Errorf("the guides are %+v", guides)
	}
	documents["docs/new.md"] = "# New\n"
	_, err = navigation(documents)
	wantError(t, err, "docs/new.md is in no chapter")
	delete(documents, "docs/new.md")
	delete(documents, "docs/operations.md")
	_, err = navigation(documents)
	wantError(t, err, "docs/operations.md, which does not exist")
}

func TestIndexLeadsToTheNewest(t *testing.T) {
	out := write(t, map[string]string{"v0.9.0/index.html": "", "v0.10.0/index.html": "", "v0.10.0-rc.1/index.html": "", "assets/x": ""})
	if err := writeIndex(out); err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(index), `url=./v0.10.0/"`) || strings.Contains(string(index), "assets") {
		t.Errorf("the index is\n%s", index)
	}
	if all, err := versionsIn(out); err != nil || !slices.Equal(all, []string{"v0.10.0", "v0.10.0-rc.1", "v0.9.0"}) {
		t.Errorf("the versions are %q: %v", all, err)
	}
}

// TestBrowserSeesRequestsToOthers opens a page that asks another server for a picture, as a browser may and the files do not show.
func TestBrowserSeesRequestsToOthers(t *testing.T) {
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is missing; make site needs it too")
	}
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	page := `<!DOCTYPE html><link rel="icon" href="data:,"><div id="app"></div><div class="vp-doc"><h1>A</h1></div><script>
document.querySelector("#app").__vue_app__ = {}
new Image().src = "` + other.URL + `/tracker.png"
</script>`
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page) }))
	defer site.Close()
	wantError(t, checkInBrowser(t.Context(), t.Output(), site.URL+"/", []string{"README.md"}, ""), "README.md asks for "+other.URL+"/tracker.png")
}

func TestCheckLinks(t *testing.T) {
	const good = `<h1 id="a"></h1><a href="/v1/b.html#b">b</a><a href="#a">a</a><a href="https://example.com">out</a><img src="data:,"><script src="/v1/a.js"></script><a href="/versions.html">beside</a>`
	for name, test := range map[string]struct {
		page, css string
		want      []string
	}{
		"good":        {good, "a { background: url(x.png) }", nil},
		"dead link":   {good + `<a href="/v1/c.html">c</a>`, "", []string{"index.html: the link to /v1/c.html leads to nothing"}},
		"dead anchor": {good + `<a href="b.html#c">c</a>`, "", []string{"index.html: the link to b.html#c leads to no anchor"}},
		"foreign":     {good + `<img src="https://example.com/x.png"><link href="//example.com/x.css">`, "", []string{"loads https://example.com/x.png", "loads //example.com/x.css"}},
		"foreign css": {good, "@import 'https://example.com/x.css'; a { background: url(//example.com/x.png) }", []string{"example.com/x.css", "example.com/x.png"}},
	} {
		t.Run(name, func(t *testing.T) {
			site := write(t, map[string]string{"index.html": test.page, "b.html": `<h2 id="b"></h2>`, "a.js": "", "a.css": test.css})
			wantError(t, checkLinks(site, "/v1/"), test.want...)
		})
	}
}
