// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Version is one state of one object. The zero Version means that the object does not exist.
type Version struct {
	UID             types.UID
	ResourceVersion string
}

// Exists reports whether the object exists.
func (v Version) Exists() bool { return v.UID != "" }

// Content is what the controller keeps of the content of an object.
type Content struct {
	// Hash is over all keys and values. It is empty if the object does not exist.
	Hash string
	// Keys are the names of the keys, sorted. They are not secret: a Deployment names them too.
	Keys []string
	// Immutable means that the content never changes while the object exists.
	Immutable bool
}

// Missing returns which of the wanted keys the object lacks. wanted is sorted.
func (c Content) Missing(wanted []string) []string {
	var missing []string
	for _, key := range wanted {
		if _, found := slices.BinarySearch(c.Keys, key); !found {
			missing = append(missing, key)
		}
	}
	return missing
}

// OfConfigMap hashes a ConfigMap. The hash has no key, because a user who may read the hash may usually read the
// ConfigMap too.
func OfConfigMap(c *corev1.ConfigMap) Content {
	digest := newDigest(sha256.New())
	digest.number(len(c.Data))
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		digest.text(key)
		digest.text(c.Data[key])
	}
	// BinaryData counts separately, because environment variables come from Data only.
	digest.number(len(c.BinaryData))
	for _, key := range slices.Sorted(maps.Keys(c.BinaryData)) {
		digest.text(key)
		digest.bytes(c.BinaryData[key])
	}
	keys := slices.AppendSeq(slices.Collect(maps.Keys(c.Data)), maps.Keys(c.BinaryData))
	slices.Sort(keys)
	return Content{Hash: digest.String(), Keys: keys, Immutable: c.Immutable != nil && *c.Immutable}
}

// OfSecret hashes a Secret with a key. The hash is on the pods; without the key, a user who may read it cannot use it
// to guess passwords.
func OfSecret(s *corev1.Secret, key []byte) Content {
	digest := newDigest(hmac.New(sha256.New, key))
	digest.number(len(s.Data))
	keys := slices.Sorted(maps.Keys(s.Data))
	for _, key := range keys {
		digest.text(key)
		digest.bytes(s.Data[key])
	}
	return Content{Hash: digest.String(), Keys: keys, Immutable: s.Immutable != nil && *s.Immutable}
}

// Combine returns one hash of the contents of the references, which have the same order.
func Combine(references []Reference, contents []Content) string {
	digest := newDigest(sha256.New())
	for i, r := range references {
		digest.text(string(r.Kind))
		digest.text(r.Name)
		digest.text(contents[i].Hash)
	}
	return digest.String()
}

// Digest returns a short proof that a hash was computed from these versions of the references, with these required
// keys. A change of any of them changes the digest. So while it matches, the hash is that of the current content, and
// no required key is missing.
func Digest(hash string, references []Reference, versions []Version) string {
	digest := newDigest(sha256.New())
	digest.text(hash)
	for i, r := range references {
		digest.text(string(r.Kind))
		digest.text(r.Name)
		digest.number(len(r.Keys))
		for _, key := range r.Keys {
			digest.text(key)
		}
		digest.text(string(versions[i].UID))
		digest.text(versions[i].ResourceVersion)
	}
	return digest.String()
}

// digest writes each value after its length, so that no two lists of values have the same encoding.
type digest struct{ hash hash.Hash }

func newDigest(hash hash.Hash) digest { return digest{hash} }

func (d digest) number(n int) {
	// Hashes never return an error, here and below.
	_, _ = d.hash.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) //nolint:gosec // A length is not negative.
}

func (d digest) text(s string) {
	d.number(len(s))
	_, _ = io.WriteString(d.hash, s)
}

func (d digest) bytes(b []byte) {
	d.number(len(b))
	_, _ = d.hash.Write(b)
}

// String returns the first 128 bits, in hex: enough to distinguish contents, and short enough to read.
func (d digest) String() string { return hex.EncodeToString(d.hash.Sum(nil)[:16]) }
