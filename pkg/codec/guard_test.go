// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"strings"
	"testing"
)

// TestCostlyQuantities would not end if the decoder parsed one of them.
func TestCostlyQuantities(t *testing.T) {
	for _, quantity := range []string{
		"1e-999999999", "1E-999999999", "-.5e-999999999", "1e999999999", " 1e-999999999 ", "+1e-999999999", strings.Repeat("9", 1_000_000), "0." + strings.Repeat("9", 1_000_000) + "Ki",
	} {
		got, err := decode(object(`"metadata":{"name":"a"},"spec":{"image":"web:1","resources":{"limits":{"cpu":"` + quantity + `","memory":"1Gi"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.DecodeErrors) != 1 || got.DecodeErrors[0].Field != "spec.resources.limits.cpu" || !strings.HasPrefix(quantity, strings.TrimSuffix(got.DecodeErrors[0].Value, "…")) {
			t.Errorf("%.20q has the errors %v", quantity, got.DecodeErrors)
		}
		if got.Spec.Image != "web:1" || got.Spec.Resources.Limits.Memory().String() != "1Gi" {
			t.Errorf("%.20q: the spec is %v", quantity, got.Spec)
		}
	}
}

// TestTextsLikeQuantities has texts that would be costly as quantities, such as the hash of a commit.
func TestTextsLikeQuantities(t *testing.T) {
	digits := strings.Repeat("9", 1000)
	got, err := decode(object(`"metadata":{"name":"a"},"spec":{"image":"1e123456","env":[{"name":"DIGITS","value":"` + digits + `"}],"resources":{"limits":{"cpu":"1e3"}}}`))
	if err != nil || len(got.DecodeErrors) > 0 {
		t.Fatalf("%v, errors %v", err, got.DecodeErrors)
	}
	if got.Spec.Image != "1e123456" || got.Spec.Env[0].Value != digits || got.Spec.Resources.Limits.Cpu().Value() != 1000 {
		t.Errorf("the spec is %v", got.Spec)
	}
}

// TestDisarm has what is decoded twice, and what must not be: in UIDs, hashes and digests, an e often comes before digits.
func TestDisarm(t *testing.T) {
	long := strings.Repeat("9", maxDigits+1)
	for text, costly := range map[string]bool{
		"1e-9999": true, "1E9999": true, "-.5e+9999": true, " 1e9999 ": true, "\u2003 1e9999": true, long: true, long + "Ki": true, "1e0000": true, "e9999": true,
		"": false, "1e999": false, "0.5": false, "100m": false, long[1:]: false, "1e9999Ki": false, "1e99x99": false,
		"5e123456-1e12-4e12-8e12-1e1234567890": false, "web:1e123456": false, "sha256:1e123456": false, "v" + long: false, long + ".xyz": false,
		`1e9999\"`: false, `\"1e9999`: false, `\\`: false,
	} {
		for _, rest := range []string{``, `,"b":"1\\","c\"":[1e9999,"d"]`} {
			document := `{"a":"` + text + `"` + rest + `}`
			want := document
			if costly {
				want = `{"a":"?"` + rest + `}`
			}
			if got, found := disarm([]byte(document)); string(got) != want || found != costly {
				t.Errorf("%.60s became %.60s, %t", document, got, found)
			}
		}
	}
	for _, broken := range []string{`{"a`, `{"a\`, `"`, `"1e9999`, `"1e9999\`} {
		if got, found := disarm([]byte(broken)); string(got) != broken || found {
			t.Errorf("%s became %s, %t", broken, got, found)
		}
	}
}
