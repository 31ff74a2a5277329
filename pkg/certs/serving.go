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

// serving is the bundle that this process serves. Both stores embed it.
type serving struct {
	name string

	mu        sync.RWMutex
	bundle    Bundle
	encoded   map[string][]byte // of bundle
	listeners []dynamiccertificates.Listener
}

// Name is the source of the certificate in logs.
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

// AddListener adds a listener for possible changes.
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

// serve serves a bundle from now on, if it is fit to be served, and tells the listeners if it is new.
func (s *serving) serve(bundle Bundle, now time.Time) error {
	encoded, err := encode(bundle)
	if err != nil {
		return err
	}
	changed, err := s.replace(bundle, encoded, now)
	if err == nil && changed {
		s.notify()
	}
	return err
}

func (s *serving) replace(bundle Bundle, encoded map[string][]byte, now time.Time) (changed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := checkServable(bundle, s.bundle, now); err != nil {
		return false, err
	}
	changed = !equal(encoded, s.encoded)
	s.bundle, s.encoded = bundle, encoded
	return changed, nil
}

// notify calls the listeners. They may call back, so it holds no lock.
func (s *serving) notify() {
	s.mu.RLock()
	listeners := slices.Clone(s.listeners)
	s.mu.RUnlock()
	for _, listener := range listeners {
		listener.Enqueue()
	}
}

// checkServable returns why this replica must not serve offered instead of current. The leader checks the names and the
// remaining lifetime; a replica only must not serve a leaf that no client accepts while it has one that they accept.
func checkServable(offered, current Bundle, now time.Time) error {
	if offered.Leaf.Certificate == nil || offered.Leaf.Key == nil {
		return errors.New("there is no usable leaf")
	}
	if issuer(offered) == nil {
		return errors.New("the leaf is not signed by a CA of the bundle")
	}
	if err := checkValidity(offered.Leaf.Certificate, now); err != nil && current.Leaf.Certificate != nil && checkValidity(current.Leaf.Certificate, now) == nil {
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
