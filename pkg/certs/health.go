// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// Healthy returns an error if the served certificate is not valid now, for /readyz. It works with every provider,
// including files that another component writes.
func Healthy(served dynamiccertificates.CertKeyContentProvider, now time.Time) error {
	leaf, err := servedLeaf(served)
	if err != nil {
		return err
	}
	if err := checkValidity(leaf, now); err != nil {
		return fmt.Errorf("the serving certificate of %s is not valid: %w", served.Name(), err)
	}
	return nil
}

// servedLeaf parses the certificate that is served now.
func servedLeaf(served dynamiccertificates.CertKeyContentProvider) (*x509.Certificate, error) {
	certificate, key := served.CurrentCertKeyContent()
	if len(certificate) == 0 || len(key) == 0 {
		return nil, fmt.Errorf("%s has no serving certificate yet", served.Name())
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("the serving certificate of %s: %w", served.Name(), err)
	}
	return pair.Leaf, nil
}
