// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"net/http"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// watchRetryPeriod is how often a watch retries while the API server refuses connections.
const watchRetryPeriod = time.Second

// retryTransport retries watches while a restarting API server refuses connections. client-go's reflectors would back
// off up to a minute, which would prolong the outage for the caches and for everything that waits for them. A watch
// continues at its resourceVersion; if the starting server closes it again, the reflector relists.
type retryTransport struct {
	wrapped http.RoundTripper

	mu sync.Mutex
	// lost is when a watch was first refused, or zero if the API server accepts connections.
	lost time.Time
}

func newRetryTransport(wrapped http.RoundTripper) http.RoundTripper {
	return &retryTransport{wrapped: wrapped}
}

var _ utilnet.RoundTripperWrapper = (*retryTransport)(nil)

func (r *retryTransport) WrappedRoundTripper() http.RoundTripper { return r.wrapped }

func (r *retryTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.wrapped.RoundTrip(request)
	if request.URL.Query().Get("watch") != "true" {
		return response, err
	}
	logger := klog.FromContext(request.Context())
	for utilnet.IsConnectionRefused(err) {
		r.refused(logger, err)
		// Jitter keeps the watches from retrying all at once.
		timer := time.NewTimer(wait.Jitter(watchRetryPeriod/2, 1))
		select {
		case <-timer.C:
		case <-request.Context().Done():
			timer.Stop()
			return response, err
		}
		response, err = r.wrapped.RoundTrip(request)
	}
	if err == nil {
		r.reached(logger)
	}
	return response, err
}

// refused and reached log an outage once, although every watch notices it.
func (r *retryTransport) refused(logger klog.Logger, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost.IsZero() {
		r.lost = time.Now()
		logger.Error(err, "Cannot reach the API server; retrying watches every second")
	}
}

func (r *retryTransport) reached(logger klog.Logger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.lost.IsZero() {
		logger.Info("Reached the API server again", "after", time.Since(r.lost).Round(time.Millisecond))
		r.lost = time.Time{}
	}
}
