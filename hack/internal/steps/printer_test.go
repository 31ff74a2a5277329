// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestPrintWithoutATerminal(t *testing.T) {
	var out strings.Builder
	p := NewPrinter(&out, nil)
	p.Title("Seen")
	p.Waiting("a node", "nothing yet", time.Now())
	p.Good("%d nodes", 3)
	p.Measured("p99 %s", Duration(45*time.Millisecond))
	p.Bad("%v", errors.New("one\ntwo"))
	p.Busy("a\x1b[2Jb\rc\td")
	const want = "\nSeen\n  ✔ 3 nodes\n  ≈ p99 45 ms\n  ✘ one\n    two\n  … a?[2Jb?c d\n"
	if out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

func TestPrintOnATerminal(t *testing.T) {
	var out strings.Builder
	p := &Printer{out: &out, color: true, width: func() int { return 14 }}
	p.Waiting("a node", "", time.Now())
	p.Waiting("a node and more", "", time.Now())
	p.Good("ready")
	p.Good("done")
	const want = "\x1b[2m  … a node (…\x1b[0m\r\x1b[K\x1b[2m  … a node a…\x1b[0m\r\x1b[K" +
		"  \x1b[32m✔\x1b[0m ready\n  \x1b[32m✔\x1b[0m done\n"
	if out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

func TestWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		p := &Printer{out: &out, width: func() int { return 80 }}
		stop := p.While("it", func() string { return "nearly" })
		<-time.After(1500 * time.Millisecond)
		stop()
		stop() // Twice does no harm.
		if want := "  … it (1 s): nearly"; out.String() != want {
			t.Errorf("printed %q, want %q", out.String(), want)
		}
	})
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1500 * time.Microsecond: "1.5 ms",
		20 * time.Millisecond:   "20 ms",
		1230 * time.Millisecond: "1.2 s",
		200 * time.Second:       "3 min 20 s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) = %q, want %q", d, got, want)
		}
	}
}
