// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestLosersTo finds the Applications that lose a host name to the first one. The sync refuses each of them its routes.
func TestLosersTo(t *testing.T) {
	const host = "x.shared.example.com"
	theirs := func(name string, age int, host string) party { return claimant(name, age, host).ofClass("sharing") }
	for _, test := range []struct {
		name string
		all  []party
		want []string
	}{
		{"a younger one", []party{claimant("a/web", 2, host), theirs("b/web", 1, host)}, []string{"b/web"}},
		{"an older one", []party{claimant("a/web", 1, host), theirs("b/web", 2, host)}, nil},
		{"a younger one that serves it", []party{claimant("a/web", 2, host), theirs("b/web", 1, host).serving(host)}, nil},
		{"both serve it", []party{claimant("a/web", 2, host).serving(host), theirs("b/web", 1, host).serving(host)}, []string{"b/web"}},
		{"one with another path", []party{claimant("a/web", 2, host+"/a"), theirs("b/web", 1, host+"/b")}, []string{"b/web"}},
		{"one of its namespace", []party{claimant("a/web", 2, host), theirs("a/api", 1, host)}, nil},
		{"another host name", []party{claimant("a/web", 2, host), theirs("b/web", 1, "y.shared.example.com")}, nil},
		{"a name below its wildcard", []party{claimant("a/web", 2, "*.shared.example.com"), theirs("b/web", 1, host)}, []string{"b/web"}},
		{"a wildcard above its name", []party{claimant("a/web", 2, host), theirs("b/web", 1, "*.shared.example.com")}, []string{"b/web"}},
		{"one that serves it and asks for something else", []party{claimant("a/web", 2, host).serving(host), theirs("b/web", 1, "else.example.com").serving(host)}, nil},
		{"one that shares nothing, and knows already", []party{claimant("a/web", 2, host), claimant("b/web", 1, host)}, nil},
		{
			"one whose namespace serves a wildcard above it",
			[]party{claimant("a/web", 3, host), theirs("b/web", 1, host), theirs("b/all", 2, "*.shared.example.com").serving("*.shared.example.com")}, nil,
		},
		{
			"one whose namespace serves a name below its wildcard",
			[]party{claimant("a/web", 3, host), theirs("b/web", 1, "*.shared.example.com"), theirs("b/one", 2, host).serving(host)}, []string{"b/web"},
		},
		{"a class that does not allow the host name", []party{claimant("a/web", 2, host).ofClass("strict"), theirs("b/web", 1, host)}, nil},
		{
			"a class that does not allow the host name, which it serves",
			[]party{claimant("a/web", 2, host).ofClass("strict").serving(host), theirs("b/web", 1, host)}, []string{"b/web"},
		},
		{"they share it", []party{theirs("a/web", 2, host), theirs("b/web", 1, host)}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			owners := owners(test.all...)
			losers, err := owners.LosersTo(test.all[0].Application, test.all[0].RouteKeys()[0].Host)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, loser := range losers {
				got = append(got, loser.Namespace+"/"+loser.Name)
				if errs, err := ValidateRouteOwnership(loser, owners); len(errs) == 0 || err != nil {
					t.Errorf("%s keeps its routes (%v)", loser.Name, err)
				}
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("losers (-want +got):\n%s", diff)
			}
		})
	}
}
