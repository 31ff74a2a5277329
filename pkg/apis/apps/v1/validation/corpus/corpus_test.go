// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package corpus_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation/corpus"
)

var update = flag.Bool("update", false, "write the layer and errors at the head of the files anew")

// Every file is refused by the layer that it names, with the errors that it names, and by no
// earlier one.
func TestEverythingIsRefusedAsEarlyAsCanBe(t *testing.T) {
	checker := newChecker(t)
	cases, err := corpus.Cases()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 150 {
		t.Errorf("there are %d cases, but at least 150 are wanted", len(cases))
	}
	counts := map[corpus.Layer]int{}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			got := corpus.Case{Name: c.Name, Object: c.Object}
			got.Layer, got.Errors = checker.refuse(t, c.Object)
			if got.Layer == "" {
				t.Fatal("no layer refuses it")
			}
			counts[got.Layer]++
			if *update {
				file := filepath.Join("invalid", filepath.FromSlash(c.Name)+".yaml")
				if err := os.WriteFile(file, []byte(got.Format()), 0o644); err != nil { //nolint:gosec // a file of the repository
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(c, got); diff != "" {
				t.Errorf("refused otherwise (-file +seen); -update writes what was seen:\n%s", diff)
			}
		})
	}
	t.Logf("%d cases: %v", len(cases), counts)
}
