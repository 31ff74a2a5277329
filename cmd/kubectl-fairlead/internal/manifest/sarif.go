// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"maps"
	"path/filepath"
	"slices"
)

// SARIF is a log in the Static Analysis Results Interchange Format 2.1.0, as code hosts and editors read it.
type SARIF struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool    sarifTool     `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID               string    `json:"id"`
	ShortDescription sarifText `json:"shortDescription"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifLocation struct {
	PhysicalLocation sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	ArtifactLocation sarifArtifact `json:"artifactLocation"`
	Region           sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

// ToSARIF writes problems as a SARIF log.
func ToSARIF(problems []Problem, version string) SARIF {
	run := sarifRun{Tool: sarifTool{Driver: sarifDriver{Name: "kubectl-fairlead lint", Version: version}}, Results: []sarifResult{}}
	rules := Rules()
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: string(rule), ShortDescription: sarifText{rules[rule]}})
	}
	for _, problem := range problems {
		text := problem.Message
		if problem.Field != "" {
			text = problem.Field + ": " + text
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: string(problem.Rule), Level: level(problem), Message: sarifText{text},
			Locations: []sarifLocation{{sarifPhysical{sarifArtifact{filepath.ToSlash(problem.File)}, sarifRegion{problem.Line}}}},
		})
	}
	return SARIF{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

func level(problem Problem) string {
	if problem.Warning {
		return "warning"
	}
	return "error"
}
