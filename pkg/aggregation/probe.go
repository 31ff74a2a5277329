// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package aggregation

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// probeTimeout is shorter than Period.
const probeTimeout = 5 * time.Second

// ProbeReadyz returns a probe that requests /readyz from an address, usually of the server's Service. Like
// kube-apiserver, it expects the name of the Service in the certificate.
func ProbeReadyz(address string, service Service, caBundle func() []byte) func(context.Context) error {
	return func(ctx context.Context) error {
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(caBundle()) {
			return errors.New("there is no CA for the aggregated API server yet")
		}
		transport := &http.Transport{TLSClientConfig: &tls.Config{
			RootCAs: roots, ServerName: service.Name + "." + service.Namespace + ".svc", MinVersion: tls.VersionTLS12,
		}}
		defer transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/readyz", nil)
		if err != nil {
			return fmt.Errorf("make request: %w", err)
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			return fmt.Errorf("ask /readyz: %w", err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("ask /readyz: %s", response.Status)
		}
		return nil
	}
}
