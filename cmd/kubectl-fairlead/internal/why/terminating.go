// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/text"
)

// removeFinalizer are the steps about a finalizer that no controller removes from the object, which is "TYPE NAME" for kubectl.
func removeFinalizer(object string) []string {
	return []string{
		"Check the controller that owns this finalizer: it removes the finalizer when its work is done.",
		fmt.Sprintf("If that controller is gone for good: kubectl edit %s, and remove the finalizer. Its work is then never done.", object),
	}
}

// terminating explains a child that is being deleted, and that a finalizer holds. The garbage collector removes its own.
func (f facts) terminating(resource v1.ResourceStatus) (finding Finding, found bool) {
	ref, known := child.RefOf(f.app, resource)
	live := f.live(resource)
	again := strings.Contains(resource.Message, "be recreated")
	if !known || live == nil || live.GetDeletionTimestamp() == nil || !again && (f.ready == nil || f.ready.Reason != v1.ReasonApplying) {
		return Finding{}, false
	}
	finalizers := slices.DeleteFunc(slices.Clone(live.GetFinalizers()), func(finalizer string) bool {
		return finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents
	})
	if len(finalizers) == 0 {
		return Finding{}, false
	}
	object, noun := resource.Kind+" "+resource.Name, "finalizer"
	if len(finalizers) > 1 {
		noun = "finalizers"
	}
	finding = Finding{
		Reason: string(resource.State), What: fmt.Sprintf("%s is being deleted, and waits for the %s %s.", object, noun, text.Enumerate(finalizers)),
		Evidence: []Evidence{resourceEvidence(f.app, resource)}, heldByFinalizer: object,
		Next: removeFinalizer(ref.Kind.GroupVersionResource().GroupResource().String() + " " + resource.Name),
	}
	if again {
		finding.What += " Until it is gone, Fairlead cannot create it again."
	}
	for _, finalizer := range finalizers {
		message := finalizer
		if manager := setBy(live, finalizer); manager != "" {
			message += ", set by " + manager
		}
		finding.Evidence = append(finding.Evidence, Evidence{
			Object: resource.Kind + "/" + resource.Name, Field: "metadata.finalizers", Message: message, Time: &live.GetDeletionTimestamp().Time,
		})
	}
	return finding, true
}

// setBy is the field manager that set the finalizer; "" if it is not known.
func setBy(live child.Object, finalizer string) string {
	path := fieldpath.MakePathOrDie("metadata", "finalizers", value.NewValueInterface(finalizer))
	owners := ownersOf(live)
	for _, entry := range live.GetManagedFields() {
		if set := owners[entry.Manager]; set != nil && set.Has(path) {
			return entry.Manager
		}
	}
	return ""
}
