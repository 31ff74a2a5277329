// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strings"
	"sync"
)

// logLines is how many lines of the controller's log a failed test prints.
const logLines = 60

// recentLog keeps the log of a controller in memory: most of it is of no interest once the
// test has passed.
type recentLog struct {
	mu    sync.Mutex
	lines []string
}

// Write takes one entry, which may have several lines.
func (l *recentLog) Write(entry []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, strings.TrimRight(string(entry), "\n"))
	return len(entry), nil
}

// last returns the last entries. If Applications are named, those about others are left out, and those of
// the informers.
func (l *recentLog) last(count int, applications ...string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var chosen []string
	for _, line := range slices.Backward(l.lines) {
		if strings.Contains(line, " reflector.go:") && len(applications) > 0 {
			continue
		}
		_, about, found := strings.Cut(line, `application="`)
		about, _, _ = strings.Cut(about, `"`)
		if _, name, _ := strings.Cut(about, "/"); found && len(applications) > 0 && !slices.Contains(applications, name) {
			continue
		}
		if chosen = append(chosen, line); len(chosen) == count {
			break
		}
	}
	slices.Reverse(chosen)
	return strings.Join(chosen, "\n")
}

// find returns the first entry that contains the text, or "".
func (l *recentLog) find(text string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}
