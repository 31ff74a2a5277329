// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package reference_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/reference"
)

type bytes = map[string][]byte

// Contents that are easily confused have different hashes.
func TestContentsStayApart(t *testing.T) {
	key := []byte("key")
	seen := map[string]string{}
	check := func(name, hash string) {
		t.Helper()
		if other, found := seen[hash]; found {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[hash] = name
	}
	for name, data := range map[string]bytes{
		"nothing": nil, "an empty value": {"a": nil}, "an empty key": {"": []byte("a")},
		"a=bc": {"a": []byte("bc")}, "ab=c": {"ab": []byte("c")}, "b=ac": {"b": []byte("ac")},
		"two keys": {"a": []byte("b"), "c": nil}, "their values exchanged": {"a": nil, "c": []byte("b")},
	} {
		check(name, reference.OfSecret(&corev1.Secret{Data: data}, key).Hash)
		if len(data) > 0 {
			check(name+", another key", reference.OfSecret(&corev1.Secret{Data: data}, []byte("other")).Hash)
		}
	}
	check("a ConfigMap", reference.OfConfigMap(&corev1.ConfigMap{Data: map[string]string{"a": "bc"}}).Hash)
	check("a ConfigMap in binary", reference.OfConfigMap(&corev1.ConfigMap{BinaryData: bytes{"a": []byte("bc")}}).Hash)
}

// Metadata does not count as content.
func TestMetadataIsNoContent(t *testing.T) {
	key := []byte("key")
	secret := &corev1.Secret{Data: bytes{"b": []byte("2"), "a": []byte("1")}}
	labelled := secret.DeepCopy()
	labelled.ObjectMeta = metav1.ObjectMeta{Labels: map[string]string{"a": "b"}, ResourceVersion: "7", Annotations: map[string]string{"c": "d"}}
	if diff := cmp.Diff(reference.OfSecret(secret, key), reference.OfSecret(labelled, key)); diff != "" {
		t.Errorf("with metadata (-without +with):\n%s", diff)
	}
	labelled.Immutable = new(true)
	got := reference.OfSecret(labelled, key)
	if !got.Immutable || got.Hash != reference.OfSecret(secret, key).Hash {
		t.Errorf("immutable it is %+v", got)
	}
	if diff := cmp.Diff([]string{"c", "z"}, got.Missing([]string{"a", "b", "c", "z"})); diff != "" {
		t.Errorf("missing keys (-want +got):\n%s", diff)
	}
	// Deployments of running pods have these hashes. Computing them differently would replace all pods.
	keys := []string{"a", "b"}
	if got := reference.OfSecret(secret, key); got.Hash != pinnedSecret || !cmp.Equal(got.Keys, keys) {
		t.Errorf("the hash of a Secret is %s, want %s", got.Hash, pinnedSecret)
	}
	configMap := &corev1.ConfigMap{Data: map[string]string{"a": "1"}, BinaryData: bytes{"b": {2}}}
	if got := reference.OfConfigMap(configMap); got.Hash != pinnedConfigMap || !cmp.Equal(got.Keys, keys) {
		t.Errorf("the hash of a ConfigMap is %s with the keys %v, want %s", got.Hash, got.Keys, pinnedConfigMap)
	}
}

const (
	pinnedSecret    = "b35e9878d5051d2b4cea76bf8f5109a6"
	pinnedConfigMap = "667be5da6b3a45728bbb3636816d70ca"
)

// Anything that would change the hash, or what was checked with it, changes the digest.
func TestDigest(t *testing.T) {
	references := []reference.Reference{{Kind: reference.Secret, Name: "a", Required: true, Keys: []string{"k"}}, {Kind: reference.Secret, Name: "b"}}
	versions := []reference.Version{{UID: "1", ResourceVersion: "1"}, {}}
	base := reference.Digest("hash", references, versions)
	if again := reference.Digest("hash", references, versions); again != base {
		t.Errorf("the same has the digests %s and %s", base, again)
	}
	for name, other := range map[string]string{
		"the hash":           reference.Digest("other", references, versions),
		"a version":          reference.Digest("hash", references, []reference.Version{{UID: "1", ResourceVersion: "2"}, {}}),
		"a UID":              reference.Digest("hash", references, []reference.Version{{UID: "2", ResourceVersion: "1"}, {}}),
		"one that came":      reference.Digest("hash", references, []reference.Version{{UID: "1", ResourceVersion: "1"}, {UID: "3", ResourceVersion: "3"}}),
		"one reference less": reference.Digest("hash", references[:1], versions[:1]),
		"a required key":     reference.Digest("hash", []reference.Reference{{Kind: reference.Secret, Name: "a", Keys: []string{"k", "l"}}, references[1]}, versions),
	} {
		if other == base {
			t.Errorf("another digest was expected for %s", name)
		}
	}
}

func TestCombine(t *testing.T) {
	references := []reference.Reference{{Kind: reference.Secret, Name: "a"}, {Kind: reference.Secret, Name: "b"}}
	base := reference.Combine(references, []reference.Content{{Hash: "1"}, {Hash: "2"}})
	if exchanged := reference.Combine(references, []reference.Content{{Hash: "2"}, {Hash: "1"}}); exchanged == base {
		t.Error("exchanged contents have the same hash")
	}
	if absent := reference.Combine(references, []reference.Content{{Hash: "1"}, {}}); absent == base {
		t.Error("an object that is not there has the hash of one that is")
	}
}
