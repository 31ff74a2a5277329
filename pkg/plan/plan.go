// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// Input is everything that a plan is made from.
type Input struct {
	Snapshot child.Snapshot
	Desired  []child.Desired
	// Kept are owned children that are not rendered, and are to stay as they are: those that only the
	// past explains.
	Kept map[child.Ref]bool
	// Held are the children that somebody else keeps changing back: they are left alone for now.
	Held map[child.Ref]bool
	// Applied are the hashes of renderings that children were brought to before. Where such a child
	// differs again, others changed it, even if they took the hash away.
	Applied map[child.Ref]string
	// Missing says which ConfigMaps, Secrets or keys the pods need that are not there; "" if none.
	Missing string
}

// Compute returns one step for each rendered child, and one for each owned child that is not
// rendered any more. The steps stand in the order in which they are to be done.
//
// The error is that of a rendered child which does not fit its schema: a defect of the
// rendering, not of the spec.
func Compute(differ Differ, in Input) ([]Step, error) {
	steps := obsolete(in)
	for _, desired := range in.Desired {
		desired, err := withLiveConfig(in, steps, desired)
		if err != nil {
			return nil, err
		}
		step, err := decide(differ, in, desired)
		if err != nil {
			return nil, err
		}
		if step, err = deferConfig(in, step); err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	handOverReplicas(in.Snapshot, steps)
	withholdDependents(steps)
	deferRollout(in, steps)
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(rank(a), rank(b)) })
	return steps, nil
}

// rank orders the steps. Children come in the order in which they were rendered. An obsolete
// autoscaler goes first: it must not change the replicas that the Deployment is about to get.
// Other obsolete children go last, once nothing refers to them any more.
func rank(step Step) int {
	switch {
	case step.Desired != nil:
		return 1
	case step.Ref.Kind == child.HorizontalPodAutoscaler:
		return 0
	default:
		return 2
	}
}

// obsolete returns a Delete for each child that the Application owns and that is not rendered. It
// waits while pods use the child. What the Application does not own is none of its business, whatever
// the labels say.
func obsolete(in Input) []Step {
	rendered := make(map[child.Ref]bool, len(in.Desired))
	for _, desired := range in.Desired {
		rendered[desired.Ref] = true
	}
	var steps []Step
	for ref, live := range in.Snapshot.Children {
		if rendered[ref] || in.Kept[ref] || !child.OwnedBy(live, in.Snapshot.Application) || live.GetDeletionTimestamp() != nil {
			continue
		}
		reason := "its feature was switched off"
		if ref.Kind == child.ControllerRevision {
			reason = "it is older than what revisionHistoryLimit keeps"
		}
		step := Step{Action: Delete, Ref: ref, Live: live, After: successor(ref, rendered), Reason: reason}
		if use := useBy(in.Snapshot, ref); use != "" {
			step = step.await(use)
		}
		steps = append(steps, step)
	}
	slices.SortFunc(steps, func(a, b Step) int { return cmp.Compare(a.Ref.String(), b.Ref.String()) })
	return steps
}

// successor is the rendered child that carries the route from now on which an obsolete one has
// carried: it has the same name, and is of the other kind.
func successor(ref child.Ref, rendered map[child.Ref]bool) *child.Ref {
	other := child.HTTPRoute
	switch ref.Kind {
	case child.Ingress:
	case child.HTTPRoute:
		other = child.Ingress
	default:
		return nil
	}
	next := child.Ref{Kind: other, Namespace: ref.Namespace, Name: ref.Name}
	if !rendered[next] {
		return nil
	}
	return &next
}

// decide makes the step for one rendered child.
func decide(differ Differ, in Input, desired child.Desired) (Step, error) {
	step := Step{Ref: desired.Ref, Desired: &desired}
	if unserved, is := in.Snapshot.Unavailable[desired.Kind]; is {
		step.Action, step.Reason = Absent, unserved.Message
		return step, nil
	}
	live, found := in.Snapshot.Children[desired.Ref]
	if !found {
		step.Action, step.Shape = Create, differ.notedShape(desired)
		step.Reason = "it does not exist"
		if child.KnownUID(in.Snapshot.Application, desired.Ref) != "" {
			step.Drift = true
			step.Reason = "it was deleted by others"
		}
		return hold(step, in.Held), nil
	}
	step.Live = live
	released := child.IsOrphaned(in.Snapshot.Application, desired.Ref, live)
	if !released && !child.OwnedBy(live, in.Snapshot.Application) {
		step.Action = Refuse
		step.Reason = ForeignMessage(live)
		return step, nil
	}
	if live.GetDeletionTimestamp() != nil {
		step.Action = Wait
		step.Reason = "it is being deleted"
		return step, nil
	}
	if err := keepWeights(&desired, live); err != nil {
		return Step{}, err
	}
	difference, err := differ.Compare(desired, live)
	if err != nil {
		return Step{}, err
	}
	if len(difference.Fields) == 0 {
		step.Action = Keep
		return step, nil
	}
	step.Action = Apply
	if live.GetAnnotations()[v1.AnnotationCreatedFieldSet] != "" {
		step.Shape = differ.Shape(desired)
	}
	step.Fields = difference.Fields
	// Also where the Application changed: others may have changed the child too, and before.
	step.Rekey = difference.Rekey
	step.Drift = live.GetAnnotations()[v1.AnnotationRenderedHash] == desired.Hash || in.Applied[desired.Ref] == desired.Hash
	switch {
	case released:
		step.Reason = "its ownerReference was removed"
		if in.Snapshot.Application.Spec.DeletionPolicy == v1.DeletionOrphan {
			step.Reason = "its annotation " + v1.AnnotationOwnerUID + " was removed"
		}
	case step.Drift:
		step.Reason = "it was changed by others"
	default:
		step.Reason = "the Application changed"
	}
	return hold(step, in.Held), nil
}

// hold turns a repair into a Hold while the child is contended.
func hold(step Step, held map[child.Ref]bool) Step {
	if step.Drift && held[step.Ref] {
		step.Action = Hold
		step.Reason = "others keep undoing what Fairlead sets"
	}
	return step
}

// ForeignMessage says for people whose an object is that bears the name of a child.
func ForeignMessage(object metav1.Object) string {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		return fmt.Sprintf("an object of this name exists and belongs to %s %s (UID %s)", controller.Kind, controller.Name, controller.UID)
	}
	return "an object of this name exists and does not belong to the Application; rename or delete one of the two"
}
