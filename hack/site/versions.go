// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/semver"
)

// index leads to the newest version, and lists all. It has no script, and no address but its own.
var index = template.Must(template.New("index").Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{{- if .Redirect}}
<meta http-equiv="refresh" content="0; url=./{{.Newest}}/">
{{- end}}
<title>Fairlead</title>
<style>body { font: 16px/1.6 system-ui, sans-serif; margin: 4rem auto; max-width: 40rem; padding: 0 1rem; color-scheme: light dark }</style>
<h1>Fairlead</h1>
<p>The documents of <a href="./{{.Newest}}/">{{.Newest}}</a>, the newest version, or of another one:</p>
<ul>
{{- range .All}}
<li><a href="./{{.}}/">{{.}}</a></li>
{{- end}}
</ul>
</html>
`))

// writeIndex writes index.html, which leads on to the newest version, and versions.html, which does not.
func writeIndex(out string) error {
	versions, err := versionsIn(out)
	if err != nil {
		return err
	}
	for file, redirect := range map[string]bool{"index.html": true, "versions.html": false} {
		var page bytes.Buffer
		if err := index.Execute(&page, map[string]any{"Redirect": redirect, "Newest": versions[0], "All": versions}); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, file), page.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// versionsIn lists the versions of which there is a site, the newest first. A release is newer than what was built before it.
func versionsIn(out string) ([]string, error) {
	entries, err := os.ReadDir(out)
	if err != nil {
		return nil, err
	}
	var versions []string
	for _, entry := range entries {
		if entry.IsDir() && semver.IsValid(entry.Name()) {
			versions = append(versions, entry.Name())
		}
	}
	if len(versions) == 0 {
		return nil, fmt.Errorf("%s has no version", out)
	}
	slices.SortFunc(versions, func(a, b string) int { return semver.Compare(b, a) })
	return versions, nil
}
