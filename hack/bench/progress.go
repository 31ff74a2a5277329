// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "fairlead.dev/fairlead/hack/internal/steps"

// progress prints what a step measures. The table goes elsewhere.
type progress struct{ *steps.Printer }

// step says what begins.
func (p *progress) step(format string, args ...any) { p.Note(format, args...) }

// result says what came out.
func (p *progress) result(format string, args ...any) { p.Measured(format, args...) }
