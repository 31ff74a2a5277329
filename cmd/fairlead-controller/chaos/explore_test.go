// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

var (
	duration = flag.Duration("chaos.for", 0, "how long to explore; 0 draws nothing")
	seed     = flag.Int("chaos.seed", 1, "the seed of the first program; each further one has the next")
	length   = flag.Int("chaos.length", 25, "the number of steps of a program")
	atOnce   = flag.Int("chaos.parallel", 6, "how many programs run at once")
	quietFor = flag.Duration("chaos.quiet", time.Minute, "how long nothing may be written at the end of a program")
	attempts = flag.Int("chaos.tries", 2, "how often a shorter program must pass to count as harmless")
	doShrink = flag.Bool("chaos.shrink", true, "make programs that fail shorter")
	failures = flag.Int("chaos.failures", 1, "end after so many failures")
)

var shared = controlplane.NewShared(patientNodes, controlplane.WithAuditLog())

func TestMain(m *testing.M) {
	// The tests mostly wait. What works at once, chaos.parallel limits.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	flag.Parse()
	os.Exit(shared.Main(m))
}

// newRunner prepares the shared cluster.
func newRunner(t *testing.T) *runner {
	t.Helper()
	r := &runner{cluster: shared.Get(t), busy: busy(), quiet: 10 * time.Second}
	// Once: many tests begin at the same time, and each apply of such large definitions costs the API server a while.
	prepared.once.Do(func() {
		prepared.err = r.prepare(t.Context())
		prepared.idle = r.idle
	})
	if prepared.err != nil {
		t.Fatal(prepared.err)
	}
	r.idle = prepared.idle
	return r
}

// newRunnerAlone prepares a cluster of its own, for programs that disturb all others.
func newRunnerAlone(t *testing.T) *runner {
	t.Helper()
	r := &runner{cluster: controlplane.ForTest(t, patientNodes, controlplane.WithAuditLog()), busy: busy(), quiet: 10 * time.Second}
	if err := r.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// prepare gives a cluster the kinds of Fairlead.
func (r *runner) prepare(ctx context.Context) error {
	if err := r.cluster.ApplyCRDs(ctx, crds); err != nil {
		return err
	}
	return r.garbageCollected(ctx)
}

// busy is one for all tests.
var busy = sync.OnceValue(func() chan struct{} { return make(chan struct{}, *atOnce) })

// prepared is what became of the preparation of the shared cluster.
var prepared struct {
	once sync.Once
	idle int
	err  error
}

const crds = "../../../artifacts/crds"

// TestExplore draws programs and runs them, for as long as a flag says.
func TestExplore(t *testing.T) {
	r := newRunner(t)
	r.quiet = *quietFor
	end := time.Now().Add(*duration)
	ctx := t.Context()
	c := newCoverage()
	var running sync.WaitGroup
	slots := make(chan struct{}, 4**atOnce)
	var found atomic.Int32
	for next := *seed; ; next++ {
		slots <- struct{}{}
		r.busy <- struct{}{}
		if !time.Now().Before(end) || int(found.Load()) >= *failures {
			<-r.busy
			break
		}
		running.Go(func() {
			defer func() { <-slots }()
			p := draw(next, *length)
			lived, log, err := r.runNow(ctx, p)
			if c.ran(p)%50 == 0 {
				t.Logf("%s", c)
			}
			if err != nil && found.Add(1) <= int32(*failures) {
				t.Logf("%s", c)
				r.report(ctx, t, next, lived, log, err)
			}
		})
	}
	running.Wait()
	t.Logf("%s", c)
}

// report shrinks a failure and prints it as a test.
func (r *runner) report(ctx context.Context, t *testing.T, seed int, p program, log string, failure error) {
	fmt.Fprintf(os.Stderr, "seed %d fails: %v\n%s\n--- end of its log\n%s\n--- shrinking\n", seed, failure, p, log)
	var broken *violation
	if errors.As(failure, &broken) && *doShrink {
		p = shrink(p, *attempts, func(candidate program) bool {
			_, err := r.run(ctx, candidate)
			var other *violation
			return errors.As(err, &other) && other.invariant == broken.invariant
		})
	}
	t.Errorf("seed %d: %v\n\nfunc TestFound%d(t *testing.T) {\n\treplay(t, `\n%s\t`)\n}\n", seed, failure, seed, p)
}

// replay runs a program that once failed.
func replay(t *testing.T, text string) {
	t.Helper()
	t.Parallel()
	p, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if p.disturbsAll() {
		newRunnerAlone(t).replay(t, text)
		return
	}
	newRunner(t).replay(t, text)
}

// replay runs a program.
func (r *runner) replay(t *testing.T, text string) {
	t.Helper()
	p, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if log, err := r.run(t.Context(), p); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
}
