// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"

	"golang.org/x/term"
)

// terminal is where the output goes, which need not be a terminal.
type terminal struct {
	out *os.File
	// live is true if the cursor can be moved, so that a picture can be drawn over the last one.
	live  bool
	style style
}

// newTerminal finds out what the output can show, from the file and from the environment.
func newTerminal(out *os.File, getenv func(string) string) terminal {
	live := term.IsTerminal(int(out.Fd())) && getenv("TERM") != "dumb" && getenv("TERM") != ""
	return terminal{
		out:  out,
		live: live,
		style: style{
			unicode: speaksUTF8(getenv),
			color:   live && getenv("NO_COLOR") == "", // https://no-color.org
		},
	}
}

// speaksUTF8 reads the locale as setlocale(3) does: the first of these that is set decides.
func speaksUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := getenv(name); locale != "" {
			locale = strings.ToLower(locale)
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return false
}

// size is asked for each picture, because a window may change. What is no terminal has no limits.
func (t terminal) size() (width, height int) {
	if !t.live {
		return 0, 0
	}
	width, height, err := term.GetSize(int(t.out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}
