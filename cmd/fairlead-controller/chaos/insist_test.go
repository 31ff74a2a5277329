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
)

// insistent repeats what a test asks of the cluster, as people do, while the cluster cannot answer: because etcd is just
// coming back, or because the machine is too busy. The controller has no part in that.
type insistent struct{ next http.RoundTripper }

var _ utilnet.RoundTripperWrapper = insistent{}

func (i insistent) WrappedRoundTripper() http.RoundTripper { return i.next }

func (i insistent) RoundTrip(r *http.Request) (*http.Response, error) {
	end := time.Now().Add(insistence)
	for {
		response, body, err := i.attempt(r)
		if !isOutage(response, body, err) || r.Context().Err() != nil || time.Now().After(end) || r.Body != nil && r.GetBody == nil {
			return response, err
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

// attempt sends the request once, and reads the whole answer: an API server that is killed breaks off in the middle of one. No test
// watches with this client.
func (i insistent) attempt(r *http.Request) (*http.Response, []byte, error) {
	response, err := i.next.RoundTrip(r)
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, body, nil
}

// isOutage reports whether the request was not answered, or with an error of the server. An error about a webhook is an
// answer: other requests work.
func isOutage(response *http.Response, body []byte, err error) bool {
	return err != nil || response.StatusCode >= http.StatusInternalServerError && !bytes.Contains(body, []byte("webhook"))
}

// patientNodes keeps the nodes Ready although kwok cannot renew their leases while etcd is down, or the machine is
// busy. Simulated pods that were declared not ready never recover.
var patientNodes = controlplane.WithFlag(controlplane.KubeControllerManager, "--node-monitor-grace-period=1h")
