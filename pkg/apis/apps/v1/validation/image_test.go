// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"
)

func TestImage(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	for _, image := range []string{
		"nginx", "nginx:1.29", "nginx@" + digest, "nginx:1.29@" + digest, "acme/web", "ghcr.io/acme/team/web:v1.2_3-rc.1",
		"localhost/web", "localhost:5000/web:dev", "registry:5000/web", "[2001:db8::1]:5000/web", "Registry.Example.com/web",
		"a__b/c.d-e--f", "nginx@sha512:" + strings.Repeat("0a", 64),
	} {
		if problem := imageProblem(image); problem != "" {
			t.Errorf("%q: %s", image, problem)
		}
	}
	const (
		white      = "must not contain whitespace, control or non-ASCII characters"
		scheme     = "must not have a scheme: write registry/repository:tag, e.g. ghcr.io/acme/web:1.2"
		badDigest  = "the digest after '@' must be sha256: and 64, or sha512: and 128, lower-case hexadecimal digits"
		badTag     = "the tag after ':' must be 1 to 128 letters, digits, '_', '.' and '-', and must not start with '.' or '-'"
		noName     = "must have a repository before the tag or digest"
		repository = "each part of the repository must be lower-case letters and digits, separated by '.', '_', '__' or '-'"
		oneTag     = "must have one tag at most, behind the last '/', as in ghcr.io/acme/web:1.2"
		registry   = "the registry before the first '/' must be a host name with an optional port"
	)
	for image, want := range map[string]string{
		" ":                                   white,
		"nginx ":                              white,
		"nginx\n":                             white,
		"ngïnx":                               white,
		"https://ghcr.io/acme/web":            scheme,
		"docker://nginx":                      scheme,
		"nginx@sha256:12":                     badDigest,
		"nginx@" + strings.ToUpper(digest):    badDigest,
		"nginx@":                              badDigest,
		"nginx@" + digest + "@" + digest:      badDigest,
		"nginx:":                              badTag,
		"nginx:-1":                            badTag,
		"nginx:a:b":                           oneTag,
		"ghcr.io/acme:1/web:2":                oneTag,
		"nginx:" + strings.Repeat("1", 129):   badTag,
		":1.2":                                noName,
		"@" + digest:                          noName,
		"NGINX":                               repository,
		"ghcr.io/Acme/web":                    repository,
		"ghcr.io//web":                        repository,
		"/web":                                repository,
		"web/":                                repository,
		"a___b":                               repository,
		"-a":                                  repository,
		"ghcr.io:port/web":                    registry,
		"ghcr..io/web":                        registry,
		"[::1/web":                            registry,
		strings.Repeat("a", 256):              "registry and repository must be no more than 255 characters",
		"nginx:1" + strings.Repeat(" ", 1020): "must be no more than 1024 bytes",
	} {
		if got := imageProblem(image); got != want {
			t.Errorf("%q: %q, want %q", image, got, want)
		}
	}
}

func TestImages(t *testing.T) {
	run(t, []testCase{{
		name: "of every container",
		spec: `{image: "https://nginx", initContainers: [{name: a}], sidecars: [{name: b, image: "B"}]}`,
		want: []string{
			`spec.image: Invalid value: "https://nginx": must not have a scheme: write registry/repository:tag, e.g. ghcr.io/acme/web:1.2`,
			`spec.initContainers[0].image: Required value: must be an image, e.g. ghcr.io/acme/web:1.2`,
			`spec.sidecars[0].image: Invalid value: "B": each part of the repository must be lower-case letters and digits, separated by '.', '_', '__' or '-'`,
		},
	}})
}
