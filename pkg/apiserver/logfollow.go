// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
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
	// present returns the present containers of the Application.
	present func() []container
	// limit is how many are read at once, of those for which readers has room.
	limit   int
	readers readers
	queue   *lineQueue

	running sync.WaitGroup
	mu      sync.Mutex
	// followed has the containers that are read, or were.
	followed map[container]*followed
	// unread is how many the client was told about last.
	unread int
}

type followed struct {
	reading bool
	since   *metav1.Time // from when to read again; nil: from the beginning
	// rest is for how many periods a container rests whose log has had no line, skip how many of them are left.
	rest, skip int
}

// maxRest is the most periods that a container rests: one without a log must not cost a request every two seconds, for as
// long as a stream lasts.
const maxRest = 7

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
	containers := f.present()
	unread := max(0, len(containers)-f.limit)
	present := map[container]bool{}
	for _, c := range containers[:len(containers)-unread] {
		present[c] = true
		state := f.followed[c]
		if state == nil {
			state = &followed{}
			f.followed[c] = state
		}
		switch {
		case state.reading:
		case state.skip > 0:
			state.skip--
		case !f.readers.acquire(1):
			unread++
		default:
			state.reading = true
			f.running.Go(func() {
				defer f.readers.release(1)
				f.read(ctx, c, state.since)
			})
		}
	}
	for c, state := range f.followed {
		if !present[c] && !state.reading {
			delete(f.followed, c)
		}
	}
	if unread > f.unread {
		f.queue.note(fmt.Sprintf("fairlead: only %d of %d containers are read, because this stream or this server reads as many as it may", len(containers)-unread, len(containers)))
	}
	f.unread = unread
}

// read reads a container until its log ends. One that has not started has no log yet, and one that restarts has a further
// one: both are tried again.
func (f *follower) read(ctx context.Context, c container, since *metav1.Time) {
	read := false
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		state := f.followed[c]
		state.reading, state.since = false, since
		if state.rest = min(2*state.rest+1, maxRest); read {
			state.rest = 0
		}
		state.skip = state.rest
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
		read = true
		f.queue.add(next.format(f.options.Timestamps))
		if !next.time.IsZero() {
			// The kubelet repeats lines of this time, so begin after it.
			since = &metav1.Time{Time: next.time.Add(time.Nanosecond)}
		}
	}
}
