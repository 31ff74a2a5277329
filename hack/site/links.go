// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// htmlPage is what the links of and to a page need.
type htmlPage struct {
	ids map[string]bool
	// links are for people to follow, resources are what a browser loads on its own.
	links, resources []string
}

var foreignCSS = regexp.MustCompile(`(?:url\(|@import)\s*["']?(?:https?:)?//[^)"']*`)

// checkLinks reads every file of a version's site. Each link to the site must lead to a page, and to an anchor of it; what a
// browser loads must be part of the site.
func checkLinks(directory, base string) error {
	pages, files := map[string]htmlPage{}, map[string]bool{}
	var faults []error
	err := filepath.WalkDir(directory, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(directory, file)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(relative)
		files[name] = true
		if ext := path.Ext(name); ext != ".html" && ext != ".css" {
			return nil
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".css" {
			for _, address := range foreignCSS.FindAllString(string(content), -1) {
				faults = append(faults, fmt.Errorf("%s loads %s", name, address))
			}
			return nil
		}
		pages[name], err = parsePage(content)
		return err
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		for _, resource := range pages[name].resources {
			if file, _, ours := resolve(base, name, resource); !ours || !files[file] {
				faults = append(faults, fmt.Errorf("%s loads %s, which is not part of the site", name, resource))
			}
		}
		for _, link := range pages[name].links {
			file, fragment, ours := resolve(base, name, link)
			if !ours {
				continue
			}
			linked, found := pages[file]
			switch {
			case !found && !files[file]:
				faults = append(faults, fmt.Errorf("%s: the link to %s leads to nothing", name, link))
			case found && fragment != "" && !linked.ids[fragment]:
				faults = append(faults, fmt.Errorf("%s: the link to %s leads to no anchor", name, link))
			}
		}
	}
	return errors.Join(faults...)
}

// resolve returns the file and the anchor that an address means, unless it is another server's, or beside this version.
func resolve(base, page, address string) (file, fragment string, ours bool) {
	if strings.HasPrefix(address, "data:") {
		return page, "", true
	}
	parsed, err := url.Parse(address)
	if err != nil {
		return address, "", true // It leads to nothing then.
	}
	at := (&url.URL{Path: base + page}).ResolveReference(parsed)
	file, below := strings.CutPrefix(at.Path, base)
	if at.Scheme != "" || at.Host != "" || !below {
		return "", "", false
	}
	if file == "" || strings.HasSuffix(file, "/") {
		file += "index.html"
	}
	return file, at.Fragment, true
}

func parsePage(content []byte) (htmlPage, error) {
	page := htmlPage{ids: map[string]bool{}}
	root, err := html.Parse(bytes.NewReader(content))
	if err != nil {
		return page, err
	}
	for node := range root.Descendants() {
		for _, attribute := range node.Attr {
			switch {
			case attribute.Key == "id":
				page.ids[attribute.Val] = true
			case attribute.Key == "href" && node.Data == "a":
				page.links = append(page.links, attribute.Val)
			case attribute.Key == "src", attribute.Key == "href" && node.Data == "link":
				page.resources = append(page.resources, attribute.Val)
			}
		}
	}
	return page, nil
}
