// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/scheme"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// decode decodes as a watch does.
func decode(data string) (*v1.Application, error) {
	codecs := tolerant{rest.CodecFactoryForGeneratedClient(scheme.Scheme, scheme.Codecs).WithoutConversion()}
	object, _, err := codecs.DecoderToVersion(codecs.SupportedMediaTypes()[0].Serializer, v1.SchemeGroupVersion).Decode([]byte(data), nil, nil)
	application, _ := object.(*v1.Application)
	return application, err
}

func object(rest string) string {
	return `{"apiVersion":"apps.fairlead.dev/v1","kind":"Application",` + rest + `}`
}

func TestPrune(t *testing.T) {
	for name, test := range map[string]struct{ rest, fields string }{
		"a string for an object":   {`"metadata":{"name":"a"},"spec":"x"`, "spec"},
		"an object for a string":   {`"metadata":{"name":"a"},"spec":{"image":{"b":{"c":1}}}`, "spec.image"},
		"a list for an object":     {`"metadata":{"name":"a"},"spec":{"service":[1]}`, "spec.service"},
		"an element of a list":     {`"metadata":{"name":"a"},"spec":{"args":["a",1,"b"]}`, "spec.args[1]"},
		"a field of an element":    {`"metadata":{"name":"a"},"spec":{"env":[{"name":"A"},{"name":"B","value":1}]}`, "spec.env[1].value"},
		"a key with a dot":         {`"metadata":{"name":"a"},"spec":{"resources":{"limits":{"example.com/gpu":"x"}}}`, "spec.resources.limits[example.com/gpu]"},
		"a fraction":               {`"metadata":{"name":"a"},"spec":{"replicas":1.5}`, "spec.replicas"},
		"an exponent":              {`"metadata":{"name":"a"},"spec":{"replicas":1e30}`, "spec.replicas"},
		"hostile metadata":         {`"metadata":{"name":"a","labels":{"a":5},"creationTimestamp":"x","finalizers":"y"}`, "metadata.creationTimestamp metadata.finalizers metadata.labels.a"},
		"a status":                 {`"metadata":{"name":"a"},"status":{"replicas":"x","conditions":[{"type":"Ready","lastTransitionTime":"x"}]}`, "status.conditions[0].lastTransitionTime status.replicas"},
		"nothing but the envelope": {`"metadata":{"name":"a"},"spec":7,"status":[]`, "spec status"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decode(object(test.rest))
			if err != nil {
				t.Fatal(err)
			}
			var fields []string
			for _, err := range got.DecodeErrors {
				fields = append(fields, err.Field)
			}
			if joined := strings.Join(fields, " "); got.Name != "a" || joined != test.fields {
				t.Errorf("%q without %s, want it without %s", got.Name, joined, test.fields)
			}
		})
	}
}

// TestNothingToPrune expects client-go's error if no field is to blame.
func TestNothingToPrune(t *testing.T) {
	for _, data := range []string{``, `{`, `[]`, `7`, `{}`, `{"kind":5}`, `{"apiVersion":"apps.fairlead.dev/v1","kind":"Nothing","spec":1}`} {
		if got, err := decode(data); err == nil {
			t.Errorf("%q is decoded as %v", data, got)
		}
	}
}

// TestErrorsAreBounded has more and larger errors than a status can show.
func TestErrorsAreBounded(t *testing.T) {
	long := strings.Repeat("é", 10_000)
	var env []string
	for i := range 5000 {
		env = append(env, fmt.Sprintf(`{"name":"A%d","value":{%q:1}}`, i, long[:20]))
	}
	got, err := decode(object(`"metadata":{"name":"a"},"spec":{"resources":{"limits":{"cpu":"` + long + `"}},"env":[` + strings.Join(env, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.DecodeErrors) != maxErrors+1 || !v1.Undecoded(got.DecodeErrors, "spec.deletionPolicy") {
		t.Errorf("%d errors, want %d and that the whole spec is given up", len(got.DecodeErrors), maxErrors)
	}
	for _, err := range got.DecodeErrors {
		if len(err.Value) > maxValue+len("…") {
			t.Errorf("a value of %d bytes", len(err.Value))
		}
	}
}

// FuzzDecode checks that the decoder agrees with client-go on what client-go can decode, and never panics.
func FuzzDecode(f *testing.F) {
	for _, data := range []string{good, bad, object(`"metadata":{"name":"a"},"items":[]`), `{"items":[{}]}`, `{"items":7}`} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data string) {
		got, err := decode(data)
		if err == nil && got == nil {
			return // Another kind.
		}
		if err == nil && len(got.DecodeErrors) == 0 {
			if _, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(data), nil, nil); err != nil {
				t.Errorf("%q: client-go says %v", data, err)
			}
		}
	})
}
