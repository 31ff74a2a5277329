// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// The keys of the Secret. The first three are those of Secrets of type kubernetes.io/tls, and those that
// cert-manager writes, so that other components can use them: a ServiceMonitor, for example.
const (
	KeyLeafCertificate = "tls.crt"
	KeyLeafKey         = "tls.key"
	// KeyCABundle has every CA to trust, including the next one and the previous ones.
	KeyCABundle = "ca.crt"
	// KeyCACertificate and KeyCAKey are the CA that signs.
	KeyCACertificate = "signer.crt"
	KeyCAKey         = "signer.key"
	// KeyNextCertificate and KeyNextKey are the CA that will sign. Most of the time they are absent.
	KeyNextCertificate = "next-signer.crt"
	KeyNextKey         = "next-signer.key"
)

// encode returns the data of the Secret. Equal bundles give equal bytes.
func encode(b Bundle) (map[string][]byte, error) {
	data := map[string][]byte{}
	for _, pair := range []struct {
		certificate, key string
		pair             KeyPair
	}{
		{KeyLeafCertificate, KeyLeafKey, b.Leaf},
		{KeyCACertificate, KeyCAKey, b.CA},
		{KeyNextCertificate, KeyNextKey, b.Next},
	} {
		if pair.pair.Certificate != nil {
			certificate, err := cert.EncodeCertificates(pair.pair.Certificate)
			if err != nil {
				return nil, fmt.Errorf("encode %s: %w", pair.certificate, err)
			}
			data[pair.certificate] = certificate
		}
		if pair.pair.Key != nil {
			key, err := keyutil.MarshalPrivateKeyToPEM(pair.pair.Key)
			if err != nil {
				return nil, fmt.Errorf("encode %s: %w", pair.key, err)
			}
			data[pair.key] = key
		}
	}
	if cas := b.CAs(); len(cas) > 0 {
		bundle, err := cert.EncodeCertificates(cas...)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", KeyCABundle, err)
		}
		data[KeyCABundle] = bundle
	}
	return data, nil
}

// decode returns the usable parts of a bundle. The error names the parts that it left out, so the bundle counts even
// if there is an error.
func decode(data map[string][]byte) (Bundle, error) {
	var b Bundle
	var errs []error
	for _, pair := range []struct {
		certificate, key string
		into             *KeyPair
		optional         bool
	}{
		{KeyLeafCertificate, KeyLeafKey, &b.Leaf, false},
		{KeyCACertificate, KeyCAKey, &b.CA, false},
		{KeyNextCertificate, KeyNextKey, &b.Next, true},
	} {
		if pair.optional && len(data[pair.certificate]) == 0 && len(data[pair.key]) == 0 {
			continue
		}
		decoded, err := decodePair(data[pair.certificate], data[pair.key])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s and %s: %w", pair.certificate, pair.key, err))
		}
		*pair.into = decoded
	}
	for _, signer := range []*KeyPair{&b.CA, &b.Next} {
		if signer.Certificate != nil && !signer.Certificate.IsCA {
			errs = append(errs, fmt.Errorf("%s is not a CA", signer.Certificate.Subject))
			*signer = KeyPair{}
		}
	}
	known := b.CAs()
	cas, err := cert.ParseCertsPEM(data[KeyCABundle])
	if err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", KeyCABundle, err))
	}
	for _, ca := range cas {
		if ca.IsCA && !contains(known, ca) {
			b.Previous = append(b.Previous, ca)
		}
	}
	return b, utilerrors.NewAggregate(errs) // One line, for the log.
}

// decodePair decodes a certificate and its key. A certificate without a usable key still counts, because clients can
// trust it.
func decodePair(certificatePEM, keyPEM []byte) (KeyPair, error) {
	certificates, err := cert.ParseCertsPEM(certificatePEM)
	if err != nil {
		return KeyPair{}, err
	}
	pair := KeyPair{Certificate: certificates[0]}
	parsed, err := keyutil.ParsePrivateKeyPEM(keyPEM)
	if err != nil {
		return pair, err
	}
	key, ok := parsed.(crypto.Signer)
	if !ok {
		return pair, fmt.Errorf("a key of type %T cannot sign", parsed)
	}
	if !belongs(key, certificates[0]) {
		return pair, errors.New("the key does not belong to the certificate")
	}
	pair.Key = key
	return pair, nil
}

func belongs(key crypto.Signer, certificate *x509.Certificate) bool {
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	return err == nil && bytes.Equal(public, certificate.RawSubjectPublicKeyInfo)
}
