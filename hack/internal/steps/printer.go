// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// Printer prints lines that stay, and on a terminal one line below them that says what the program waits for. Its methods
// may be called concurrently. It ignores errors of writing: there is nowhere to print them.
type Printer struct {
	out   io.Writer
	color bool
	// width returns the columns of the terminal; nil: the output is none.
	width func() int

	mu      sync.Mutex
	waiting bool // a line of Waiting stands on the terminal
}

// NewPrinter returns a printer to a file or to a buffer. On a terminal it uses colors, unless NO_COLOR is set.
func NewPrinter(out io.Writer, getenv func(string) string) *Printer {
	p := &Printer{out: out}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || getenv("TERM") == "dumb" || getenv("TERM") == "" {
		return p
	}
	p.color = getenv("NO_COLOR") == "" // https://no-color.org
	p.width = func() int {
		const least, usual = 20, 80
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width >= least {
			return width
		}
		return usual
	}
	return p
}

// IsTerminal reports whether a person is likely to watch.
func (p *Printer) IsTerminal() bool { return p.width != nil }

// Step prints the title of a step.
func (p *Printer) Step(number, total int, title string) {
	p.Print(nil, Line{Faint.Textf("[%d/%d] ", number, total), Strong.Textf("%s", title)})
}

// Title prints a title without a number.
func (p *Printer) Title(format string, args ...any) {
	p.Print(nil, Line{Strong.Textf(format, args...)})
}

// Good prints what was seen and is as expected.
func (p *Printer) Good(format string, args ...any) { p.marked(Good, format, args...) }

// Bad prints what went wrong.
func (p *Printer) Bad(format string, args ...any) { p.marked(Bad, format, args...) }

// Busy prints what is not as it will be, or left out.
func (p *Printer) Busy(format string, args ...any) { p.marked(Busy, format, args...) }

// Measured prints a figure that is not judged.
func (p *Printer) Measured(format string, args ...any) { p.marked(Strong, format, args...) }

// Note prints an aside.
func (p *Printer) Note(format string, args ...any) {
	p.Print(Line{Plain.Textf("  "), Faint.Textf(format, args...)})
}

// Printf prints plain text.
func (p *Printer) Printf(format string, args ...any) {
	p.Print(Line{Plain.Textf(format, args...)})
}

func (p *Printer) marked(tone Tone, format string, args ...any) {
	p.Print(Line{Plain.Textf("  "), Mark(tone), Plain.Textf(" "+format, args...)})
}

// Print prints lines. Further lines of a text are indented.
func (p *Printer) Print(lines ...Line) {
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(line.render(p.color) + "\n")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.write(text.String(), false)
}

// Waiting shows what the program waits for, since when, and what it saw last. Without a terminal it shows nothing: the
// end of the wait will be printed.
func (p *Printer) Waiting(what, seen string, since time.Time) {
	if p.width == nil {
		return
	}
	text := fmt.Sprintf("  … %s (%d s)", what, int(time.Since(since).Seconds()))
	if seen != "" {
		text += ": " + strings.ReplaceAll(seen, "\n", " ")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.write(Line{Faint.Textf("%s", cut(text, p.width()-1))}.render(p.color), true)
}

// While shows once a second that the program waits, and what it sees unless seen is nil, until stop is called.
func (p *Printer) While(what string, seen func() string) (stop func()) {
	began, stopped := time.Now(), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				text := ""
				if seen != nil {
					text = seen()
				}
				p.Waiting(what, text, began)
			case <-stopped:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(stopped)
		group.Wait()
	})
}

// write replaces the line of Waiting, in one write, so that the terminal never shows half of it.
func (p *Printer) write(text string, waiting bool) {
	if p.waiting {
		text = "\r\x1b[K" + text
	}
	p.waiting = waiting
	_, _ = io.WriteString(p.out, text)
}

// cut shortens text to width columns. Every character counts as one column.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(0, width-1)]) + "…"
}

// Since is the time since began, for people.
func Since(began time.Time) string { return Duration(time.Since(began)) }

// Duration is for people.
func Duration(d time.Duration) string {
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
