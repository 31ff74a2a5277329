// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// followPeriod is how often a stream looks for containers that have started, and tries again those that have ended.
const followPeriod = 2 * time.Second

// follower writes the logs of all containers of an Application as lines come, into a queue that drops lines rather
// than wait.
type follower struct {
	open      openLog
	namespace string
	options   *v1alpha1.ApplicationLogOptions
	// pods returns the present pods of the Application, at most as many as the limit.
	pods  func() []*pod
	queue *lineQueue

	running sync.WaitGroup
	mu      sync.Mutex
	// followed has the containers that are read, and since when those are to be read again that have ended.
	followed map[container]*followed
}

type followed struct {
	reading bool
	since   *metav1.Time // nil: from the beginning
}

// run follows until the context ends.
func (f *follower) run(ctx context.Context) {
	f.followed = map[container]*followed{}
	ticker := time.NewTicker(followPeriod)
	defer ticker.Stop()
	defer f.running.Wait()
	for {
		f.startReaders(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// startReaders reads every container that exists and is not read yet, and forgets those of pods that are gone.
func (f *follower) startReaders(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	present := map[container]bool{}
	for _, c := range containersOf(f.pods(), f.options) {
		present[c] = true
		state := f.followed[c]
		if state == nil {
			state = &followed{}
			f.followed[c] = state
		}
		if !state.reading {
			state.reading = true
			f.running.Go(func() { f.read(ctx, c, state.since) })
		}
	}
	for c, state := range f.followed {
		if !present[c] && !state.reading {
			delete(f.followed, c)
		}
	}
}

// read reads a container until its log ends. One that has not started has no log yet, and one that restarts has a further
// one: both are tried again.
func (f *follower) read(ctx context.Context, c container, since *metav1.Time) {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.followed[c].reading, f.followed[c].since = false, since
	}()
	log, err := f.open(ctx, f.namespace, c.pod, podLogOptions(c, f.options, since))
	if err != nil {
		if !apierrors.IsBadRequest(err) && !apierrors.IsNotFound(err) && ctx.Err() == nil {
			f.queue.note(c.prefix() + "fairlead: no log, retrying: " + err.Error())
		}
		return
	}
	defer log.Close()
	for reader := newLineReader(c, log); ; {
		next, err := reader.next()
		if err != nil {
			return
		}
		f.queue.add(next.format(f.options.Timestamps))
		if !next.time.IsZero() {
			// The kubelet repeats lines of this time, so begin after it.
			since = &metav1.Time{Time: next.time.Add(time.Nanosecond)}
		}
	}
}
