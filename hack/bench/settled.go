// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
)

// measureSettled measures what takes Applications at rest, all in one control plane: making them takes the longest.
func (b *bench) measureSettled(ctx context.Context) error {
	return inLab(ctx, b.options, func(l *lab) error {
		if b.options.wants("G5") {
			if err := b.measureSlope(ctx, l); err != nil {
				return fmt.Errorf("G5: %w", err)
			}
		} else if err := b.populate(ctx, l, b.options.applications); err != nil {
			return err
		}
		for _, goal := range []struct {
			name    string
			measure func(context.Context, *lab) error
		}{
			{"G4", b.measureRestart},
			{"G3", b.measureResync},
			{"G6", b.measureDrift},
			{"G10", b.measureWebhooks},
			{"G7", b.measureChurn},
			{"G9", b.measureOutage},
			{"G12", b.measureNeighbours},
			{"G5", b.measureForeign}, // The last: these objects would be in the way of the others.
		} {
			if !b.options.wants(goal.name) {
				continue
			}
			if err := goal.measure(ctx, l); err != nil {
				return fmt.Errorf("%s: %w", goal.name, err)
			}
		}
		return nil
	})
}

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
