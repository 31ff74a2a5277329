// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// progress prints what the cluster does. Several goroutines may use it.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	begin time.Time
}

func newProgress(out io.Writer) *progress {
	return &progress{out: out, begin: time.Now()}
}

func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintf(p.out, format+"\n", args...) // The reader may be gone.
}

// step reports that something is done, and how long it took since began.
func (p *progress) step(began time.Time, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.say("  %-72s %6s", text, "("+seconds(time.Since(began))+")")
}

func (p *progress) elapsed() string { return seconds(time.Since(p.begin)) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }

// componentError is a component that did not become ready, or ended, with what a person needs to find out why.
type componentError struct {
	component string
	cause     error
	logFile   string
	logLines  []string
}

func (e *componentError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s failed: %v\n", e.component, e.cause)
	if len(e.logLines) > 0 {
		fmt.Fprintf(&text, "\nThe last lines of its log:\n    %s\n", strings.Join(e.logLines, "\n    "))
	}
	fmt.Fprintf(&text, "\nWhat to do: read the whole log, %s. If it says nothing, see whether a --component-flag is wrong, "+
		"the disk is full, or the memory: a cluster needs about 900 MiB, and a process that the kernel ended for want of memory "+
		"was \"signal: killed\".", e.logFile)
	return text.String()
}

func (e *componentError) Unwrap() error { return e.cause }
