// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"runtime"
	"time"
)

const (
	provenanceFile = "provenance.intoto.json"
	// buildType names how the parameters of the provenance lead to the release: hack/release on the commit.
	buildType = "https://fairlead.dev/release/v1"
)

// statement is an in-toto statement with SLSA provenance: which source, compiler and parameters made these files.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     provenance `json:"predicate"`
}

type resource struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

type provenance struct {
	BuildDefinition struct {
		BuildType            string            `json:"buildType"`
		ExternalParameters   map[string]string `json:"externalParameters"`
		ResolvedDependencies []resource        `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
		Metadata struct {
			StartedOn string `json:"startedOn"`
		} `json:"metadata"`
	} `json:"runDetails"`
}

// writeProvenance covers every file, the checksums included, and every image.
func writeProvenance(_ context.Context, r *release) error {
	sums, err := r.checksums()
	if err != nil {
		return err
	}
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for _, sum := range sums {
		s.Subject = append(s.Subject, resource{Name: sum.name, Digest: map[string]string{"sha256": sum.sha256}})
	}
	for _, i := range r.images {
		s.Subject = append(s.Subject, resource{Name: r.registry + "/" + i.command, Digest: map[string]string{"sha256": i.digest.Hex}})
	}
	definition := &s.Predicate.BuildDefinition
	definition.BuildType = buildType
	definition.ExternalParameters = map[string]string{"version": r.version, "registry": r.registry, "downloads": r.downloads}
	definition.ResolvedDependencies = []resource{
		{URI: "git+" + r.source, Digest: map[string]string{"gitCommit": r.commit.hash}},
		{URI: "pkg:generic/go@" + runtime.Version()[len("go"):]},
	}
	s.Predicate.RunDetails.Builder.ID = r.builder
	// The commit's time: the clock would make each run another one.
	s.Predicate.RunDetails.Metadata.StartedOn = r.commit.time.Format(time.RFC3339)
	content, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return r.write(provenanceFile, append(content, '\n'))
}
