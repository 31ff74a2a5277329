// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

const (
	publicKeyFile = "cosign.pub"
	payloadType   = "application/vnd.in-toto+json"
)

// bundle is what `cosign verify-blob --bundle` reads. Without a transparency log, a public key is all that it needs.
type bundle struct {
	MediaType            string `json:"mediaType"`
	VerificationMaterial struct {
		PublicKey struct {
			Hint string `json:"hint"`
		} `json:"publicKey"`
	} `json:"verificationMaterial"`
	MessageSignature *messageSignature `json:"messageSignature,omitempty"`
	Envelope         *dsse.Envelope    `json:"dsseEnvelope,omitempty"`
}

type messageSignature struct {
	Digest struct {
		Algorithm string `json:"algorithm"`
		Digest    []byte `json:"digest"`
	} `json:"messageDigest"`
	Signature []byte `json:"signature"`
}

// signingKey reads the key as `cosign generate-key-pair` writes it, or as plain PKCS #8. It returns nil if there is none.
func (o options) signingKey() (*ecdsa.PrivateKey, error) {
	if o.privateKey == "" {
		return nil, nil
	}
	block, _ := pem.Decode([]byte(o.privateKey))
	if block == nil {
		return nil, errors.New("COSIGN_PRIVATE_KEY has no PEM block; it must be the key itself, not the name of a file")
	}
	der := block.Bytes
	switch block.Type {
	case "ENCRYPTED SIGSTORE PRIVATE KEY", "ENCRYPTED COSIGN PRIVATE KEY":
		var err error
		if der, err = encrypted.Decrypt(der, []byte(o.password)); err != nil {
			return nil, fmt.Errorf("decrypt COSIGN_PRIVATE_KEY with COSIGN_PASSWORD: %w", err)
		}
	case "PRIVATE KEY":
	default:
		return nil, fmt.Errorf("COSIGN_PRIVATE_KEY is of type %q; use a key of cosign generate-key-pair", block.Type)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("parse COSIGN_PRIVATE_KEY: %w", err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("COSIGN_PRIVATE_KEY is a %T; use an ECDSA key, as cosign generates it", parsed)
	}
	return key, nil
}

// sign signs the checksums, which cover every other file, and the provenance. It also writes the public key, for
// completeness: users should have it from elsewhere.
func (r *release) sign(key *ecdsa.PrivateKey) error {
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	if err := r.write(publicKeyFile, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})); err != nil {
		return err
	}
	hint := sha256.Sum256(public)

	sums, err := os.ReadFile(r.path(checksumsFile))
	if err != nil {
		return err
	}
	signed := &messageSignature{}
	digest := sha256.Sum256(sums)
	signed.Digest.Algorithm, signed.Digest.Digest = "SHA2_256", digest[:]
	if signed.Signature, err = signature(key, sums); err != nil {
		return err
	}
	if err := r.writeBundle(checksumsFile, hint[:], bundle{MessageSignature: signed}); err != nil {
		return err
	}

	payload, err := os.ReadFile(r.path(provenanceFile))
	if err != nil {
		return err
	}
	attested, err := signature(key, dsse.PAE(payloadType, payload))
	if err != nil {
		return err
	}
	return r.writeBundle(provenanceFile, hint[:], bundle{Envelope: &dsse.Envelope{
		PayloadType: payloadType,
		Payload:     base64.StdEncoding.EncodeToString(payload),
		Signatures:  []dsse.Signature{{Sig: base64.StdEncoding.EncodeToString(attested)}},
	}})
}

// signature is deterministic (RFC 6979): without a source of randomness, the same key and message give the same bytes.
func signature(key *ecdsa.PrivateKey, message []byte) ([]byte, error) {
	digest := sha256.Sum256(message)
	return key.Sign(nil, digest[:], crypto.SHA256)
}

func (r *release) writeBundle(file string, hint []byte, b bundle) error {
	b.MediaType = "application/vnd.dev.sigstore.bundle.v0.3+json"
	b.VerificationMaterial.PublicKey.Hint = base64.StdEncoding.EncodeToString(hint)
	content, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return r.write(file+".sigstore.json", append(content, '\n'))
}
