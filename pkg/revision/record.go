// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Record is the desired history.
type Record struct {
	// Name, Number and Data belong to the ControllerRevision of the selected pods.
	Name   string
	Number int64
	Data   []byte
	// FormerNumbers are the numbers that it had before, as far as the status may still name them.
	FormerNumbers []int64
	// RenumberedFrom is the number that it has until it is written, if that is another one; else 0.
	RenumberedFrom int64
	// RolledBackBefore are the names of the revisions that had been rolled back when it got its number.
	RolledBackBefore []string
	// ServicePorts is what the Service says about the ports of the pods; see v1.AnnotationServicePorts.
	ServicePorts string
	// Kept are the names of the other revisions to keep. The rest is obsolete.
	Kept []string
	// RolledBackFrom is the name of the failed revision, and RolledBackBecause is why it failed. Both are empty without
	// a rollback.
	RolledBackFrom, RolledBackBecause string
	// Status has the numbers for the status.
	Status v1.RevisionStatus
	// Condition is the condition RolledBack, or nil where it does not apply.
	Condition *metav1.Condition
}

// Record returns the history for the selection, once the hashes of the ConfigMaps and Secrets that the pods use are
// known. A hash is empty if the pods use none.
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
	servicePorts, err := encodeServicePorts(c.Application.Spec.Ports)
	if err != nil {
		return Record{}, err
	}
	runs := revision{name: nameOf(c.Application, c.spec, configMapsHash, secretsHash), spec: c.spec, data: data}
	runs.number = c.number(runs.name)
	record := Record{
		Name: runs.name, Number: runs.number, Data: data, FormerNumbers: c.formerNumbers(runs), ServicePorts: servicePorts,
		RolledBackBefore: c.rolledBackBefore(runs), Kept: c.kept(runs.name),
		Status:    v1.RevisionStatus{Current: runs.number},
		Condition: c.condition(runs),
	}
	if known := find(f.history, named(runs.name)); known != nil && known.number != runs.number {
		record.RenumberedFrom = known.number
	}
	switch {
	case f.healthy == nil:
	case f.healthy.name == runs.name:
		record.Status.LastHealthy = runs.number // Its number may have changed just now.
	default:
		record.Status.LastHealthy = f.healthy.number
	}
	if c.from != nil {
		record.RolledBackFrom, record.RolledBackBecause = c.from.name, c.cause
		record.Status.RolledBackFrom = c.from.number
	}
	record.Status.FormerHealthy = f.formerHealthy(&record)
	return record, nil
}

// maxFormerHealthy is the limit of the schema. It is also that of revisionHistoryLimit.
const maxFormerHealthy = 100

// formerHealthy returns the numbers of the other revisions that were healthy, without those that are obsolete. It follows a
// revision to its new number. The list changes only together with another number or with the history, so it costs no write
// of its own.
func (f facts) formerHealthy(record *Record) []int64 {
	var numbers []int64
	for _, r := range f.history {
		number := r.number
		switch {
		case r.name == record.Name:
			number = record.Number
		case !slices.Contains(record.Kept, r.name):
			continue
		}
		if number != record.Status.LastHealthy && f.wasHealthy(r) {
			numbers = append(numbers, number)
		}
	}
	slices.SortFunc(numbers, func(a, b int64) int { return cmp.Compare(b, a) })
	return numbers[:min(len(numbers), maxFormerHealthy)]
}

// wasHealthy reports whether the revision was healthy, as far as the status says, or is so now.
func (f facts) wasHealthy(r revision) bool {
	return slices.Contains(f.wereHealthy, r.name) || f.healthy != nil && f.healthy.name == r.name
}

// formerNumbers returns the numbers that the selected revision had before. The list changes only together with the number, so
// it costs no write of its own.
func (c Selection) formerNumbers(runs revision) []int64 {
	known := find(c.facts.history, named(runs.name))
	switch {
	case known == nil:
		return nil
	case known.number == runs.number:
		return known.former
	default:
		isObsolete := func(number int64) bool {
			return number != c.facts.status.LastHealthy && !slices.Contains(c.facts.status.FormerHealthy, number)
		}
		return slices.DeleteFunc(append(slices.Clone(known.former), known.number), isObsolete)
	}
}

// rolledBackBefore returns the names of the revisions that had been rolled back when the selected one got its number, of those that exist.
// The list changes only together with the number, so it costs no write of its own. The last rollback is on the Deployment, or in the status,
// until the write that follows.
func (c Selection) rolledBackBefore(runs revision) []string {
	f := c.facts
	var names []string
	if known := find(f.history, named(runs.name)); known != nil {
		if names = known.rolledBack; known.number == runs.number {
			return names
		}
	}
	names = slices.Clone(names)
	if f.Deployment != nil {
		names = append(names, f.Deployment.Annotations[v1.AnnotationRolledBackFrom])
	}
	if f.status.RolledBackFrom > 0 {
		if last := f.numberedInStatus(f.status.RolledBackFrom); last != nil {
			names = append(names, last.name)
		}
	}
	isGone := func(name string) bool { return find(f.history, named(name)) == nil }
	slices.Sort(names)
	names = slices.Compact(slices.DeleteFunc(names, isGone))
	return names[:min(len(names), maxFormerHealthy)]
}

// number returns the number of the selected revision. What the spec asks for gets the highest number, so that the
// numbers show the order of changes. A revision that a rollback or toRevision selects keeps its number. No number is
// used twice.
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
		return s.Current // Another client deleted it.
	default:
		return highest + 1
	}
}

// maxHistoryBytes limits the total size of the revisions of an Application, except those that are needed. Each is as
// large as the pod part of the spec, and the controller has all of them in memory.
const maxHistoryBytes = 1 << 20

// kept returns the names of the revisions to keep beside the selected one: the newest ones, as many as
// revisionHistoryLimit and maxHistoryBytes allow, and those that a rollback or the status needs.
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
