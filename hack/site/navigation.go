// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// chapter is a group of pages in the navigation. A page that ends in /* stands for every document below.
type chapter struct {
	title string
	pages []string
}

// chapters are for those who decide, start, operate and study, in this order.
var chapters = []chapter{
	{"Decide", []string{"README.md", "docs/comparison.md", "docs/reliability.md", "docs/performance.md", "SECURITY.md", "CHANGELOG.md"}},
	{"Start", []string{"docs/tutorial.md", "docs/applications.md", "docs/troubleshooting.md", "docs/cli.md", "docs/guides/*", "docs/adoptable.md", "artifacts/examples/README.md", "docs/api.md", "docs/fields.md"}},
	{"Operate", []string{"docs/operations.md", "artifacts/chart/fairlead/README.md", "docs/neighbours.md", "docs/subresources.md", "docs/releases.md"}},
	{"Study", []string{
		"docs/README.md", "docs/pipeline.md", "docs/reading-order.md", "docs/informers/*", "docs/decisions.md", "docs/glossary.md",
		"docs/develop.md", "hack/cluster/README.md", "hack/e2e/README.md", "hack/dashboards/README.md", "hack/site/README.md", "CONTRIBUTING.md", "MAINTAINERS.md", "CODE_OF_CONDUCT.md",
	}},
}

// item is a line of the navigation, as VitePress wants it.
type item struct {
	Text      string `json:"text"`
	Link      string `json:"link,omitempty"`
	Collapsed *bool  `json:"collapsed,omitempty"`
	Items     []item `json:"items,omitempty"`
}

// navigation lists every document once, by its heading. A document that is in no chapter is an error, and so is the opposite.
func navigation(documents map[string]string) ([]item, error) {
	missing := map[string]bool{}
	for document := range documents {
		missing[document] = true
	}
	var all []item
	for _, c := range chapters {
		group := item{Text: c.title}
		for _, page := range c.pages {
			names := []string{page}
			folder, below := strings.CutSuffix(page, "/*")
			if below {
				names = documentsBelow(documents, folder)
			}
			var items []item
			for _, name := range names {
				text, found := documents[name]
				if !found {
					return nil, fmt.Errorf("the navigation has %s, which does not exist", name)
				}
				delete(missing, name)
				items = append(items, item{Text: heading(text), Link: "/" + strings.TrimSuffix(pageOf(name), "index.md")})
			}
			if below && len(items) > 0 {
				items[0].Collapsed, items[0].Items = new(true), items[1:]
				items = items[:1]
			}
			group.Items = append(group.Items, items...)
		}
		all = append(all, group)
	}
	for name := range missing {
		return nil, fmt.Errorf("%s is in no chapter of the navigation (hack/site/navigation.go)", name)
	}
	return all, nil
}

// documentsBelow are those in a folder and its folders, its README first.
func documentsBelow(documents map[string]string, folder string) []string {
	var names []string
	for name := range documents {
		if strings.HasPrefix(name, folder+"/") {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(readmeFirst(a), readmeFirst(b)) })
	return names
}

func readmeFirst(name string) string { return strings.TrimSuffix(name, "README.md") }

var title = regexp.MustCompile(`(?m)^# (.+)$`)

// heading is the title of a document.
func heading(text string) string {
	found := title.FindStringSubmatch(text)
	if found == nil {
		return "?"
	}
	return strings.ReplaceAll(found[1], "`", "")
}

// pageOf is where a document is among the pages: a README is the index of its directory.
func pageOf(document string) string {
	if path.Base(document) == "README.md" {
		return path.Join(path.Dir(document), "index.md")
	}
	return document
}
