// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Record is the history as it is to be.
type Record struct {
	// Name, Number and Data are those of the ControllerRevision of what is to run.
	Name   string
	Number int64
	Data   []byte
	// Kept are the names of the others that stay as they are. The rest is not needed any more.
	Kept []string
	// RolledBackFrom is the name of the revision that was given up, and RolledBackBecause is why; both
	// are empty if the spec is what runs.
	RolledBackFrom, RolledBackBecause string
	// Status has the numbers for the status.
	Status v1.RevisionStatus
	// Condition is RolledBack, or nil where it does not apply.
	Condition *metav1.Condition
}

// Record says which revision the selection is, once it is known what the pods refer to: the hashes of
// ConfigMaps and Secrets, empty where there are none.
func (c Selection) Record(configMapsHash, secretsHash string) (Record, error) {
	f := c.facts
	pods := f.pods
	if c.from != nil || c.pinned != nil {
		var err error
		if pods, err = encode(podSpec(&c.Application.Spec)); err != nil {
			return Record{}, err
		}
	}
	data, err := json.Marshal(content{Spec: pods, ConfigMapsHash: configMapsHash, SecretsHash: secretsHash})
	if err != nil {
		return Record{}, fmt.Errorf("encode revision: %w", err)
	}
	runs := revision{name: nameOf(c.Application, c.spec, configMapsHash, secretsHash), spec: c.spec, data: data}
	runs.number = c.number(runs.name)
	record := Record{
		Name: runs.name, Number: runs.number, Data: data,
		Kept:      c.kept(runs.name),
		Status:    v1.RevisionStatus{Current: runs.number},
		Condition: c.condition(runs),
	}
	switch {
	case f.healthy == nil:
	case f.healthy.name == runs.name:
		record.Status.LastHealthy = runs.number // It may have got another one just now.
	default:
		record.Status.LastHealthy = f.healthy.number
	}
	if c.from != nil {
		record.RolledBackFrom, record.RolledBackBecause = c.from.name, c.cause
		record.Status.RolledBackFrom = c.from.number
	}
	return record, nil
}

// number is that of the revision that is to run. What the spec asks for has the highest, so that the
// history tells the order of things; what was put back, or is asked for by its number, keeps its own. No number is given twice.
func (c Selection) number(name string) int64 {
	s := c.facts.status
	highest := max(s.Current, s.LastHealthy, s.RolledBackFrom)
	for _, r := range c.facts.history {
		highest = max(highest, r.number)
	}
	known := find(c.facts.history, named(name))
	switch {
	case known != nil && known.number > 0 && (known.number == highest || c.from != nil || c.pinned != nil):
		return known.number
	case known == nil && c.facts.deployed.name == name && s.Current == highest && highest > 0:
		return s.Current // Others have deleted it.
	default:
		return highest + 1
	}
}

// maxHistoryBytes is how long the revisions of an Application may be together, but for those that are needed.
// Each is as long as what the spec says about the pods, and the controller has them all in memory.
const maxHistoryBytes = 1 << 20

// kept are the names of the revisions that stay beside the one that is to run: as many as the spec wants
// and as fit, the newest first, and those without which nobody could go back, or say what happened.
func (c Selection) kept(name string) []string {
	limit := 5
	if own := c.facts.Application.Spec.RevisionHistoryLimit; own != nil {
		limit = int(*own)
	}
	needed := []string{c.facts.deployed.name}
	if c.facts.healthy != nil {
		needed = append(needed, c.facts.healthy.name)
	}
	for _, r := range []*revision{c.from, c.pinned} {
		if r != nil {
			needed = append(needed, r.name)
		}
	}
	var kept []string
	bytes := 0
	for _, r := range c.facts.history {
		if r.name != name && slices.Contains(needed, r.name) {
			kept = append(kept, r.name)
			bytes += len(r.data)
		}
	}
	for _, r := range c.facts.history {
		if r.name == name || slices.Contains(needed, r.name) {
			continue
		}
		if bytes += len(r.data); len(kept) >= limit || bytes > maxHistoryBytes {
			break
		}
		kept = append(kept, r.name)
	}
	return kept
}
