// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"
	"time"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// Input is everything that a plan is made from.
type Input struct {
	Snapshot child.Snapshot
	Desired  []child.Desired
	// Kept are owned children that are not rendered and stay as they are: only the past explains them.
	Kept map[child.Ref]bool
	// InBackoff are the children that another writer keeps reverting: they are left alone for now.
	InBackoff map[child.Ref]bool
	// CreateBackoff are the children that another writer keeps deleting: they are not created again for now.
	CreateBackoff map[child.Ref]bool
	// LastApplied are the hashes of the renderings that children were brought to before. Where such a child differs
	// again, another writer changed it, even if that writer removed the hash.
	LastApplied map[child.Ref]string
	// Written are the last writes to children, as far as they are known.
	Written map[child.Ref]Written
	// ReleaseBackoff are children whose owner another writer keeps restoring, against deletionPolicy Orphan.
	ReleaseBackoff map[child.Ref]bool
	// Confirmed means that the API server has confirmed a version of the cached Application since this process started to
	// write. Caches never go back, so none is older than what an earlier process acted on.
	Confirmed bool
	// Missing says which ConfigMaps, Secrets or keys the pods need that do not exist; "" if none.
	Missing string
	// Now is the time of the sync by the clock of the API server.
	Now time.Time
	// Age is how old the children are that this process created, as far as a decision depends on that. How old others are
	// follows from Now.
	Age map[child.Ref]time.Duration
}

// Compute returns one step for each rendered child, and one for each child that is not rendered any more. It makes
// every decision of a sync: the steps are in the order in which the writer does them, and nothing downstream changes
// one. What the writer meets is a Result.
//
// The error is that of a rendered child which does not fit its schema: a defect of the rendering, not of the spec.
func Compute(differ Differ, in Input) ([]Step, error) {
	steps := leftovers(in)
	for _, desired := range in.Desired {
		desired, err := withLiveConfig(in, steps, desired)
		if err != nil {
			return nil, err
		}
		step, err := decide(differ, in, steps, desired)
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
	holdForPods(in.Snapshot.Application, steps)
	overlapRoutes(in, steps)
	recheckOwner(in, steps)
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

// leftovers returns a Delete for each child that the Application owns and that is not rendered any more. It waits
// while pods use the child. What the Application does not own is none of its business, whatever the labels say.
//
// A child that only status lists has lost the label by which the informers select. It must go too: a NetworkPolicy
// would go on holding up traffic, and an Ingress letting it in. Whether it exists and who owns it, the writer reads
// before it deletes it.
func leftovers(in Input) []Step {
	rendered := make(map[child.Ref]bool, len(in.Desired))
	for _, desired := range in.Desired {
		rendered[desired.Ref] = true
	}
	var steps []Step
	add := func(ref child.Ref, live child.Object) {
		if rendered[ref] || in.Kept[ref] {
			return
		}
		reason := "the Application no longer needs it"
		if ref.Kind == child.ControllerRevision {
			reason = "revisionHistoryLimit keeps only newer ones"
		}
		step := Step{Action: Delete, Ref: ref, Live: live, Reason: reason}
		step.After = successor(ref, rendered)
		if use := useBy(in.Snapshot, ref); use != "" {
			step = step.wait(use)
		}
		steps = append(steps, step)
	}
	for ref, live := range in.Snapshot.Children {
		if child.OwnedBy(live, in.Snapshot.Application) && live.GetDeletionTimestamp() == nil {
			add(ref, live)
		}
	}
	for _, resource := range in.Snapshot.Application.Status.Resources {
		ref, known := child.RefOf(in.Snapshot.Application, resource)
		_, cached := in.Snapshot.Children[ref]
		_, unavailable := in.Snapshot.Unavailable[ref.Kind]
		if known && !cached && !unavailable {
			add(ref, nil)
		}
	}
	slices.SortFunc(steps, func(a, b Step) int { return cmp.Compare(a.Ref.String(), b.Ref.String()) })
	return steps
}

// decide makes the step for one rendered child. steps are those of the children before it.
func decide(differ Differ, in Input, steps []Step, desired child.Desired) (_ Step, err error) {
	step := Step{Ref: desired.Ref, Desired: &desired}
	if unavailable, is := in.Snapshot.Unavailable[desired.Kind]; is {
		step.Action, step.Reason = APIUnavailable, unavailable.Message
		return step, nil
	}
	live, found := in.Snapshot.Children[desired.Ref]
	if !found {
		step.Action, step.FieldSet = Create, differ.fieldSetOf(desired)
		step.Reason = "it does not exist"
		if child.KnownUID(in.Snapshot.Application, desired.Ref) != "" {
			step.Drift = true
			step.Reason = "another client deleted it"
		}
		return backOff(step, in.CreateBackoff), nil
	}
	step.Live = live
	released := child.IsOrphaned(in.Snapshot.Application, desired.Ref, live)
	if !released && !child.OwnedBy(live, in.Snapshot.Application) {
		return decideForeign(differ, in, steps, step)
	}
	if live.GetDeletionTimestamp() != nil {
		step.Action = WaitDeletion
		step.Reason = "it is being deleted"
		return step, nil
	}
	if desired, err = KeepLive(in.Snapshot, desired, live); err != nil {
		return Step{}, err
	}
	difference, err := differ.Compare(desired, live)
	if err != nil {
		return Step{}, err
	}
	if len(difference.Fields) == 0 {
		step.Action = Keep
		return step.orRelease(in), nil
	}
	step.Action = Apply
	if live.GetAnnotations()[v1.AnnotationCreatedFieldSet] != "" {
		step.FieldSet = differ.FieldSetHash(desired)
	}
	step.Fields = difference.Fields
	// Also where the Application changed: others may have changed the child too, and before.
	step.PrePatch = difference.PrePatch
	step.Undone = undone(in, desired, live)
	step.Drift = step.Undone > 0 || live.GetAnnotations()[v1.AnnotationRenderedHash] == desired.Hash || in.LastApplied[desired.Ref] == desired.Hash
	switch {
	case step.Undone > 0:
		step.Reason = undoReason(step.Undone)
	case released:
		step.Reason = "another client removed its ownerReference"
		if in.Snapshot.Application.Spec.DeletionPolicy == v1.DeletionOrphan {
			step.Reason = "another client removed its annotation " + v1.AnnotationOwnerUID
		}
	case step.Drift:
		step.Reason = "another client changed it"
	default:
		step.Reason = "the Application changed"
	}
	if step.Drift && step.Undone == 0 && !released {
		if step, err = step.withoutAdmitted(in.Written[desired.Ref], difference); err != nil {
			return Step{}, err
		}
		if step.Action == Keep {
			return step.orRelease(in), nil
		}
	}
	return backOff(step, in.InBackoff), nil
}

// KeepLive returns a rendered child as it is applied beside the live one, which belongs to the Application: with what another
// client decides, such as weights and a later restart, and without a selector that cannot change. A pause is the Application's.
func KeepLive(around child.Snapshot, desired child.Desired, live child.Object) (child.Desired, error) {
	if err := keepWeights(&desired, live); err != nil {
		return child.Desired{}, err
	}
	if err := keepSelector(around.Application, &desired, live); err != nil {
		return child.Desired{}, err
	}
	if err := endForeignPause(&desired, live); err != nil {
		return child.Desired{}, err
	}
	return desired, keepRestart(&desired, live, around)
}

// contended is why a child in backoff is left alone.
const contended = "another client keeps reverting what Fairlead sets"

// orRelease turns a Keep into a Backoff while another writer keeps restoring the owner of the child.
func (s Step) orRelease(in Input) Step {
	if in.ReleaseBackoff[s.Ref] {
		s.Action, s.Reason = Backoff, contended
	}
	return s
}

// backOff turns a repair into a Backoff while another writer keeps reverting the child.
func backOff(step Step, inBackoff map[child.Ref]bool) Step {
	if step.Drift && inBackoff[step.Ref] {
		step.Action, step.Reason = Backoff, contended
	}
	return step
}
