// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// An admission webhook or policy of the cluster may change what Fairlead sets, in Fairlead's own write, such as the registry of an image.
// That is no drift, and writing again changes nothing. Neither the hash of the rendering nor the API server's answer shows it. But a live
// child that is still the one of the last write, and differs, got the difference by admission; so did one that a repair leaves as it was.

// Written is the last write to a child, as far as a later sync has to know it.
type Written struct {
	// UID, ResourceVersion and Generation are those of the object after the write.
	UID             types.UID
	ResourceVersion string
	Generation      int64
	// Sent is the hash of the fields that were written.
	Sent string
	// Values are the hashes of the live values of fields that a sync has found to be made by admission. Nothing changes the map.
	Values map[string]string
}

// Written returns what a later sync has to know of the write; false if the child is as rendered, or was not written.
func (r Result) Written() (Written, bool) {
	written, done := Written{UID: r.UID}, r.Done()
	switch done.Action {
	case Create, Apply, Adopt:
		written.ResourceVersion, written.Generation = r.ResourceVersion, r.Generation
	case Keep:
		if len(done.Admitted) == 0 {
			return Written{}, false // Nearly every child of a sync. It costs nothing.
		}
		written.Values = done.Values
	default:
		return Written{}, false
	}
	if r.Err != nil || done.Desired == nil {
		return Written{}, false
	}
	sent, err := hashJSON(done.Desired.Configuration)
	written.Sent = sent
	return written, err == nil
}

// withoutAdmitted returns the repair without the fields that admission made, or a Keep if no others differ.
func (s Step) withoutAdmitted(last Written, difference Difference) (_ Step, err error) {
	if s.Values, err = difference.values(); err != nil || last.UID == "" || last.UID != s.Live.GetUID() {
		return s, err
	}
	if sent, err := hashJSON(s.Desired.Configuration); err != nil || sent != last.Sent {
		return s, err
	}
	var left []string
	for _, field := range s.Fields {
		value, known := s.Values[field]
		if known && (value == last.Values[field] || s.unchanged(field, last.ResourceVersion, last.Generation)) {
			s.Admitted = append(s.Admitted, field)
		} else {
			left = append(left, field)
		}
	}
	if s.Fields = left; len(left) == 0 {
		return s.keepAdmitted(), nil
	}
	return s, nil
}

// unchanged reports whether the field is the same in the live child and in a version of it. Only a change of the spec increases the
// generation, and not every kind has one.
func (s Step) unchanged(field, resourceVersion string, generation int64) bool {
	return s.Live.GetResourceVersion() == resourceVersion ||
		generation > 0 && s.Live.GetGeneration() == generation && strings.HasPrefix(field, ".spec.")
}

// Unrepaired returns the step that was done instead, if the repair changed nothing of what differs; nil if it did.
func (r Result) Unrepaired() *Step {
	if r.Err != nil || r.Action != Apply || !r.Drift || r.UID != r.Live.GetUID() {
		return nil
	}
	for _, field := range r.Fields {
		if _, known := r.Values[field]; !known || !r.unchanged(field, r.ResourceVersion, r.Generation) {
			return nil
		}
	}
	instead := r.Step
	instead.Admitted = slices.Concat(r.Admitted, r.Fields)
	instead = instead.keepAdmitted()
	return &instead
}

// keepAdmitted returns the step that leaves the child as admission made it.
func (s Step) keepAdmitted() Step {
	s.Action, s.Reason, s.Drift, s.Fields, s.PrePatch = Keep, "admission changes what Fairlead writes", false, nil, nil
	return s
}

// values returns the hashes of the live values of the fields that differ, for those that admission may decide. In others Fairlead keeps its
// state, or its ownership; and the order of items has no value.
func (d Difference) values() (map[string]string, error) {
	values := map[string]string{}
	for path := range d.paths.All() {
		field := path.String()
		if strings.HasPrefix(field, ".metadata.annotations."+v1.ReservedPrefix) || strings.HasPrefix(field, ".metadata.ownerReferences") {
			continue
		}
		hash, err := hashJSON(d.live.ExtractItems(fieldpath.NewSet(path)).AsValue().Unstructured())
		if err != nil {
			return nil, err
		}
		values[field] = hash
	}
	return values, nil
}

func hashJSON(value any) (string, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode: %w", err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:10]), nil
}
