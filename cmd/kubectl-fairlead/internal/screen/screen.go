// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package screen writes text for users: wrapped to the width of the terminal, with colours and icons only there.
package screen

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"fairlead.dev/fairlead/pkg/tree"
)

// Screen is where a command writes to.
type Screen struct {
	out io.Writer
	// width is that of the terminal; 0 wraps nothing, as programs that read a pipe expect.
	width int
	// terminal allows icons and redrawing; color allows colours too.
	terminal, color bool
}

// New returns the Screen of a standard stream. NO_COLOR (see no-color.org) and TERM=dumb switch colours off.
func New(out io.Writer, getenv func(string) string) *Screen {
	s := &Screen{out: out}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return s
	}
	s.terminal = true
	s.color = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(int(file.Fd())); err == nil {
		s.width = width
	}
	return s
}

// Fixed returns a Screen of a given width, for tests and pictures.
func Fixed(out io.Writer, width int, color bool) *Screen {
	return &Screen{out: out, width: width, terminal: color, color: color}
}

// Writer is for output that programs read: nothing is wrapped or coloured.
func (s *Screen) Writer() io.Writer { return s.out }

// Terminal reports whether the output is a terminal.
func (s *Screen) Terminal() bool { return s.terminal }

// Clear empties a terminal before it is drawn again.
func (s *Screen) Clear() {
	if s.terminal {
		fmt.Fprint(s.out, "\x1b[H\x1b[2J\x1b[3J")
	}
}

// Line writes one line, which wraps under itself.
func (s *Screen) Line(text string) { s.Hanging("", text) }

// Printf writes one line.
func (s *Screen) Printf(format string, args ...any) { s.Line(fmt.Sprintf(format, args...)) }

// Blank writes an empty line.
func (s *Screen) Blank() { fmt.Fprintln(s.out) }

// Hanging writes the text after the lead; further lines are indented as far as the lead is wide.
func (s *Screen) Hanging(lead, text string) {
	s.hanging(lead, strings.Repeat(" ", Width(lead)), text)
}

// hanging writes the text after the lead, and further lines after another one of the same width.
func (s *Screen) hanging(lead, further, text string) {
	for i, line := range wrap(clean(text), s.width-Width(lead)) {
		if i > 0 {
			lead = further
		}
		fmt.Fprintln(s.out, strings.TrimRight(lead+line, " "))
	}
}

// Row writes a label and its value.
func (s *Screen) Row(label, value string) {
	const labels = 13
	s.Hanging(fmt.Sprintf("%-*s", labels, label), value)
}

// clean removes escape sequences except our own colours, because messages of other components may contain anything.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == escape:
			return r
		case r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		default:
			return r
		}
	}, guard(text))
}

// guard removes escape sequences that are not one of our colours.
func guard(text string) string {
	var b strings.Builder
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, string(escape))
		b.WriteString(before)
		if !found {
			break
		}
		for _, color := range colors {
			if tail := strings.TrimPrefix(string(color), string(escape)); strings.HasPrefix(after, tail) {
				b.WriteString(string(color))
				after = after[len(tail):]
				break
			}
		}
		rest = after
	}
	return b.String()
}

// wrap splits a text at spaces into lines of at most the width; a longer word gets a line of its own, and so does a command
// that does not fit. A width of 0 or less splits only at newlines.
func wrap(text string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if width <= 0 || Width(paragraph) <= width {
			lines = append(lines, paragraph)
			continue
		}
		line := ""
		for _, word := range unbreakable(paragraph) {
			if line != "" && Width(line)+1+Width(word) > width {
				lines = append(lines, line)
				line = ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		lines = append(lines, line)
	}
	return lines
}

// unbreakable splits a text into words, and keeps a command in one: of a command in two lines, a user who copies them runs the
// first line alone. A command begins with kubectl and ends with the sentence, at a punctuation mark or a quote.
func unbreakable(text string) []string {
	var words []string
	command, ends := false, ""
	for word := range strings.SplitSeq(text, " ") {
		bare := strings.TrimLeft(word, "('")
		if command {
			words[len(words)-1] += " " + word
		} else {
			words = append(words, word)
			if command = bare == "kubectl"; command {
				ends = ".,;:" + strings.NewReplacer("(", ")").Replace(strings.TrimSuffix(word, bare))
			}
		}
		if command && strings.ContainsAny(word[max(len(word)-1, 0):], ends) {
			command = false
		}
	}
	return words
}

// Width is how many columns the text takes, colours aside.
func Width(text string) int {
	for _, color := range colors {
		text = strings.ReplaceAll(text, string(color), "")
	}
	return utf8.RuneCountInString(text)
}

// Color is one of the colours, as a terminal takes it.
type Color string

const escape = '\x1b'

// The colours.
const (
	Red    Color = "\x1b[31m"
	Green  Color = "\x1b[32m"
	Yellow Color = "\x1b[33m"
	Blue   Color = "\x1b[34m"
	Bold   Color = "\x1b[1m"
	Dim    Color = "\x1b[2m"
	reset  Color = "\x1b[0m"
)

var colors = []Color{Red, Green, Yellow, Blue, Bold, Dim, reset}

// Paint colours the text, where the screen has colours.
func (s *Screen) Paint(color Color, text string) string {
	if !s.color || text == "" {
		return text
	}
	return string(color) + text + string(reset)
}

// Health writes a health as a coloured icon and its word; without a terminal, as the word alone.
func (s *Screen) Health(health tree.Health, word string) string {
	icon, color := "?", Dim
	switch health {
	case tree.Healthy:
		icon, color = "✔", Green
	case tree.Progressing:
		icon, color = "◷", Blue
	case tree.Degraded, tree.Missing:
		icon, color = "✖", Red
	case tree.Suspended:
		icon, color = "‖", Yellow
	case tree.Unknown:
	}
	if !s.terminal {
		return word
	}
	if word != "" {
		icon += " " + word
	}
	return s.Paint(color, icon)
}

// Into returns a Screen like this one that writes elsewhere.
func (s *Screen) Into(out io.Writer) *Screen {
	into := *s
	into.out = out
	return &into
}
