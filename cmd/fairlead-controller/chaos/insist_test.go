// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"bytes"
	"io"
	"net/http"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const (
	// insistence is how long the test repeats a request that the cluster cannot answer. After an outage of etcd the API
	// server dials it again for each kind separately, after a pause that grows with the outage.
	insistence = 5 * time.Minute
	// insistPeriod is the pause between two of them.
	insistPeriod = 500 * time.Millisecond
	// messageLimit is more than an error of the API server has.
	messageLimit = 64 << 10
)

// insistent repeats what a test asks of the cluster, as people do, while the cluster cannot answer: because etcd is just
// coming back, or because the machine is too busy. The controller has no part in that.
type insistent struct{ next http.RoundTripper }

var _ utilnet.RoundTripperWrapper = insistent{}

func (i insistent) WrappedRoundTripper() http.RoundTripper { return i.next }

func (i insistent) RoundTrip(r *http.Request) (*http.Response, error) {
	end := time.Now().Add(insistence)
	for {
		response, err := i.next.RoundTrip(r)
		if !isOutage(response, err) || r.Context().Err() != nil || time.Now().After(end) || r.Body != nil && r.GetBody == nil {
			return response, err
		}
		if response != nil {
			_ = response.Body.Close()
		}
		timer := time.NewTimer(insistPeriod)
		select {
		case <-timer.C:
		case <-r.Context().Done():
			timer.Stop()
			return nil, r.Context().Err()
		}
		r = r.Clone(r.Context())
		if r.GetBody != nil {
			if r.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// isOutage reports whether the request was not answered, or with an error of the server. An error about a webhook is an
// answer: other requests work.
func isOutage(response *http.Response, err error) bool {
	if err != nil {
		return true
	}
	if response.StatusCode < http.StatusInternalServerError {
		return false
	}
	message, err := io.ReadAll(io.LimitReader(response.Body, messageLimit))
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(message))
	return err != nil || !bytes.Contains(message, []byte("webhook"))
}

// patientNodes keeps the nodes Ready although kwok cannot renew their leases while etcd is down, or the machine is
// busy. Simulated pods that were declared not ready never recover.
var patientNodes = controlplane.WithFlag(controlplane.KubeControllerManager, "--node-monitor-grace-period=1h")
