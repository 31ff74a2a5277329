// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"slices"
	"strings"
)

// component is a part of a binary: a Go module, or the standard library.
type component struct {
	name, version string
}

// purl is the package URL, by which scanners find vulnerabilities.
func (c component) purl() string { return "pkg:golang/" + c.name + "@" + c.version }

// product is what an SBOM is about.
type product struct {
	// file is the name of the SBOM without its extension.
	file          string
	name, version string
	// kind is application or container, as CycloneDX calls it.
	kind, purl, sha256 string
	components         []component
}

// writeSBOMs writes what each binary and each image contains, in both common formats. The list comes from the binaries
// themselves: the Go linker writes it there.
func writeSBOMs(_ context.Context, r *release) error {
	products := make([]product, 0, len(r.archives)+len(r.images))
	for _, a := range r.archives {
		components, err := contents(a.file)
		if err != nil {
			return err
		}
		program, err := os.ReadFile(a.file)
		if err != nil {
			return err
		}
		products = append(products, product{
			file: strings.TrimSuffix(strings.TrimSuffix(a.name, ".tar.gz"), ".zip"), name: a.command, version: r.version, kind: "application",
			purl:   fmt.Sprintf("pkg:generic/%s@%s?arch=%s&os=%s", a.command, r.version, a.arch, a.os),
			sha256: fmt.Sprintf("%x", sha256.Sum256(program)), components: components,
		})
	}
	for _, i := range r.images {
		var components []component
		for _, b := range i.binaries {
			found, err := contents(b.file)
			if err != nil {
				return err
			}
			components = append(components, found...)
		}
		products = append(products, product{
			file: i.command + "_" + r.version + "_image", name: i.command, version: r.version, kind: "container",
			purl:   fmt.Sprintf("pkg:oci/%s@%s?repository_url=%s/%s", i.command, i.digest, r.registry, i.command),
			sha256: i.digest.Hex, components: distinct(components),
		})
	}
	for _, p := range products {
		for extension, encode := range map[string]func(*release, product) ([]byte, error){".cdx.json": cycloneDX, ".spdx.json": spdxDocument} {
			content, err := encode(r, p)
			if err != nil {
				return fmt.Errorf("write the SBOM of %s: %w", p.file, err)
			}
			if err := r.write(p.file+extension, content); err != nil {
				return err
			}
		}
	}
	return nil
}

// contents reads which modules a binary was linked from.
func contents(file string) ([]component, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read what %s was linked from: %w", file, err)
	}
	components := []component{{"stdlib", strings.TrimPrefix(info.GoVersion, "go")}}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		// The operator's own module, of which a plugin may be a neighbour, is the product itself.
		if strings.HasPrefix(module.Path, ".") || module.Version == "" || module.Version == "(devel)" {
			continue
		}
		components = append(components, component{module.Path, module.Version})
	}
	return distinct(components), nil
}

func distinct(components []component) []component {
	slices.SortFunc(components, func(a, b component) int { return strings.Compare(a.purl(), b.purl()) })
	return slices.Compact(components)
}
