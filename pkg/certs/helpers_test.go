// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"crypto/x509"
	"testing"
	"time"
)

// start is when the tests create their certificates. Certificates have whole seconds.
var start = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

var testNames = ServiceNames("fairlead-webhook", "fairlead-system")

func inputAt(b Bundle, now time.Time) Input {
	return Input{Bundle: b, Names: testNames, Policy: DefaultPolicy(), Now: now, TrustedSince: start}
}

// do performs an action on the bundle.
func do(t testing.TB, b Bundle, action Action, now time.Time) Bundle {
	t.Helper()
	after, err := perform(inputAt(b, now), action)
	if err != nil {
		t.Fatal(err)
	}
	return after
}

// fresh returns the bundle of a first start at now.
func fresh(t testing.TB, now time.Time) Bundle {
	t.Helper()
	return do(t, Bundle{}, Regenerate, now)
}

// trusts verifies a leaf as an API server with this caBundle does.
func trusts(caBundle []byte, leaf *x509.Certificate, now time.Time) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(caBundle)
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, DNSName: testNames.DNSNames[0]})
	return err
}
