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

// Names are what a leaf is valid for.
type Names struct {
	DNSNames []string
	IPs      []net.IP
}

// ServiceNames returns the names under which the API server, and others in the cluster, call a
// Service. The API server uses the one that ends in .svc.
func ServiceNames(service, namespace string) Names {
	qualified := service + "." + namespace
	return Names{DNSNames: []string{qualified + ".svc", qualified, service, qualified + ".svc.cluster.local"}}
}

// Policy says how long certificates live. The zero value is no policy; start with [DefaultPolicy].
type Policy struct {
	// CAValidity is the lifetime of a CA. Its successor is made after two thirds of it.
	CAValidity time.Duration
	// LeafValidity is the lifetime of a leaf, replaced after two thirds of it. It must leave room for
	// Overlap in the last third of CAValidity: a leaf cannot outlive its CA.
	LeafValidity time.Duration
	// Backdate is how long before its making a certificate becomes valid, for API servers whose clock
	// is behind that of the leader.
	Backdate time.Duration
	// Overlap is how long the caBundle has the next CA before a leaf of it is served. It is the time
	// that every API server has to notice a new caBundle.
	Overlap time.Duration
}

// DefaultPolicy is the one for production.
func DefaultPolicy() Policy {
	const day = 24 * time.Hour
	return Policy{CAValidity: 365 * day, LeafValidity: 90 * day, Backdate: 10 * time.Minute, Overlap: time.Hour}
}

// KeyPair is a certificate with its key. Each may be missing (nil).
type KeyPair struct {
	Certificate *x509.Certificate
	Key         crypto.Signer
}

// Bundle is everything there is at one moment. The zero value is nothing.
type Bundle struct {
	// Leaf is what the servers present.
	Leaf KeyPair
	// CA signs leaves.
	CA KeyPair
	// Next is trusted already, and signs nothing before it has become CA.
	Next KeyPair
	// Previous are trusted still, because leaves that they signed may be served somewhere.
	Previous []*x509.Certificate
}

// CAs returns the certificates that clients have to trust: the caBundle. Each is there once, the newest
// first. The order does not depend on their roles, so that a promotion leaves the caBundle alone.
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

// validate finds policies under which certificates would be made in a loop, or too late.
func (p Policy) validate() error {
	switch {
	case p.CAValidity <= 0 || p.LeafValidity <= 0 || p.Backdate < 0 || p.Overlap < 0:
		return fmt.Errorf("certificate policy %+v: validities must be positive, and nothing negative", p)
	case p.LeafValidity+p.Overlap > p.CAValidity/3:
		return fmt.Errorf("certificate policy: LeafValidity (%s) and Overlap (%s) must fit in the last third of CAValidity (%s)",
			p.LeafValidity, p.Overlap, p.CAValidity)
	case p.Backdate > p.LeafValidity/2:
		return fmt.Errorf("certificate policy: Backdate (%s) must be at most half of LeafValidity (%s)", p.Backdate, p.LeafValidity)
	}
	return nil
}
