// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command release writes everything that a release consists of into dist/. `make release VERSION=v0.2.0` runs it.
//
// The result depends on the commit, the version, the compiler and the key alone: every time is that of the commit, archives
// and images list their files in a fixed order, and signatures are deterministic. TestReproducible compares two runs of a
// small project; `make release-check` compares two runs of this one.
//
// main.go is the table of contents. Each step is a file: binaries, image, chart, install, krew, sbom, notes, checksums,
// provenance, sign.
package main
