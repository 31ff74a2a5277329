// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"math/rand"
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// TestProtobufRoundTrip: every type comes out of protobuf, JSON and YAML as it went in.
func TestProtobufRoundTrip(t *testing.T) {
	scheme, codecs := NewScheme()
	roundtrip.RoundTripTypes(t, scheme, codecs, fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), codecs), nil)
}

// TestProtobufBytes holds the numbers of the fields. Another number for a field is another API.
func TestProtobufBytes(t *testing.T) {
	scheme, _ := NewScheme()
	codec := protobuf.NewRawSerializer(scheme, scheme)
	for _, test := range []struct {
		object runtime.Object
		want   []byte
	}{
		{&v1alpha1.RollbackOptions{Revision: 7}, []byte("\x0a\x10\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x32\x00\x38\x00\x42\x00\x10\x07")},
		{&v1alpha1.RenderOptions{Application: runtime.RawExtension{Raw: []byte("{}")}}, []byte("\x0a\x10\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x32\x00\x38\x00\x42\x00\x12\x04\x0a\x02{}")},
	} {
		var encoded bytes.Buffer
		if err := codec.Encode(test.object, &encoded); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encoded.Bytes(), test.want) {
			t.Errorf("%T: %q, want %q", test.object, encoded.Bytes(), test.want)
		}
	}
}

// TestProtobufIsSmaller holds what the book says of a list of 1,000 views.
func TestProtobufIsSmaller(t *testing.T) {
	list, sizes := someViews(t), map[string]int{}
	for name, codec := range encoders(t) {
		encoded, err := runtime.Encode(codec, list)
		if err != nil {
			t.Fatal(err)
		}
		sizes[name] = len(encoded)
	}
	if share := float64(sizes["protobuf"]) / float64(sizes["JSON"]); share < 0.5 || share > 0.58 {
		t.Errorf("%v bytes: protobuf has %.2f of those of JSON, want 0.54", sizes, share)
	}
}
