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

// reconnectPeriod is how often a watch tries to reach an API server that is not there. Nobody is bothered by it.
const reconnectPeriod = time.Second

// reconnecting lets watches wait for an API server that refuses connections, because it restarts. client-go's reflectors
// would come back less and less often, up to a minute apart, and an outage would last so much longer for the caches, and
// for all that waits for them. A watch goes on where it was; what the starting server ends again is listed anew.
type reconnecting struct {
	wrapped http.RoundTripper

	mu sync.Mutex
	// lost is when the first watch was refused, and zero while none is.
	lost time.Time
}

func newReconnecting(wrapped http.RoundTripper) http.RoundTripper {
	return &reconnecting{wrapped: wrapped}
}

var _ utilnet.RoundTripperWrapper = (*reconnecting)(nil)

func (r *reconnecting) WrappedRoundTripper() http.RoundTripper { return r.wrapped }

func (r *reconnecting) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.wrapped.RoundTrip(request)
	if request.URL.Query().Get("watch") != "true" {
		return response, err
	}
	logger := klog.FromContext(request.Context())
	for utilnet.IsConnectionRefused(err) {
		r.refused(logger, err)
		// They do not all come at once.
		timer := time.NewTimer(wait.Jitter(reconnectPeriod/2, 1))
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

// refused and reached tell of an outage once, although every watch notices it.
func (r *reconnecting) refused(logger klog.Logger, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost.IsZero() {
		r.lost = time.Now()
		logger.Error(err, "The API server cannot be reached; watches try again every second")
	}
}

func (r *reconnecting) reached(logger klog.Logger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.lost.IsZero() {
		logger.Info("Reached the API server again", "after", time.Since(r.lost).Round(time.Millisecond))
		r.lost = time.Time{}
	}
}
