// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pki issues the certificates and keys of one cluster.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// validity is long enough for a data directory that a user keeps. The keys protect a loopback port.
const validity = 10 * 365 * 24 * time.Hour

// Authority is a certificate authority whose certificate and key are files in a directory.
type Authority struct {
	dir  string
	name string
	cert *x509.Certificate
	key  crypto.Signer
}

// Pair names the two files of a certificate.
type Pair struct {
	CertFile, KeyFile string
}

// Subject says whom a certificate is for. A server needs addresses; a client needs none.
type Subject struct {
	CommonName    string
	Organizations []string
	Addresses     []string // DNS names and IP addresses
}

// LoadOrCreateAuthority returns the authority called name in dir. One that exists is kept, so that what it signed for a
// kept data directory stays valid.
func LoadOrCreateAuthority(dir, name string) (*Authority, error) {
	a := &Authority{dir: dir, name: name}
	files := a.files(name)
	certs, err := cert.CertsFromFile(files.CertFile)
	if errors.Is(err, os.ErrNotExist) {
		return a, a.create(files)
	}
	if err != nil {
		return nil, fmt.Errorf("read certificate authority %s: %w", name, err)
	}
	key, err := keyutil.PrivateKeyFromFile(files.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("read the key of certificate authority %s: %w", name, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("key of certificate authority %s: %T cannot sign", name, key)
	}
	a.cert, a.key = certs[0], signer
	return a, nil
}

// CertFile is the file that holds the authority's certificate.
func (a *Authority) CertFile() string { return a.files(a.name).CertFile }

// KeyFile is the file that holds the authority's key.
func (a *Authority) KeyFile() string { return a.files(a.name).KeyFile }

// Pool returns a pool with this authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// Issue signs a new certificate, good for a server and for a client, and writes it into the authority's directory.
func (a *Authority) Issue(name string, subject Subject) (Pair, error) {
	template := newTemplate(subject.CommonName, subject.Organizations)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, address := range subject.Addresses {
		if ip := net.ParseIP(address); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, address)
		}
	}
	files := a.files(name)
	if _, _, err := sign(template, a.cert, a.key, files); err != nil {
		return Pair{}, fmt.Errorf("issue certificate %s: %w", name, err)
	}
	return files, nil
}

func (a *Authority) create(files Pair) error {
	template := newTemplate(a.name, nil)
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	template.BasicConstraintsValid, template.IsCA = true, true
	certificate, key, err := sign(template, nil, nil, files)
	if err != nil {
		return fmt.Errorf("create certificate authority %s: %w", a.name, err)
	}
	a.cert, a.key = certificate, key
	return nil
}

func (a *Authority) files(name string) Pair {
	return Pair{CertFile: filepath.Join(a.dir, name+".crt"), KeyFile: filepath.Join(a.dir, name+".key")}
}

// LoadOrCreateKey returns the file of a signing key in dir, for service account tokens.
func LoadOrCreateKey(dir, name string) (string, error) {
	file := filepath.Join(dir, name+".key")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	key, err := newKey()
	if err != nil {
		return "", fmt.Errorf("create key %s: %w", name, err)
	}
	if err := writeKey(file, key); err != nil {
		return "", fmt.Errorf("create key %s: %w", name, err)
	}
	return file, nil
}

// sign makes a key and a certificate for it. Without a parent the certificate signs itself.
func sign(template, parent *x509.Certificate, parentKey crypto.Signer, files Pair) (*x509.Certificate, crypto.Signer, error) {
	key, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	if parent == nil {
		parent, parentKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return nil, nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, err
	}
	encoded, err := cert.EncodeCertificates(certificate)
	if err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(files.CertFile, encoded, 0o600); err != nil {
		return nil, nil, err
	}
	return certificate, key, writeKey(files.KeyFile, key)
}

func newTemplate(commonName string, organizations []string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: commonName, Organization: organizations},
		NotBefore:    now.Add(-time.Minute),
		NotAfter:     now.Add(validity),
	}
}

// newKey makes an ECDSA key: an RSA key takes a noticeable part of a second, and a cluster needs a dozen.
func newKey() (*ecdsa.PrivateKey, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

func writeKey(file string, key *ecdsa.PrivateKey) error {
	encoded, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return err
	}
	return os.WriteFile(file, encoded, 0o600)
}
