// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "testing"

func TestHostsOverlap(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"shop.example.com", "shop.example.com", true},
		{"shop.example.com", "Shop.Example.COM.", true},
		{"shop.example.com", "example.com", false},
		{"shop.example.com", "eshop.example.com", false},
		{"*.example.com", "shop.example.com", true},
		{"*.example.com", "a.b.shop.example.com", true},
		{"*.example.com", "example.com", false},
		{"*.example.com", "notexample.com", false},
		{"*.example.com", "*.example.com", true},
		{"*.example.com", "*.shop.example.com", true},
		{"*.com", "*.shop.example.com", true},
		{"*.a.example.com", "*.b.example.com", false},
	} {
		a, b := CanonicalHost(test.a), CanonicalHost(test.b)
		if HostsOverlap(a, b) != test.want || HostsOverlap(b, a) != test.want {
			t.Errorf("%s and %s: want overlap %t, both ways", test.a, test.b, test.want)
		}
	}
}
