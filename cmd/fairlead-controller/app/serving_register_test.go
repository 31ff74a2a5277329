// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/fairlead/pkg/admission"
)

// TestRegisterWebhooks registers again while the CRDs are on their way out, and not if the API server cannot reach the
// webhooks.
func TestRegisterWebhooks(t *testing.T) {
	terminating := errors.New("create not allowed while custom resource definition is terminating")
	unreachable := &admission.UnreachableError{URL: "https://127.0.0.1:1", Err: errors.New("connection refused")}
	for name, test := range map[string]struct {
		answers    []error
		registered bool
		calls      int
		takes      time.Duration
	}{
		"at once":     {[]error{nil}, true, 1, 0},
		"after CRDs":  {[]error{terminating, terminating, nil}, true, 3, 2 * registerPeriod},
		"unreachable": {[]error{unreachable}, false, 1, 0},
		"ended":       {[]error{terminating, context.Canceled}, false, 2, registerPeriod},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				begin, calls := time.Now(), 0
				registered := registerWebhooks(ctx, func(context.Context) error {
					calls++
					answer := test.answers[calls-1]
					if errors.Is(answer, context.Canceled) {
						stop()
					}
					return answer
				})
				if took := time.Since(begin); registered != test.registered || calls != test.calls || took != test.takes {
					t.Errorf("registered is %t after %d calls in %s, want %t after %d in %s", registered, calls, took, test.registered, test.calls, test.takes)
				}
			})
		})
	}
}

// A second controller replaces the registration of the first, and takes its own back when it ends. The first one registers again only
// then. An error does not end the checks.
func TestKeepRegistered(t *testing.T) {
	const mine, other, gone = "mine", "other's", ""
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var mu sync.Mutex
		registered, calls, unavailable, unreachable := gone, 0, false, false
		done := make(chan struct{})
		go func() {
			defer close(done)
			keepRegistered(ctx, func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				calls++
				if unreachable {
					return &admission.UnreachableError{URL: "https://127.0.0.1", Err: errors.New("no answer")}
				}
				registered = mine
				return nil
			}, func(context.Context) (bool, error) {
				mu.Lock()
				defer mu.Unlock()
				if unavailable {
					return false, errors.New("connection refused")
				}
				return registered == gone, nil
			})
		}()
		// after changes what is registered, and says what is some time later.
		after := func(change func(), d time.Duration, who string, times int) {
			t.Helper()
			mu.Lock()
			change()
			mu.Unlock()
			<-time.After(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if registered != who || calls != times {
				t.Errorf("registered is %q after %d calls, want %q after %d", registered, calls, who, times)
			}
		}
		after(func() {}, time.Hour, mine, 1)
		after(func() { registered = other }, time.Hour, other, 1)
		after(func() { registered, unavailable = gone, true }, time.Hour, gone, 1)
		after(func() { unavailable = false }, missingPeriod, mine, 2)
		after(func() { registered, unreachable = gone, true }, missingPeriod, gone, 3)
		after(func() { unreachable = false }, missingPeriod, mine, 4)
		stop()
		<-done
	})
}
