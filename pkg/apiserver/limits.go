// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Limits bound what one user can cost this server and the kubelets, and all users together.
type Limits struct {
	// PodsPerRequest is how many pods one stream reads at once.
	PodsPerRequest int
	// ContainersPerRequest and Containers are how many logs one stream reads at once, and all streams together. A pod may
	// have hundreds of containers, so a limit of pods alone bounds nothing.
	ContainersPerRequest, Containers int
	// StreamsPerUser and Streams are how many log streams may be open, of one user and of all.
	StreamsPerUser, Streams int
	// WatchesPerUser and Watches are the same for watches.
	WatchesPerUser, Watches int
	// RendersPerUser and Renders are how many renderings are computed at once. Each lists the children of an Application.
	RendersPerUser, Renders int
	// TimelinesPerUser and Timelines are how many timelines are read or watched at once. A watch asks the leader every few seconds.
	TimelinesPerUser, Timelines int
	// BufferedBytes is how much a stream that follows keeps for a slow reader; beyond, lines are dropped.
	BufferedBytes int
	// IdleTime ends a stream without a line, TotalTime any stream.
	IdleTime, TotalTime time.Duration
}

// DefaultLimits are those of the command. At their worst they take 300 MiB, which the memory limit of the Deployment
// leaves room for: 500 buffers, and for each of 2000 logs a line and what its connection holds.
func DefaultLimits() Limits {
	return Limits{
		PodsPerRequest: 50, ContainersPerRequest: 100, Containers: 2000,
		StreamsPerUser: 10, Streams: 500, WatchesPerUser: 100, Watches: 5000, RendersPerUser: 2, Renders: 10,
		TimelinesPerUser: 5, Timelines: 50,
		BufferedBytes: 256 << 10, IdleTime: 30 * time.Minute, TotalTime: 4 * time.Hour,
	}
}

// Validate returns an error unless every limit is positive: a limit of zero refuses every request.
func (l Limits) Validate() error {
	if min(l.PodsPerRequest, l.ContainersPerRequest, l.Containers, l.StreamsPerUser, l.Streams, l.WatchesPerUser, l.Watches, l.RendersPerUser, l.Renders, l.TimelinesPerUser, l.Timelines, l.BufferedBytes) < 1 ||
		min(l.IdleTime, l.TotalTime) <= 0 {
		return errors.New("every limit must be positive")
	}
	return nil
}

const (
	// retryAfter is how many seconds a client should wait while the server has too many streams.
	retryAfter = 10
	// noRetry leaves Retry-After out of a 429. With it a client would wait and try again by itself, ten times, before it
	// shows the message, although the user must close a stream first.
	noRetry = 0
)

// quota counts what is open.
type quota struct {
	what           string // in messages: streams
	perUser, total int

	mu    sync.Mutex
	open  int
	users map[string]int
}

func newQuota(what string, perUser, total int) *quota {
	return &quota{what: what, perUser: perUser, total: total, users: map[string]int{}}
}

// acquire opens one of a user. The error is 429 if there are too many. release closes it, and may be called again.
func (q *quota) acquire(user string) (release func(), err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.users[user] >= q.perUser {
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("%s has %d open %s, which is the limit; close one", user, q.users[user], q.what), noRetry)
	}
	if q.open >= q.total {
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("%d %s are open, which is the limit of this server; try again later", q.open, q.what), retryAfter)
	}
	q.open++
	q.users[user]++
	return sync.OnceFunc(func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.open--
		q.users[user]--
		if q.users[user] == 0 {
			delete(q.users, user)
		}
	}), nil
}

// readers has room for each log that is read.
type readers chan struct{}

// acquire takes the room of so many logs, or of none.
func (r readers) acquire(count int) bool {
	for i := range count {
		select {
		case r <- struct{}{}:
		default:
			r.release(i)
			return false
		}
	}
	return true
}

func (r readers) release(count int) {
	for range count {
		<-r
	}
}
