// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// patience bounds every wait, so that a lab that hangs says where.
	patience = 30 * time.Second
	period   = 10 * time.Millisecond
)

// Receive takes the next value of a channel.
func Receive[T any](ctx context.Context, what string, from <-chan T) (T, error) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	var none T
	select {
	case value, open := <-from:
		if !open {
			return none, fmt.Errorf("wait for %s: the channel was closed", what)
		}
		return value, nil
	case <-ctx.Done():
		return none, fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
	case <-timeout.C:
		return none, fmt.Errorf("wait for %s: not within %s", what, patience)
	}
}

// Eventually polls the condition, for states without a channel to wait for.
func Eventually(ctx context.Context, what string, condition func(context.Context) (bool, error)) error {
	err := wait.PollUntilContextTimeout(ctx, period, patience, true, condition)
	if err != nil {
		return fmt.Errorf("wait for %s: %w", what, err)
	}
	return nil
}
