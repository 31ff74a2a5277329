// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Limits bound what log streams cost this server and the kubelets.
type Limits struct {
	// PodsPerRequest is how many pods one stream reads at once.
	PodsPerRequest int
	// StreamsPerUser and Streams are how many streams may be open, of one user and of all.
	StreamsPerUser, Streams int
	// BufferedBytes is how much a stream that follows keeps for a slow reader; beyond, lines are dropped.
	BufferedBytes int
	// IdleTime ends a stream without a line, TotalTime any stream.
	IdleTime, TotalTime time.Duration
}

// DefaultLimits are those of the command.
func DefaultLimits() Limits {
	return Limits{
		PodsPerRequest: 50, StreamsPerUser: 10, Streams: 500,
		BufferedBytes: 1 << 20, IdleTime: 30 * time.Minute, TotalTime: 4 * time.Hour,
	}
}

const (
	// retryAfter is how many seconds a client should wait while the server has too many streams.
	retryAfter = 10
	// noRetry leaves Retry-After out of a 429. With it a client would wait and try again by itself, ten times, before it
	// shows the message, although the user must close a stream first.
	noRetry = 0
)

// streams counts the open streams.
type streams struct {
	limits Limits

	mu    sync.Mutex
	total int
	users map[string]int
}

func newStreams(limits Limits) *streams { return &streams{limits: limits, users: map[string]int{}} }

// acquire opens a stream of a user. The error is 429 if there are too many. release closes it, and may be called again.
func (s *streams) acquire(user string) (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users[user] >= s.limits.StreamsPerUser {
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("%s has %d open streams, which is the limit; close one", user, s.users[user]), noRetry)
	}
	if s.total >= s.limits.Streams {
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("%d streams are open, which is the limit of this server; try again later", s.total), retryAfter)
	}
	s.total++
	s.users[user]++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.total--
		s.users[user]--
		if s.users[user] == 0 {
			delete(s.users, user)
		}
	}), nil
}
