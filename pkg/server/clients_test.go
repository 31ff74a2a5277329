// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestS16ClientCertificates connects to the webhooks as the API server, as another client of the same CA, and as a
// pod without a certificate or with a self-signed one.
func TestS16ClientCertificates(t *testing.T) {
	source := &provider{}
	certificates := NewCertificates(source)
	trusted := source.exchange(t)
	authority, foreign := newAuthority(t), newAuthority(t)
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, authority.pem, 0o600); err != nil {
		t.Fatal(err)
	}
	clients, err := NewClients(file, []string{"kube-apiserver"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { certificates.Run(ctx) })
	running.Go(func() { clients.Run(ctx) })
	defer running.Wait()
	defer cancel()
	address, _ := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), clients.Guard(certificates.Config()))

	connect := func(client *tls.Certificate) error {
		config := trusted.Clone()
		if client != nil {
			config.Certificates = []tls.Certificate{*client}
		}
		_, _, err := get(t, "https://"+address, nil, config)
		return err
	}
	apiServer := authority.sign(t, "kube-apiserver")
	for connect(apiServer) != nil { // The server takes its certificate up in the background.
		if t.Context().Err() != nil {
			t.Fatal("the API server cannot connect")
		}
	}
	for name, client := range map[string]*tls.Certificate{
		"no certificate":           nil,
		"another client of the CA": authority.sign(t, "system:node:a"),
		"another CA":               foreign.sign(t, "kube-apiserver"),
	} {
		if err := connect(client); err == nil {
			t.Errorf("%s: connected", name)
		}
	}
}

// authority is a CA that signs client certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "clients"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{certificate, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func (a *authority) sign(t *testing.T, name string) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
