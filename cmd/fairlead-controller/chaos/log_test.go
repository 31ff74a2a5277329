// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"strings"
	"sync"
)

// logLines is how much of a controller's log is kept for the report of a failure.
const logLines = 400

// recentLog keeps the end of a log.
type recentLog struct {
	mu    sync.Mutex
	lines []string
	panic string
}

// Write takes one entry, which may have several lines.
func (l *recentLog) Write(entry []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.TrimRight(string(entry), "\n")
	if l.panic == "" && strings.Contains(text, "panic:") {
		l.panic = text
	}
	if l.lines = append(l.lines, text); len(l.lines) > 2*logLines {
		l.lines = append([]string(nil), l.lines[logLines:]...)
	}
	return len(entry), nil
}

// panicked returns the first entry about a panic, or "".
func (l *recentLog) panicked() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.panic
}

// tail returns the last entries.
func (l *recentLog) tail(count int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines[max(0, len(l.lines)-count):], "\n")
}
