// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// writerUnseen is the evidence where managedFields have no other writer of the fields.
const writerUnseen = "the other writer can no longer be seen here"

// otherWriters are the field managers of the live child beside Fairlead that have a field that the message names, the last writer first.
// If the message names none, they are all of them.
func (f facts) otherWriters(resource v1.ResourceStatus) []Evidence {
	live := f.live(resource)
	if live == nil {
		return nil
	}
	object, fields := resource.Kind+"/"+resource.Name, contendedFields(resource.Message)
	var evidence []Evidence
	for _, entry := range live.GetManagedFields() {
		if strings.HasPrefix(entry.Manager, v1.ManagedBy) || entry.Time == nil {
			continue
		}
		// The subresource scale writes a field of the spec.
		if len(fields) == 0 && entry.Subresource != "" || len(fields) > 0 && !hasOneOf(entry, fields) {
			continue
		}
		evidence = append(evidence, Evidence{
			Object: object, Field: "metadata.managedFields",
			Message: fmt.Sprintf("%s wrote it (%s)", entry.Manager, strings.ToLower(string(entry.Operation))), Time: &entry.Time.Time,
		})
	}
	if len(evidence) == 0 && len(fields) > 0 {
		return []Evidence{{Object: object, Field: "metadata.managedFields", Message: writerUnseen}}
	}
	slices.SortStableFunc(evidence, func(a, b Evidence) int { return b.Time.Compare(*a.Time) })
	return evidence
}

// contendedMessage finds the fields in the message of a child that another writer keeps changing.
var contendedMessage = regexp.MustCompile(`keeps changing (\..+?)(?: and \d+ more)?; repair is backing off`)

// isContended reports whether the message is about a child that another writer keeps changing or deleting.
func isContended(message string) bool {
	return strings.Contains(message, "; repair is backing off")
}

// isDeletedAgain reports whether the message is about a child that another writer keeps deleting.
func isDeletedAgain(message string) bool {
	return strings.Contains(message, "keeps deleting it; repair is backing off")
}

// contendedFields are the paths of the fields that the message names.
func contendedFields(message string) []string {
	match := contendedMessage.FindStringSubmatch(message)
	if match == nil {
		return nil
	}
	return strings.Split(match[1], ", ")
}

// hasOneOf reports whether the manager has one of the fields, a field below one, or the whole list or map that a field is in.
func hasOneOf(entry metav1.ManagedFieldsEntry, fields []string) bool {
	set := &fieldpath.Set{}
	if entry.FieldsV1 == nil || set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) != nil {
		return false
	}
	found := false
	set.Leaves().Iterate(func(path fieldpath.Path) {
		has := path.String()
		found = found || slices.ContainsFunc(fields, func(field string) bool { return isBelow(has, field) || isBelow(field, has) })
	})
	return found
}

// isBelow reports whether a path is the other one, or below it.
func isBelow(path, other string) bool {
	rest, found := strings.CutPrefix(path, other)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
