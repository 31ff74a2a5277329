// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/apierror"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/text"
)

// summarizeDeletion says what a deleted Application waits for.
func summarizeDeletion(in Input) summary {
	s := summary{reconciling: true, reason: v1.ReasonDeleting, message: "The Application is being deleted."}
	others := slices.DeleteFunc(slices.Clone(in.Snapshot.Application.Finalizers), func(f string) bool { return f == v1.FinalizerOrphan })
	switch {
	case len(in.Unowned) > 0:
		s.message = unownedMessage(in)
	case slices.Equal(others, []string{metav1.FinalizerDeleteDependents}):
		s.message = "Deletion waits until the garbage collector has deleted the children."
	case slices.Equal(others, []string{metav1.FinalizerOrphanDependents}):
		s.message = "Deletion waits until the garbage collector has released the children."
	case len(others) == 1:
		s.message = fmt.Sprintf("Deletion waits until another client removes the finalizer %s.", others[0])
	case len(others) > 1:
		s.message = fmt.Sprintf("Deletion waits until other clients remove the finalizers %s.", strings.Join(others, ", "))
	}
	return s
}

// unownedMessage names the first child that keeps the finalizer on the Application, and counts the others.
func unownedMessage(in Input) string {
	refs := slices.SortedFunc(maps.Keys(in.Unowned), func(a, b child.Ref) int { return strings.Compare(a.String(), b.String()) })
	first := refs[0]
	undone := "keep"
	if in.Snapshot.Application.Spec.DeletionPolicy != v1.DeletionOrphan {
		undone = "delete"
	}
	message := fmt.Sprintf("Deletion waits to %s %s %s: %s", undone, first.Kind, first.Name, apierror.Message(in.Unowned[first]))
	if more := len(refs) - 1; more > 0 {
		message = text.Truncate(message, maxMessage-40) + fmt.Sprintf(" The same applies to %d more.", more)
	}
	return message
}
