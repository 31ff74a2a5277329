// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"fairlead.dev/fairlead/pkg/child"
)

// Action is what a step does to its child.
type Action string

// The actions that write.
const (
	// Create creates a child that the caches do not show.
	Create Action = "Create"
	// Apply changes a live child to what was rendered.
	Apply Action = "Apply"
	// Scale sets the number of pods of a Deployment, HandOver, and nothing else; the rest waits. See deferRollout.
	Scale Action = "Scale"
	// Adopt takes over a live object that is not the Application's, with the consent of a user. See adopt.go.
	Adopt Action = "Adopt"
	// Delete deletes an owned child that is no longer rendered.
	Delete Action = "Delete"
)

// The actions that write nothing.
const (
	// Keep leaves a live child that is as rendered.
	Keep Action = "Keep"
	// WaitDeletion waits until the live child is deleted. That event triggers the next sync.
	WaitDeletion Action = "WaitDeletion"
	// WaitDependency waits because something that the pods need is missing, because the child refers to one that the
	// Application does not own, or because pods still use the child.
	WaitDependency Action = "WaitDependency"
	// Backoff waits because another writer keeps reverting the child.
	Backoff Action = "Backoff"
	// NotOwned leaves a live object that the Application does not own.
	NotOwned Action = "NotOwned"
	// APIUnavailable waits because the cluster does not serve the API of the child.
	APIUnavailable Action = "APIUnavailable"
)

// Step is what to do about one child. Nothing changes a step once it is planned.
type Step struct {
	Action Action
	Ref    child.Ref
	// Reason says why, for logs and users.
	Reason string
	// Desired is what was rendered; nil for a child that is no longer rendered.
	Desired *child.Desired
	// Live is what the caches show. It is nil for Create, and for the Delete of a child that only status lists: the
	// writer reads that one before it deletes it.
	Live child.Object
	// Drift means that another writer changed or deleted the child; the spec did not change.
	Drift bool
	// Undone is the number of the revision that another client put on the Deployment, and that the step replaces; 0 if
	// none did. See undo.go.
	Undone int64
	// RecheckOwner means that the step must not rely on the cached Application. The writer reads it from the API server
	// before it writes anything; see recheck.go.
	RecheckOwner bool
	// Fields are the paths that differ, if that is the reason.
	Fields []string
	// Values are the hashes of the live values of the Fields and of those Admitted, without those that admission may not decide.
	Values map[string]string
	// Admitted are paths that differ because an admission webhook or policy changes what Fairlead writes; see admitted.go.
	Admitted []string
	// PrePatch is, for an Apply, the strategic merge patch to send first. It replaces list items whose keys another
	// writer changed, and removes fields that exclude the rendered ones. Without Drift the writer sends it only if the
	// API server refuses the apply. Usually nil.
	PrePatch map[string]any
	// After is, for the Delete of an Ingress or HTTPRoute, the child that takes its place, or nil. The old one goes
	// only once the new one has existed for a while; an Ingress, once the Gateways have accepted its HTTPRoute; see overlap.go.
	After *child.Ref
	// AwaitsAcceptance means that a Delete waits until the Gateways accept After.
	AwaitsAcceptance bool
	// RecheckAfter is the time after which a step may do more without an event; 0 means that an event will tell.
	RecheckAfter time.Duration
	// Needs are the children that this one refers to by name and that only a write of this plan, or none, proves to
	// be the Application's; see references.go.
	Needs []child.Ref
	// FieldSet is, for the Create of a Deployment, and for an Apply to one that still has that of its creation, the
	// hash of the names of the rendered fields; see fieldset.go. "" is unknown.
	FieldSet string
	// Adoption is where the adoption of a live object stands that is NotOwned; "" if the Application does not adopt it.
	Adoption Adoption
	// Adoptable means that the Application could adopt a live object that is NotOwned, if the user wants that.
	Adoptable bool
	// LeftBehind means that an earlier Application left a live object behind that is NotOwned.
	LeftBehind bool
	// Former means that a live object that is NotOwned belongs to an earlier Application of the name. Kubernetes deletes it.
	Former bool
	// Adopted are, for Adopt, the fields that the Application takes over from other field managers.
	Adopted *fieldpath.Set
	// Selects are, for the Adopt of a Service, the labels by which the live one selects pods. The writer proves that
	// each of these pods carries the Application's label.
	Selects map[string]string
	// HandOver is, for a Deployment that is rendered without replicas, the number that the autoscaler or user starts
	// from; see handover.go. For Scale it is the rendered number. Usually nil.
	HandOver *int32
}

// wait returns the step as a WaitDependency for the reason. An object that is not adopted yet stays NotOwned.
func (s Step) wait(reason string) Step {
	if s.Action == Adopt || s.Action == NotOwned {
		s.Action, s.Adoption = NotOwned, AdoptionHeld
	} else {
		s.Action = WaitDependency
	}
	s.Reason, s.HandOver = reason, nil
	return s
}

// Result is the outcome of a step.
type Result struct {
	Step
	// Instead is the step that the writer found it had to do, because it met what the caches had not shown: an
	// object of the name of a child that it creates, or a failed write that this step depends on. Nil if the writer did
	// as planned.
	Instead *Step
	// UID, ResourceVersion and Generation are those of the object after a write.
	UID             types.UID
	ResourceVersion string
	Generation      int64
	// Err is why the step failed; nil for success.
	Err error
}

// Done is the step that was done: the planned one, or the one that the writer did instead.
func (r Result) Done() Step {
	if r.Instead != nil {
		return *r.Instead
	}
	return r.Step
}

// Done returns the results with the steps that were done in the place of those that were planned.
func Done(results []Result) []Result {
	done := make([]Result, 0, len(results))
	for _, result := range results {
		result.Step, result.Instead = result.Done(), nil
		done = append(done, result)
	}
	return done
}

// Changed reports whether the step changed an object. An apply may not: an API server drops fields that it does not know.
func (r Result) Changed() bool {
	switch done := r.Done(); {
	case r.Err != nil:
		return false
	case done.Action == Create:
		return true
	case done.Action == Delete:
		return r.UID != ""
	case done.Action == Apply, done.Action == Scale, done.Action == Adopt:
		return done.Live == nil || done.Live.GetResourceVersion() != r.ResourceVersion
	default:
		return false
	}
}
