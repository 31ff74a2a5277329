// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"

	listandwatch "fairlead.dev/fairlead/docs/informers/01-list-and-watch"
	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// chapter is a chapter with its lab.
type chapter struct {
	// directory begins with the number, in two digits.
	directory string
	run       lab.Func
}

func (c chapter) number() string { return c.directory[:2] }

// chapters are all of them, in order.
func chapters() []chapter {
	return []chapter{
		{"01-list-and-watch", listandwatch.Lab},
	}
}

// parts are what labs run in a process of their own.
func parts() map[string]func(ctx context.Context, output io.Writer) error {
	return map[string]func(ctx context.Context, output io.Writer) error{}
}
