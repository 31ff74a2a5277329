// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// writeNotes lists the commits since the last tag by their area, and what a user types to verify and install.
func writeNotes(_ context.Context, r *release) error {
	var text strings.Builder
	fmt.Fprintf(&text, "# Fairlead %s\n\n", r.version)
	if r.commit.previous == "" {
		text.WriteString("The first release.\n")
	} else {
		fmt.Fprintf(&text, "Changes since %s.\n", r.commit.previous)
	}
	text.WriteString("CHANGELOG.md says what they mean for you, and docs/releases.md what an upgrade does.\n\n## Images\n")
	for _, i := range r.images {
		fmt.Fprintf(&text, "- `%s`\n", r.reference(i))
	}
	text.WriteString("\n## Changes\n")
	text.WriteString(changesByArea(r.commit.changes))
	return r.write("release-notes.md", []byte(text.String()))
}

// changesByArea groups subjects of the form "area: what". Generated files change with what they are made from, so their
// commits say nothing.
func changesByArea(subjects []string) string {
	const other = "other"
	areas := map[string][]string{}
	for _, subject := range subjects {
		area, change, found := strings.Cut(subject, ": ")
		if !found || strings.ContainsAny(area, " ") {
			area, change = other, subject
		}
		if change != "regenerate" {
			areas[area] = append(areas[area], change)
		}
	}
	var text strings.Builder
	for _, area := range slices.Sorted(maps.Keys(areas)) {
		fmt.Fprintf(&text, "\n### %s\n", area)
		for _, change := range areas[area] {
			fmt.Fprintf(&text, "- %s\n", change)
		}
	}
	return text.String()
}
