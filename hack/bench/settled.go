// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
)

// rounds is how often a resync is repeated, and the search for the highest rate of changes: minutes each time.
func (b *bench) rounds() int { return min(b.options.repeats, 3) }

// populate lets the controller bring Applications to rest until there are so many.
func (b *bench) populate(ctx context.Context, l *lab, applications int) error {
	b.progress.step("%d Applications are made and brought to rest", applications)
	added := applications - l.applications
	err := l.withController(ctx, func(c *controller) error {
		asked, err := l.follow(ctx, measured)
		if err != nil {
			return err
		}
		if _, err := l.create(ctx, l.applications, applications); err != nil {
			return err
		}
		if err := asked.untilCalm(ctx, c.subject, settled(added)); err != nil {
			return err
		}
		l.connections, err = c.connections(c.port)
		return err
	})
	if err != nil {
		return fmt.Errorf("make Applications: %w", err)
	}
	l.applications, l.next = applications, applications
	return l.checkSettled(ctx, applications)
}
