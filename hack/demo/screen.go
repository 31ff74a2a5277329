// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// screen writes lines that stay, and below them, on a terminal, a picture that is drawn anew again and again. Its
// methods may be called concurrently. Errors of writing are ignored: there would be nowhere to tell them.
type screen struct {
	style style
	live  bool
	out   io.Writer
	size  func() (width, height int)

	mu    sync.Mutex
	drawn string // the picture that stands on the terminal now
}

func newScreen(t terminal) *screen {
	return &screen{style: t.style, live: t.live, out: t.out, size: t.size}
}

// print writes lines that stay.
func (s *screen) print(lines ...line) {
	stay := s.renderAll(lines, 0)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(stay, s.drawn)
}

// printf writes one line that stays.
func (s *screen) printf(format string, args ...any) {
	s.print(line{text(format, args...)})
}

// tell writes a line that stays, with a mark in front.
func (s *screen) tell(mark tone, format string, args ...any) {
	s.print(line{text("  "), s.style.mark(mark), text(" "+format, args...)})
}

// tellError writes an error, which may have several lines, with a mark in front.
func (s *screen) tellError(err error) {
	var lines []line
	for i, part := range strings.Split(err.Error(), "\n") {
		front := line{text("  "), s.style.mark(bad), text(" ")}
		if i > 0 {
			front = line{text("    ")}
		}
		lines = append(lines, append(front, text("%s", part)))
	}
	s.print(lines...)
}

// room is how many lines a picture may have. A few of what was printed before stay in sight. And a picture as high as the
// window would be kept by some terminals: they take erasing everything for scrolling it away.
func (s *screen) room() int {
	const above = 4
	_, height := s.size()
	return max(1, height-above)
}

// draw replaces the picture. It does nothing where the cursor cannot be moved.
func (s *screen) draw(lines []line) {
	if !s.live {
		return
	}
	width, _ := s.size()
	// One column is left free: some terminals wrap as soon as the last one is written.
	picture := s.renderAll(lines[:min(len(lines), s.room())], max(1, width-1))
	s.mu.Lock()
	defer s.mu.Unlock()
	if picture != s.drawn {
		s.write("", picture)
	}
}

// wipe takes the picture away.
func (s *screen) wipe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write("", "")
}

// write puts lines above the picture, and a new picture in place of the old one. It is one write, so that the terminal
// never shows half of it.
func (s *screen) write(stay, picture string) {
	erase := ""
	if rows := strings.Count(s.drawn, "\n"); rows > 0 {
		erase = fmt.Sprintf("\x1b[%dA\r\x1b[J", rows) // Up to its first line, and clear from there.
	}
	s.drawn = picture
	if output := erase + stay + picture; output != "" {
		_, _ = io.WriteString(s.out, output)
	}
}

func (s *screen) renderAll(lines []line, width int) string {
	var rendered strings.Builder
	for _, l := range lines {
		rendered.WriteString(s.style.render(l, width) + "\n")
	}
	return rendered.String()
}
