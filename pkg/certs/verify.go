// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// verify verifies the leaf as a client does that trusts the CAs of the bundle, except for its names.
func verify(b Bundle, now time.Time) error {
	if b.Leaf.Certificate == nil {
		return errors.New("there is none")
	}
	if b.Leaf.Key == nil {
		return errors.New("its key is missing")
	}
	roots := x509.NewCertPool()
	for _, ca := range b.CAs() {
		roots.AddCert(ca)
	}
	_, err := b.Leaf.Certificate.Verify(x509.VerifyOptions{
		Roots:       roots,
		CurrentTime: now,
		KeyUsages:   []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return err
}

// checkSigner returns why a CA cannot sign now.
func checkSigner(ca KeyPair, now time.Time) error {
	switch {
	case ca.Certificate == nil:
		return errors.New("there is none")
	case ca.Key == nil:
		return errors.New("its key is missing")
	}
	return checkValidity(ca.Certificate, now)
}

// checkValidity returns why a certificate is not valid now.
func checkValidity(certificate *x509.Certificate, now time.Time) error {
	switch {
	case now.Before(certificate.NotBefore):
		return fmt.Errorf("it is not valid before %s", certificate.NotBefore.UTC().Format(time.RFC3339))
	case now.After(certificate.NotAfter):
		return fmt.Errorf("it expired at %s", certificate.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// covers reports whether the leaf is valid for all names. The leaf may have more names; that is not worth a new one.
func covers(leaf *x509.Certificate, names Names) bool {
	for _, name := range names.DNSNames {
		if leaf.VerifyHostname(name) != nil {
			return false
		}
	}
	for _, ip := range names.IPs {
		if leaf.VerifyHostname(ip.String()) != nil {
			return false
		}
	}
	return true
}
