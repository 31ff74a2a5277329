// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// screen writes lines that stay, and on a terminal one line below them that tells what is being waited for. Its methods
// may be called concurrently.
type screen struct {
	out   *os.File
	live  bool
	color bool

	mu    sync.Mutex
	drawn bool // a line of waiting stands on the terminal
}

func newScreen(out *os.File, getenv func(string) string) *screen {
	live := term.IsTerminal(int(out.Fd())) && getenv("TERM") != "dumb" && getenv("TERM") != ""
	return &screen{out: out, live: live, color: live && getenv("NO_COLOR") == ""} // https://no-color.org
}

const (
	bold  = "1"
	faint = "2"
	red   = "31"
	green = "32"
)

func (s *screen) toned(sgr, text string) string {
	if !s.color {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// title begins a step.
func (s *screen) title(number, total int, title string) {
	s.print("\n" + s.toned(faint, fmt.Sprintf("[%d/%d]", number, total)) + " " + s.toned(bold, title))
}

// good tells something that was seen.
func (s *screen) good(format string, args ...any) {
	s.print("  " + s.toned(green, "✔") + " " + fmt.Sprintf(format, args...))
}

// measured tells a figure that is not judged.
func (s *screen) measured(format string, args ...any) {
	s.print("  " + s.toned(bold, "≈") + " " + fmt.Sprintf(format, args...))
}

// fail tells what went wrong.
func (s *screen) fail(format string, args ...any) {
	s.print("  " + s.toned(red, "✘") + " " + strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n    "))
}

// note tells something aside.
func (s *screen) note(format string, args ...any) {
	s.print("  " + s.toned(faint, fmt.Sprintf(format, args...)))
}

func (s *screen) print(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	fmt.Fprintln(s.out, line)
}

// waiting tells what is being waited for, for how long, and what was seen last. Without a terminal it tells nothing: the
// end of the wait will be told.
func (s *screen) waiting(what, seen string, since time.Time) {
	if !s.live {
		return
	}
	width, _, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width < 20 {
		width = 80
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	line := fmt.Sprintf("  … %s (%d s)", what, int(time.Since(since).Seconds()))
	if seen != "" {
		line += ": " + seen
	}
	fmt.Fprint(s.out, s.toned(faint, cut(strings.ReplaceAll(line, "\n", " "), width-1)))
	s.drawn = true
}

func (s *screen) erase() {
	if s.drawn {
		fmt.Fprint(s.out, "\r\x1b[K")
		s.drawn = false
	}
}

// cut shortens text to width columns. Every character is taken to be one column wide.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(0, width-1)]) + "…"
}

// duration is for people.
func duration(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
}
