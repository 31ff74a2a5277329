// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBases(t *testing.T) {
	tests := []struct {
		name, dockerfile string
		want             []string
		err              string
	}{
		{name: "only scratch", dockerfile: "FROM scratch\nCOPY a /a\n"},
		{name: "a platform and a stage", dockerfile: "# FROM comment\nFROM --platform=$BUILDPLATFORM golang:1.26 AS build\nRUN x\nFROM scratch\nCOPY --from=build /a /a\n", want: []string{"golang:1.26"}},
		{name: "a stage upon a stage", dockerfile: "FROM golang:1.26 AS build\nFROM build AS test\nFROM gcr.io/distroless/static\n", want: []string{"golang:1.26", "gcr.io/distroless/static"}},
		{name: "by digest", dockerfile: "FROM golang:1.26@sha256:abc\n", want: []string{"golang:1.26@sha256:abc"}},
		{name: "twice the same, in small letters", dockerfile: "from a:1 as x\nfrom a:1\n", want: []string{"a:1"}},
		{name: "a variable", dockerfile: "ARG BASE\nFROM ${BASE}\n", err: "does not name an image"},
		{name: "nothing", dockerfile: "FROM\n", err: "does not name an image"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := bases(strings.NewReader(test.dockerfile))
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("got %v, want an error with %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

// TestProjectsDockerfile holds as long as its bases are a Go toolchain and nothing: a stand-in for anything else is empty,
// which a base that brings files is not.
func TestProjectsDockerfile(t *testing.T) {
	file, err := os.Open("../../../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	found, err := bases(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, base := range found {
		if !isGo(base) {
			t.Errorf("there is no stand-in for %s: teach standIn what must be in it", base)
		}
	}
}

func TestIsGo(t *testing.T) {
	for image, want := range map[string]bool{
		"golang":                           true,
		"golang:1.26.8":                    true,
		"docker.io/library/golang:1.26.8":  true,
		"localhost:5000/golang@sha256:abc": true,
		"localhost:5000/golang-tools:1":    false,
		"gcr.io/distroless/static:nonroot": false,
	} {
		if got := isGo(image); got != want {
			t.Errorf("isGo(%q) = %t", image, got)
		}
	}
}

func TestNameOfStandIn(t *testing.T) {
	for base, want := range map[string]string{
		"docker.io/library/golang:1.26.8":            "docker.io/library/golang:1.26.8",
		"docker.io/library/golang:1.26.8@sha256:abc": "docker.io/library/golang:1.26.8",
	} {
		if got := nameOfStandIn(base); got != want {
			t.Errorf("nameOfStandIn(%q) = %q, want %q", base, got, want)
		}
	}
}
