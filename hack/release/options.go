// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/mod/semver"
)

type options struct {
	version, registry, downloads, source, builder string
	root, dist                                    string
	privateKey, password                          string
}

func (o options) validate() error {
	if !semver.IsValid(o.version) || semver.Canonical(o.version) != o.version {
		return fmt.Errorf("the version is %q, but must be a semantic version such as v0.2.0", o.version)
	}
	if o.registry == "" || strings.HasSuffix(o.registry, "/") {
		return fmt.Errorf("the registry is %q, but must be a name such as registry.example.com/fairlead", o.registry)
	}
	if o.dist == "" || o.dist == o.root {
		return errors.New("dist must be a directory of its own: it is deleted first")
	}
	return nil
}

// release is what the steps share.
type release struct {
	options
	commit commit
	out    io.Writer

	binaries []binary
	archives []archive
	images   []image
}
