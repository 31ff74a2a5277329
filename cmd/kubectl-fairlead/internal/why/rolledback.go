// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/text"
)

// rolledBack explains why an earlier revision runs.
func rolledBack(f facts) []Finding {
	condition := f.condition(v1.ConditionRolledBack)
	if condition == nil || condition.Status != metav1.ConditionTrue {
		return nil
	}
	numbers := f.app.Status.Revision
	if !f.app.IsRolledBack() {
		if numbers == nil || numbers.RolledBackFrom == 0 {
			return nil
		}
		return []Finding{{ // The spec may have changed since, but Fairlead does not look at its pods.
			Reason: v1.ReasonRolledBack, Evidence: []Evidence{f.conditionEvidence(condition)},
			What: fmt.Sprintf("Revision %d failed, and %s.", numbers.RolledBackFrom, f.instead(fmt.Sprintf("revision %d", numbers.Current))),
		}}
	}
	what := "The rollout of the spec failed, so " + f.instead("the last healthy revision") + ". Fairlead did not change the spec."
	next := []string{"Correct what failed and apply it: any change of the pods is tried again."}
	first := "Let Fairlead change the children again, before you correct what failed: " + f.enforceCommand()
	observed := []string{first, "Then correct what failed and apply it: any change of the pods is tried again."}
	if left := f.leftToClass(); len(left) > 0 {
		_, class := f.class()
		what = fmt.Sprintf("The rollout failed, so %s. Fairlead did not change the spec. Revision %d differs from revision %d only in what the spec leaves to ApplicationClass %s: %s.",
			f.instead("the last healthy revision"), numbers.RolledBackFrom, numbers.Current, class, text.Enumerate(left))
		next = correctClass(class, left)
		observed = append([]string{first}, next...)
	}
	if class := f.classOfRollback(); class != "" {
		what += " ApplicationClass " + class + " asks for the rollback."
	}
	if f.app.Spec.ReconcilePolicy == v1.ReconcileObserve {
		what += " Now it changes no child, since reconcilePolicy is Observe."
		next = observed
	}
	if !f.withoutDeployment() && f.undoKeepsWhatRuns() {
		next = append(next, "Or keep what runs: kubectl fairlead undo "+f.app.Name)
	}
	finding := Finding{Reason: v1.ReasonRolledBack, What: what, Evidence: []Evidence{f.conditionEvidence(condition)}, Next: next}
	if f.withoutDeployment() {
		finding.Evidence = nil // It says what runs; and why the rollout failed is in Ready.
	}
	return []Finding{finding}
}

// correctClass is what helps if only fields that the spec leaves to the class differ from what ran before.
func correctClass(class string, left []string) []string {
	next := []string{fmt.Sprintf("Ask the platform team to correct ApplicationClass %s: Fairlead then rolls its pods out. To see what it gives: kubectl fairlead classes %[1]s", class)}
	var paths []string
	for _, path := range left {
		if path != pathTolerations && path != pathImagePullSecrets { // An Application can only add to those.
			paths = append(paths, "spec."+path)
		}
	}
	if len(paths) > 0 {
		next = append(next, fmt.Sprintf("Or override the class: set %s in the Application.", text.Enumerate(paths)))
	}
	return next
}

const pathTolerations, pathImagePullSecrets = "tolerations", "imagePullSecrets"

// leftToClass are the fields in which the revision that was rolled back differs from the one that runs, if a class decides all of them: the
// spec leaves them out. The user may have removed one of them just now, which nothing shows.
func (f facts) leftToClass() []string {
	if _, class := f.class(); class == "" || !f.observed() {
		return nil
	}
	failed := f.restored(func(r edit.Revision) bool { return r.RolledBack })
	runs := f.restored(func(r edit.Revision) bool { return r.Current })
	if failed == nil || runs == nil {
		return nil
	}
	for _, restored := range []*v1.Application{failed, runs} {
		given := v1.ApplicationDefaults{
			Resources: restored.Spec.Resources, TopologySpreadConstraints: restored.Spec.TopologySpreadConstraints, NodeSelector: restored.Spec.NodeSelector,
			Tolerations: restored.Spec.Tolerations, PriorityClassName: restored.Spec.PriorityClassName, ImagePullSecrets: restored.Spec.ImagePullSecrets,
			PodMetadata: restored.Spec.PodMetadata, TerminationGracePeriodSeconds: restored.Spec.TerminationGracePeriodSeconds,
		}
		if merged, _ := class.Merge(f.app, &given); !edit.SamePods(merged, restored) {
			return nil // The spec decides about one of its pods' fields.
		}
	}
	return differingDefaults(&failed.Spec, &runs.Spec)
}

// differingDefaults are the fields of the pods that a class has defaults for, and that differ.
func differingDefaults(a, b *v1.ApplicationSpec) []string {
	resourcesOf := func(spec *v1.ApplicationSpec) corev1.ResourceRequirements { return valueOf(spec.Resources) }
	metadataOf := func(spec *v1.ApplicationSpec) v1.PodMetadata { return valueOf(edit.WithoutRestart(spec).PodMetadata) }
	var paths []string
	add := func(path string, a, b any) {
		if !equality.Semantic.DeepEqual(a, b) {
			paths = append(paths, path)
		}
	}
	paths = append(paths, differingKeys("resources.limits", resourcesOf(a).Limits, resourcesOf(b).Limits)...)
	paths = append(paths, differingKeys("resources.requests", resourcesOf(a).Requests, resourcesOf(b).Requests)...)
	add("topologySpreadConstraints", a.TopologySpreadConstraints, b.TopologySpreadConstraints)
	paths = append(paths, differingKeys("nodeSelector", a.NodeSelector, b.NodeSelector)...)
	add(pathTolerations, a.Tolerations, b.Tolerations)
	add("priorityClassName", a.PriorityClassName, b.PriorityClassName)
	add(pathImagePullSecrets, a.ImagePullSecrets, b.ImagePullSecrets)
	paths = append(paths, differingKeys("podMetadata.labels", metadataOf(a).Labels, metadataOf(b).Labels)...)
	paths = append(paths, differingKeys("podMetadata.annotations", metadataOf(a).Annotations, metadataOf(b).Annotations)...)
	add("terminationGracePeriodSeconds", a.TerminationGracePeriodSeconds, b.TerminationGracePeriodSeconds)
	return paths
}

// valueOf is what the pointer points to, or the zero value.
func valueOf[T any](pointer *T) (value T) {
	if pointer != nil {
		value = *pointer
	}
	return value
}

// differingKeys are the paths of the entries that one of the maps lacks, or that differ.
func differingKeys[K ~string, V any](path string, a, b map[K]V) []string {
	keys := maps.Clone(a)
	if keys == nil {
		keys = map[K]V{}
	}
	maps.Copy(keys, b)
	var paths []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		of, inA := a[key]
		other, inB := b[key]
		if inA != inB || !equality.Semantic.DeepEqual(of, other) {
			paths = append(paths, path+element(string(key)))
		}
	}
	return paths
}

// restored is the Application with the pods of a revision in its spec; nil if the revision is not there or cannot be read.
func (f facts) restored(is func(edit.Revision) bool) *v1.Application {
	revisions := edit.History(f.Objects)
	i := slices.IndexFunc(revisions, is)
	if i < 0 {
		return nil
	}
	restored := f.app.DeepCopy()
	if _, err := edit.Undo(revisions[i], f.Children, false)(restored); err != nil {
		return nil
	}
	return restored
}

// undoKeepsWhatRuns reports whether undo would write what runs into the spec. Where the class gives something else now, undo would pin the
// revision, and no correction of the class or of the spec would run.
func (f facts) undoKeepsWhatRuns() bool {
	revisions := edit.History(f.Objects)
	i := slices.IndexFunc(revisions, func(r edit.Revision) bool { return r.Current })
	if i < 0 {
		return false
	}
	applied := f.app.Status.Class
	if applied == nil {
		return true
	}
	restored := f.restored(func(r edit.Revision) bool { return r.Current })
	if restored == nil || applied.DefaultsOmitted {
		return false
	}
	merged, _ := class.Merge(restored, applied.Defaults)
	return revisions[i].Describes(merged)
}
