// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestS23FrontProxy: only kube-apiserver's proxy certificate may name a user. A client that reaches the server with another one, or
// with none, is anonymous, whatever its headers say: the CA of the proxy may have signed more than the proxy's certificate.
func TestS23FrontProxy(t *testing.T) {
	f := start(t)
	flags := kubeAPIServerFlags(t)
	proxy := keyPair(t, flags["proxy-client-cert-file"], flags["proxy-client-key-file"])
	ca := flags["requestheader-client-ca-file"]
	authority := keyPair(t, ca, strings.TrimSuffix(ca, ".crt")+".key")
	for name, test := range map[string]struct {
		certificates []tls.Certificate
		want         int
	}{
		"no certificate":                    {nil, http.StatusForbidden},
		"one of the proxy's CA, other name": {[]tls.Certificate{signed(t, authority, "another-client")}, http.StatusUnauthorized},
		"the proxy's certificate":           {[]tls.Certificate{proxy}, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			//nolint:gosec // The test is about the client's certificate, not the server's.
			transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: test.certificates}}
			defer transport.CloseIdleConnections()
			url := fmt.Sprintf("https://127.0.0.1:%d/apis/%s/%s/namespaces/%s/applications", shared.port, group, version, f.namespace)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("X-Remote-User", "admin")
			request.Header.Set("X-Remote-Group", "system:masters")
			response, err := transport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != test.want {
				t.Errorf("a client that claims to be system:masters gets %s, want %d", response.Status, test.want)
			}
		})
	}
}

func kubeAPIServerFlags(t *testing.T) map[string]string {
	t.Helper()
	flags := map[string]string{}
	for _, argument := range cluster.CommandLine(t, controlplane.KubeAPIServer) {
		name, value, _ := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
		flags[name] = value
	}
	return flags
}

func keyPair(t *testing.T, certificate, key string) tls.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// signed is a client certificate with the common name.
func signed(t *testing.T, authority tls.Certificate, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, authority.Leaf, key.Public(), authority.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{made}, PrivateKey: key}
}
