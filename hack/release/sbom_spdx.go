// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

const unstated = "NOASSERTION"

func spdxDocument(r *release, p product) ([]byte, error) {
	product := &spdx.Package{
		PackageName: p.name, PackageSPDXIdentifier: "product", PackageVersion: p.version, PackageDownloadLocation: unstated,
		PackageLicenseConcluded: "Apache-2.0", PackageLicenseDeclared: "Apache-2.0", PackageCopyrightText: unstated,
		PrimaryPackagePurpose:     map[string]string{"application": "APPLICATION", "container": "CONTAINER"}[p.kind],
		PackageChecksums:          []common.Checksum{{Algorithm: common.SHA256, Value: p.sha256}},
		PackageExternalReferences: []*spdx.PackageExternalReference{purlReference(p.purl)},
	}
	document := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName: p.file,
		// Unique for each document, and the same for each run.
		DocumentNamespace: fmt.Sprintf("%s/%s/%s-%s.spdx.json", r.downloads, r.version, p.file, p.sha256[:16]),
		CreationInfo: &spdx.CreationInfo{
			Created:  r.commit.time.Format(time.RFC3339),
			Creators: []common.Creator{{CreatorType: "Organization", Creator: "The Fairlead Authors"}, {CreatorType: "Tool", Creator: "hack/release"}},
		},
		Packages:      []*spdx.Package{product},
		Relationships: []*spdx.Relationship{relation("DOCUMENT", common.TypeRelationshipDescribe, "product")},
	}
	for i, c := range p.components {
		id := fmt.Sprintf("component-%d", i+1)
		document.Packages = append(document.Packages, &spdx.Package{
			PackageName: c.name, PackageSPDXIdentifier: common.ElementID(id), PackageVersion: c.version, PackageDownloadLocation: unstated,
			PackageLicenseConcluded: unstated, PackageLicenseDeclared: unstated, PackageCopyrightText: unstated,
			PackageExternalReferences: []*spdx.PackageExternalReference{purlReference(c.purl())},
		})
		document.Relationships = append(document.Relationships, relation("product", common.TypeRelationshipContains, id))
	}
	var content bytes.Buffer
	err := json.Write(document, &content, json.Indent("  "))
	return content.Bytes(), err
}

func purlReference(purl string) *spdx.PackageExternalReference {
	return &spdx.PackageExternalReference{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: purl}
}

func relation(from, kind, to string) *spdx.Relationship {
	return &spdx.Relationship{RefA: common.MakeDocElementID("", from), Relationship: kind, RefB: common.MakeDocElementID("", to)}
}
