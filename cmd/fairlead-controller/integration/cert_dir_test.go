// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/util/cert"
)

// TestCertDirectory serves with files that another component renews, as cert-manager does.
func TestCertDirectory(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	e.releasedLease()
	directory := t.TempDir()
	host := "fairlead-metrics." + e.namespace + ".svc"
	// renew writes a certificate that is its own CA.
	renew := func() *x509.CertPool {
		certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for file, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
			if err := os.WriteFile(filepath.Join(directory, file), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		trusted := x509.NewCertPool()
		trusted.AppendCertsFromPEM(certificate)
		return trusted
	}
	first := renew()
	one := e.replica("one", func(s *setup) {
		s.Serving.MetricsBindAddress = ":0"
		s.Serving.CertDir = directory
	})
	address := one.served("metrics")
	accepted := func(trusted *x509.CertPool) func() (bool, string) {
		return func() (bool, string) {
			dialer := tls.Dialer{Config: &tls.Config{RootCAs: trusted, ServerName: host, MinVersion: tls.VersionTLS12}}
			connection, err := dialer.DialContext(e.Context(), "tcp", address)
			if err != nil {
				return false, err.Error()
			}
			return connection.Close() == nil, "the connection does not end well"
		}
	}
	e.eventually("the certificate of the directory is served", accepted(first))
	e.eventually("the renewed one is served, without a restart", accepted(renew()))
}
