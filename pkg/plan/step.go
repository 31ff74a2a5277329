// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/pkg/child"
)

// Action is what a step does.
type Action string

const (
	// Keep does nothing: the live child is as rendered.
	Keep Action = "Keep"
	// Create makes a child that the informers do not show.
	Create Action = "Create"
	// Apply brings a live child to what was rendered.
	Apply Action = "Apply"
	// Delete removes an owned child that is not rendered any more.
	Delete Action = "Delete"
	// Wait does nothing, because the live child is being deleted; its end makes the next sync.
	Wait Action = "Wait"
	// Refuse does nothing, because the live object is not the Application's.
	Refuse Action = "Refuse"
	// Await does nothing, because the step would come too early: something that the pods need is
	// missing, the child refers to one that is not the Application's, or pods still use it.
	Await Action = "Await"
	// Scale sets the number of pods of a Deployment, HandOver, and nothing else: the rest waits, see
	// deferRollout.
	Scale Action = "Scale"
	// Absent does nothing, because the cluster does not serve the API of the child.
	Absent Action = "Absent"
	// Hold does nothing for now, because somebody else keeps undoing what is applied.
	Hold Action = "Hold"
)

// Step is one child and what to do about it.
type Step struct {
	Action Action
	Ref    child.Ref
	// Reason says why, for logs and people.
	Reason string
	// Desired is what was rendered; nil for Delete, and for a Delete that waits.
	Desired *child.Desired
	// Live is what the informers show; nil for Create.
	Live child.Object
	// Drift is true for an Apply or Create that repairs what others did: the spec did not change.
	Drift bool
	// Fields are the paths that differ, if that is the reason.
	Fields []string
	// Rekey is, for an Apply, the strategic merge patch to send first: it exchanges list items whose
	// keys others changed, and fields that exclude ours. Without Drift the apply may do by itself,
	// and only if it is refused this is needed. Usually nil.
	Rekey map[string]any
	// After is, for the Delete of an Ingress or HTTPRoute, the child that takes its place, or nil: the
	// old one goes only once the new one is there.
	After *child.Ref
	// Needs are the children that this one refers to by name and that only a write of this plan, or
	// none, proves to be the Application's; see references.go.
	Needs []child.Ref
	// Shape is, for the Create of a Deployment, and for an Apply to one that still has that of its
	// creation, which fields are rendered; see shape.go. "": nobody knows.
	Shape string
	// HandOver is, for a Deployment that is rendered without replicas, the number that the
	// autoscaler or people start from; see replicas.go. For Scale it is the rendered number. Usually nil.
	HandOver *int32
}

// await returns the step as one that does nothing until the reason is gone.
func (s Step) await(reason string) Step {
	s.Action, s.Reason, s.HandOver = Await, reason, nil
	return s
}

// Result is a step after it was done.
type Result struct {
	Step
	// UID, ResourceVersion and Generation are those of the object after a write.
	UID             types.UID
	ResourceVersion string
	Generation      int64
	// Err is why the step failed; nil for success.
	Err error
}

// Changed tells whether the step changed something in the API. An apply need not: the API
// server may drop a field that it does not know, and then nothing is left to do.
func (r Result) Changed() bool {
	switch {
	case r.Err != nil:
		return false
	case r.Action == Create, r.Action == Delete:
		return true
	case r.Action == Apply, r.Action == Scale:
		return r.Live == nil || r.Live.GetResourceVersion() != r.ResourceVersion
	default:
		return false
	}
}
