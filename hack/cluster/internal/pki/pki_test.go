// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

func TestIssuedCertificateIsTrusted(t *testing.T) {
	ca, err := LoadOrCreateAuthority(t.TempDir(), "ca")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Issue("server", Subject{CommonName: "server", Organizations: []string{"group"}, Addresses: []string{"127.0.0.1", "localhost"}})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := tls.LoadX509KeyPair(pair.CertFile, pair.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"127.0.0.1", "localhost"} {
		if _, err := loaded.Leaf.Verify(x509.VerifyOptions{Roots: ca.Pool(), DNSName: address}); err != nil {
			t.Errorf("as the server %s: %v", address, err)
		}
	}
	if _, err := loaded.Leaf.Verify(x509.VerifyOptions{Roots: ca.Pool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Errorf("as a client: %v", err)
	}

	other, err := LoadOrCreateAuthority(t.TempDir(), "ca")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loaded.Leaf.Verify(x509.VerifyOptions{Roots: other.Pool()}); err == nil {
		t.Error("another cluster's authority of the same name vouches for the certificate")
	}
}

// TestKeptDirectoryKeepsItsAuthority holds for a data directory that is used again: tokens and certificates in it or in
// use must stay valid.
func TestKeptDirectoryKeepsItsAuthority(t *testing.T) {
	dir := t.TempDir()
	read := func() (ca, key []byte) {
		t.Helper()
		authority, err := LoadOrCreateAuthority(dir, "ca")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := authority.Issue("client", Subject{CommonName: "client"}); err != nil {
			t.Fatalf("the authority cannot sign: %v", err)
		}
		keyFile, err := LoadOrCreateKey(dir, "tokens")
		if err != nil {
			t.Fatal(err)
		}
		return readFile(t, authority.CertFile()), readFile(t, keyFile)
	}
	ca, key := read()
	caAgain, keyAgain := read()
	if !bytes.Equal(ca, caAgain) || !bytes.Equal(key, keyAgain) {
		t.Error("the second start made a new authority or a new key")
	}
}

func TestKubeconfigCanBeCopied(t *testing.T) {
	ca, err := LoadOrCreateAuthority(t.TempDir(), "ca")
	if err != nil {
		t.Fatal(err)
	}
	client, err := ca.Issue("admin", Subject{CommonName: "admin"})
	if err != nil {
		t.Fatal(err)
	}
	content, err := Kubeconfig("https://127.0.0.1:1", ca, client)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://127.0.0.1:1" || len(config.CAData) == 0 || len(config.CertData) == 0 || len(config.KeyData) == 0 {
		t.Errorf("got %v, want the server and the certificates themselves, not their files", config)
	}
}

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
