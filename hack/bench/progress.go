// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"time"
)

// progress tells what is being measured, a line each. The table goes elsewhere.
type progress struct {
	out   io.Writer
	began time.Time
}

// step says what begins.
func (p *progress) step(format string, args ...any) {
	fmt.Fprintf(p.out, "%6s  %s\n", time.Since(p.began).Round(time.Second), fmt.Sprintf(format, args...))
}

// result says what came out.
func (p *progress) result(format string, args ...any) {
	fmt.Fprintf(p.out, "%6s    %s\n", "", fmt.Sprintf(format, args...))
}
