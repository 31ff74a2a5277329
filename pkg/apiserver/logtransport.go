// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"net/http"
	"time"

	restclient "k8s.io/client-go/rest"
)

// maxLogBuffer is how much of a log the connection keeps until the server reads it. The 4 MiB that net/http allows would
// be 40 GiB for 500 merged logs of 20 containers, if a tenant's containers have much to say and its client reads slowly.
const maxLogBuffer = 64 << 10

// NewLogTransport returns the transport of the client that reads logs. It is that of any other client of kube-apiserver,
// but for the size of its buffers.
func NewLogTransport(config *restclient.Config) (http.RoundTripper, error) {
	tlsConfig, err := restclient.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("make TLS configuration: %w", err)
	}
	transport, err := restclient.HTTPWrappersForConfig(config, &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: config.Dial, TLSClientConfig: tlsConfig,
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
		// The pings find a dead connection as in client-go.
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: maxLogBuffer, SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	})
	if err != nil {
		return nil, fmt.Errorf("authenticate to kube-apiserver: %w", err)
	}
	return transport, nil
}
