// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"fmt"
	"strings"
	"unicode"
)

// Tone is the meaning of a text; its color follows from it.
type Tone int

// The tones. Good, Bad and Busy judge what was seen.
const (
	Plain Tone = iota
	Strong
	Faint
	Good
	Bad
	Busy
)

// Text is a part of a line in one tone.
type Text struct {
	Tone Tone
	Text string
}

// Textf is a text of this tone.
func (t Tone) Textf(format string, args ...any) Text { return Text{t, fmt.Sprintf(format, args...)} }

// Line is what is printed on one line.
type Line []Text

// Mark is the sign of a tone, for the front of a line.
func Mark(tone Tone) Text {
	return Text{tone, map[Tone]string{Good: "✔", Bad: "✘", Busy: "…", Strong: "≈"}[tone]}
}

// String is the line without colors.
func (l Line) String() string { return l.render(false) }

func (l Line) render(color bool) string {
	codes := map[Tone]string{Strong: "1", Faint: "2", Good: "32", Bad: "31", Busy: "33"}
	var text strings.Builder
	for _, part := range l {
		printable := printable(part.Text)
		if code := codes[part.Tone]; color && code != "" {
			printable = "\x1b[" + code + "m" + printable + "\x1b[0m"
		}
		text.WriteString(printable)
	}
	return strings.TrimRight(text.String(), " ")
}

// printable replaces what would move the cursor or change the terminal: messages come from objects that any user may have
// written.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r != '\n' && !unicode.IsPrint(r):
			return '?'
		default:
			return r
		}
	}, text)
	return strings.ReplaceAll(text, "\n", "\n    ")
}
