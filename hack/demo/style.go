// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// style is what the reader's terminal can show.
type style struct {
	unicode bool
	color   bool
}

// tone is the meaning of a piece of text, from which its color follows.
type tone int

const (
	plain tone = iota
	strong
	faint
	good
	bad
	busy
)

// escape returns the SGR sequence that switches the tone on.
func (t tone) escape() string {
	switch t {
	case strong:
		return "\x1b[1m"
	case faint:
		return "\x1b[2m"
	case good:
		return "\x1b[32m"
	case bad:
		return "\x1b[31m"
	case busy:
		return "\x1b[33m"
	default:
		return ""
	}
}

// span is text of one tone; line is what is printed on one line.
type span struct {
	text string
	tone tone
}

type line []span

func text(format string, args ...any) span { return span{text: fmt.Sprintf(format, args...)} }

func toned(tone tone, format string, args ...any) span {
	return span{text: fmt.Sprintf(format, args...), tone: tone}
}

// mark tells good, bad and busy apart even without colors.
func (s style) mark(t tone) span {
	glyphs := map[tone][2]string{good: {"✔", "+"}, bad: {"✘", "x"}, busy: {"…", "."}}
	return span{text: s.choose(glyphs[t][0], glyphs[t][1]), tone: t}
}

// choose returns the first text where Unicode can be shown, else the second.
func (s style) choose(unicode, ascii string) string {
	if s.unicode {
		return unicode
	}
	return ascii
}

// render returns the line for the terminal, cut to width columns; 0 means as long as it is. Every character is taken to
// be one column wide.
func (s style) render(l line, width int) string {
	length := 0
	for _, sp := range l {
		length += utf8.RuneCountInString(s.printable(sp.text))
	}
	ellipsis := ""
	room := length
	if width > 0 && length > width {
		ellipsis = s.choose("…", "~")
		room = width - 1
	}
	var out strings.Builder
	for _, sp := range l {
		runes := []rune(s.printable(sp.text))
		runes = runes[:min(len(runes), room)]
		room -= len(runes)
		escape := ""
		if s.color && len(runes) > 0 {
			escape = sp.tone.escape()
		}
		out.WriteString(escape + string(runes))
		if escape != "" {
			out.WriteString("\x1b[0m")
		}
	}
	return strings.TrimRight(out.String(), " ") + ellipsis
}

// printable replaces what would move the cursor, or change the terminal: messages come from objects that anybody may
// have written.
func (s style) printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case !unicode.IsPrint(r), !s.unicode && r > unicode.MaxASCII:
			return '?'
		default:
			return r
		}
	}, text)
}

// pad fills text up to width columns.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}
