// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

func cycloneDX(r *release, p product) ([]byte, error) {
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: r.commit.time.Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: p.purl, Type: cyclonedx.ComponentType(p.kind), Name: p.name, Version: p.version, PackageURL: p.purl,
			Hashes:   &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: p.sha256}},
			Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
		},
	}
	components := make([]cyclonedx.Component, len(p.components))
	references := make([]string, len(p.components))
	for i, c := range p.components {
		components[i] = cyclonedx.Component{BOMRef: c.purl(), Type: cyclonedx.ComponentTypeLibrary, Name: c.name, Version: c.version, PackageURL: c.purl()}
		references[i] = c.purl()
	}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: p.purl, Dependencies: &references}}

	var content bytes.Buffer
	err := cyclonedx.NewBOMEncoder(&content, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cyclonedx.SpecVersion1_6)
	return content.Bytes(), err
}
