// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// common is what all programs of one cluster have in common: the audit log, and what happens to the cluster.
type common struct {
	cluster *controlplane.ControlPlane
	audit   *auditor
	// turn is held by the program that does something to the cluster.
	turn sync.Mutex
	apis apis

	mu         sync.Mutex
	happenings []happening
}

// happening is a step of one program that all others feel.
type happening struct {
	step       step
	by         *world
	begin, end time.Time // end is zero while it lasts
}

var commons = struct {
	mu sync.Mutex
	of map[*controlplane.ControlPlane]*common
}{of: map[*controlplane.ControlPlane]*common{}}

func commonOf(cluster *controlplane.ControlPlane) *common {
	commons.mu.Lock()
	defer commons.mu.Unlock()
	c, found := commons.of[cluster]
	if !found {
		c = &common{cluster: cluster, audit: newAuditor(cluster), apis: newAPIs()}
		commons.of[cluster] = c
	}
	return c
}

// happen does something to the cluster. One program does at a time.
func (c *common) happen(w *world, s step, do func() error) error {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.mu.Lock()
	i := len(c.happenings)
	c.happenings = append(c.happenings, happening{step: s, by: w, begin: time.Now()})
	c.mu.Unlock()
	err := do()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.happenings[i].end = time.Now()
	return err
}

// since returns what happened to the cluster since then.
func (c *common) since(begin time.Time) []happening {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.happenings), func(h happening) bool { return !h.end.IsZero() && h.end.Before(begin) })
}

// isDisturbed reports whether something happens to the cluster now.
func (c *common) isDisturbed() bool {
	return slices.ContainsFunc(c.since(time.Now()), func(h happening) bool { return h.end.IsZero() })
}

// lived returns the program with what others did to the cluster meanwhile. starts are when its steps began.
func (w *world) lived(p program, starts []time.Time) program {
	others := slices.DeleteFunc(w.common.since(w.began), func(h happening) bool { return h.by == w })
	var all program
	for i, s := range p {
		for len(others) > 0 && i < len(starts) && others[0].begin.Before(starts[i]) {
			all = append(all, others[0].step)
			others = others[1:]
		}
		all = append(all, s)
	}
	for _, h := range others {
		all = append(all, h.step)
	}
	return all
}

const (
	// killed and frozen are how long a component of the control plane is away.
	killed = 3 * time.Second
	frozen = 8 * time.Second
)

// outage kills or freezes the API server or etcd for a while, for all programs.
func outage(ctx context.Context, w *world, arguments []string) error {
	component := controlplane.Component(arguments[1])
	ctx = context.WithoutCancel(ctx) // It ends even if the test does.
	away, length, back := "kill", killed, []string{"restart"}
	if arguments[0] == "freeze" {
		away, length, back = "pause", frozen, []string{"resume", "wait"}
	}
	return w.common.happen(w, slices.Concat(step{"outage"}, arguments), func() error {
		err := errors.Join(w.cluster.Act(ctx, component, away), let(ctx, w, []string{length.String()}))
		for _, action := range back {
			err = cmp.Or(err, w.cluster.Act(ctx, component, action))
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", away, component, err)
		}
		return nil
	})
}
