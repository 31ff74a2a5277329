// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"time"
)

// Names are the DNS names and IP addresses for which a leaf is valid.
type Names struct {
	DNSNames []string
	IPs      []net.IP
}

// ServiceNames returns the names of a Service within the cluster. The API server calls it by the one that ends in
// .svc.
func ServiceNames(service, namespace string) Names {
	qualified := service + "." + namespace
	return Names{DNSNames: []string{qualified + ".svc", qualified, service, qualified + ".svc.cluster.local"}}
}

// Policy sets the lifetimes of certificates. The zero value is not valid; start with [DefaultPolicy].
type Policy struct {
	// CAValidity is the lifetime of a CA. The rotator creates the next one after two thirds of it.
	CAValidity time.Duration
	// LeafValidity is the lifetime of a leaf. The rotator replaces a leaf after two thirds of it. LeafValidity and
	// Overlap must fit in the last third of CAValidity, because a leaf cannot outlive its CA.
	LeafValidity time.Duration
	// Backdate moves NotBefore into the past, for API servers whose clock is behind the leader's.
	Backdate time.Duration
	// Overlap is how long the caBundle has the next CA before servers present a leaf of it. In this time every API
	// server must observe the new caBundle.
	Overlap time.Duration
}

// DefaultPolicy returns the policy for production.
func DefaultPolicy() Policy {
	const day = 24 * time.Hour
	return Policy{CAValidity: 365 * day, LeafValidity: 90 * day, Backdate: 10 * time.Minute, Overlap: time.Hour}
}

// KeyPair is a certificate and its key. Either may be nil.
type KeyPair struct {
	Certificate *x509.Certificate
	Key         crypto.Signer
}

// Bundle holds the certificates of one moment. The zero value is empty.
type Bundle struct {
	// Leaf is the certificate that the servers present.
	Leaf KeyPair
	// CA signs leaves.
	CA KeyPair
	// Next is the CA that clients already trust. It signs nothing until it becomes CA.
	Next KeyPair
	// Previous are CAs that clients still trust, because a replica may serve a leaf that one of them signed.
	Previous []*x509.Certificate
}

// CAs returns the certificates that clients must trust, the caBundle: each once, the newest first. Roles do not
// affect the order, so a promotion does not change the caBundle.
func (b Bundle) CAs() []*x509.Certificate {
	var cas []*x509.Certificate
	for _, ca := range slices.Concat([]*x509.Certificate{b.CA.Certificate, b.Next.Certificate}, b.Previous) {
		if ca != nil && !contains(cas, ca) {
			cas = append(cas, ca)
		}
	}
	slices.SortFunc(cas, func(x, y *x509.Certificate) int {
		return cmp.Or(y.NotBefore.Compare(x.NotBefore), bytes.Compare(x.Raw, y.Raw))
	})
	return cas
}

func contains(certificates []*x509.Certificate, certificate *x509.Certificate) bool {
	return slices.ContainsFunc(certificates, func(other *x509.Certificate) bool { return bytes.Equal(other.Raw, certificate.Raw) })
}

// validate refuses policies under which the rotator would create certificates in a loop, or too late.
func (p Policy) validate() error {
	switch {
	case p.CAValidity <= 0 || p.LeafValidity <= 0 || p.Backdate < 0 || p.Overlap < 0:
		return fmt.Errorf("certificate policy %+v: validities must be positive, and the other durations must not be negative", p)
	case p.LeafValidity+p.Overlap > p.CAValidity/3:
		return fmt.Errorf("certificate policy: LeafValidity (%s) and Overlap (%s) must fit in the last third of CAValidity (%s)",
			p.LeafValidity, p.Overlap, p.CAValidity)
	case p.Backdate > p.LeafValidity/2:
		return fmt.Errorf("certificate policy: Backdate (%s) must be at most half of LeafValidity (%s)", p.Backdate, p.LeafValidity)
	}
	return nil
}
