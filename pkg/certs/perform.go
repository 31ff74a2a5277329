// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"slices"
	"time"
)

// maxPrevious bounds the caBundle. There is more than one previous CA only after repairs, or after leaders with
// different clocks. A replica must not miss more rotations than this.
const maxPrevious = 8

// perform performs an action and returns the new bundle. The input determines everything except keys and serial
// numbers.
func perform(in Input, action Action) (Bundle, error) {
	b := in.Bundle
	var err error
	switch action {
	case Wait:
		return b, nil
	case Prune:
		if checkSigner(b.Next, in.Now) != nil {
			b.Next = KeyPair{}
		}
		b.Previous = previous(in)
		return b, nil
	case CreateNextCA:
		b.Next, err = newCA(in)
		return b, err
	case IssueLeaf:
		b.Leaf, err = newLeaf(in, b.CA)
		return b, err
	case Promote:
		b.Previous, b.CA, b.Next = previous(in), b.Next, KeyPair{}
	case Regenerate:
		b.Previous, b.Next = previous(in), KeyPair{}
		if b.CA, err = newCA(in); err != nil {
			return Bundle{}, err
		}
	default:
		return Bundle{}, fmt.Errorf("perform %q: unknown action", action)
	}
	b.Previous = slices.DeleteFunc(b.Previous, b.CA.Certificate.Equal)
	b.Leaf, err = newLeaf(in, b.CA)
	return b, err
}

// previous returns the CAs that stay trusted beside a new one, because a replica may still serve a leaf that one of
// them signed. The signer of the current leaf comes first, so that the bound never drops it.
func previous(in Input) []*x509.Certificate {
	candidates := slices.Concat([]*x509.Certificate{issuer(in.Bundle), in.Bundle.CA.Certificate}, in.Bundle.Previous)
	var kept []*x509.Certificate
	for _, ca := range candidates {
		if ca != nil && !in.Now.After(ca.NotAfter) && !contains(kept, ca) && len(kept) < maxPrevious {
			kept = append(kept, ca)
		}
	}
	return kept
}

// newCA creates a CA that can sign leaves and nothing else.
func newCA(in Input) (KeyPair, error) {
	notBefore, notAfter := in.Now.Add(-in.Policy.Backdate), in.Now.Add(in.Policy.CAValidity)
	template := &x509.Certificate{
		// The time is for readers; programs tell CAs apart by their key identifier.
		Subject:               pkix.Name{CommonName: "fairlead-ca@" + in.Now.UTC().Format(time.RFC3339)},
		NotBefore:             notBefore,
		NotAfter:              notAfter,
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	return issue(template, KeyPair{})
}

// newLeaf creates a leaf that does not outlive its CA.
func newLeaf(in Input, ca KeyPair) (KeyPair, error) {
	notAfter := in.Now.Add(in.Policy.LeafValidity)
	if notAfter.After(ca.Certificate.NotAfter) {
		notAfter = ca.Certificate.NotAfter
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "fairlead"},
		NotBefore:             in.Now.Add(-in.Policy.Backdate),
		NotAfter:              notAfter,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		DNSNames:              in.Names.DNSNames,
		IPAddresses:           in.Names.IPs,
	}
	return issue(template, ca)
}

// issue creates a key and its certificate, signed by the CA, or self-signed if there is none. The serial number is
// random, because the template has none.
func issue(template *x509.Certificate, ca KeyPair) (KeyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return KeyPair{}, fmt.Errorf("generate key: %w", err)
	}
	parent, signer := template, crypto.Signer(key)
	if ca.Certificate != nil {
		parent, signer = ca.Certificate, ca.Key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return KeyPair{}, fmt.Errorf("create certificate: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return KeyPair{}, fmt.Errorf("parse certificate: %w", err)
	}
	return KeyPair{Certificate: certificate, Key: key}, nil
}

// restore completes a damaged bundle from the last good one that this process has seen: the leaf that it serves, and
// the CAs that make clients trust it. It does not restore the keys of CAs: a CA that was removed gets a successor.
func restore(damaged, remembered Bundle, now time.Time) Bundle {
	known := damaged.CAs()
	for _, ca := range remembered.CAs() {
		if !contains(known, ca) {
			damaged.Previous = append(slices.Clip(damaged.Previous), ca)
		}
	}
	if verify(damaged, now) != nil {
		candidate := damaged
		candidate.Leaf = remembered.Leaf
		if verify(candidate, now) == nil {
			damaged = candidate
		}
	}
	damaged.Previous = previous(Input{Bundle: damaged, Now: now})
	return damaged
}

// equal reports whether two encoded bundles are the same. Other keys of the Secret do not count.
func equal(a, b map[string][]byte) bool {
	for _, key := range keys() {
		if !bytes.Equal(a[key], b[key]) {
			return false
		}
	}
	return true
}

func keys() []string {
	return []string{
		KeyLeafCertificate, KeyLeafKey, KeyCABundle, KeyCACertificate, KeyCAKey, KeyNextCertificate, KeyNextKey,
	}
}
