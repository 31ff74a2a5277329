// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// serving is what this process serves now. Both stores are made on it.
type serving struct {
	name string

	mu        sync.RWMutex
	bundle    Bundle
	encoded   map[string][]byte // of bundle
	listeners []dynamiccertificates.Listener
}

// Name says in logs where the certificate comes from.
func (s *serving) Name() string { return s.name }

// CurrentCertKeyContent returns the leaf and its key, PEM encoded, or nothing before there is one.
func (s *serving) CurrentCertKeyContent() (certificate, key []byte) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.encoded[KeyLeafCertificate], s.encoded[KeyLeafKey]
}

// CABundle returns the CAs that belong to what is served.
func (s *serving) CABundle() []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.encoded[KeyCABundle]
}

// AddListener adds who is told that there may be something new.
func (s *serving) AddListener(listener dynamiccertificates.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, listener)
}

func (s *serving) last() Bundle {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.bundle
}

// offer takes a bundle over if it is fit to be served.
func (s *serving) offer(offered Bundle, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := better(offered, s.bundle, now); err != nil {
		return err
	}
	encoded, err := encode(offered)
	if err != nil {
		return err
	}
	s.bundle, s.encoded = offered, encoded
	return nil
}

// notify tells the listeners. They may call back, so no lock is held.
func (s *serving) notify() {
	s.mu.RLock()
	listeners := slices.Clone(s.listeners)
	s.mu.RUnlock()
	for _, listener := range listeners {
		listener.Enqueue()
	}
}

// better tells what speaks against serving offered instead of current. Whether the names and the
// remaining lifetime are right is for the leader to see to; a replica must only not serve what no
// client would take while it has something that they do.
func better(offered, current Bundle, now time.Time) error {
	if offered.Leaf.Certificate == nil || offered.Leaf.Key == nil {
		return errors.New("there is no usable leaf")
	}
	if issuer(offered) == nil {
		return errors.New("the leaf is not signed by a CA of the bundle")
	}
	if err := within(offered.Leaf.Certificate, now); err != nil && current.Leaf.Certificate != nil && within(current.Leaf.Certificate, now) == nil {
		return fmt.Errorf("the leaf is not valid: %w", err)
	}
	return nil
}

// issuer returns the CA of the bundle that signed its leaf, or nil.
func issuer(b Bundle) *x509.Certificate {
	if b.Leaf.Certificate == nil {
		return nil
	}
	for _, ca := range b.CAs() {
		if b.Leaf.Certificate.CheckSignatureFrom(ca) == nil {
			return ca
		}
	}
	return nil
}
