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

// Name names the source of the certificate in logs.
func (s *serving) Name() string { return s.name }

// CurrentCertKeyContent returns the leaf and its key, PEM encoded, or nil before there is one.
func (s *serving) CurrentCertKeyContent() (certificate, key []byte) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.encoded[KeyLeafCertificate], s.encoded[KeyLeafKey]
}

// CABundle returns the CAs of the served bundle.
func (s *serving) CABundle() []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.encoded[KeyCABundle]
}

// AddListener adds a listener, which is notified when the certificate may have changed.
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

// serve starts to serve a bundle if this replica may, and notifies the listeners if the bundle is new.
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

// checkServable returns why this replica must not replace current by offered. The leader checks the names and the
// remaining lifetime. A replica checks one thing: it keeps a leaf that clients accept rather than serve one that no
// client accepts.
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
