// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/text"
)

// Select decides whether the pods are what the spec says, what they were in the revision that it names, or what they were
// when they were healthy last.
func Select(in Input) (Selection, error) {
	f, err := newFacts(in)
	if err != nil {
		return Selection{}, err
	}
	if rollback := in.Application.Spec.Rollback; rollback != nil && rollback.ToRevision != nil {
		return f.pin(*rollback.ToRevision), nil
	}
	asSpecified := Selection{Application: in.Application, facts: f, spec: f.wanted}
	if mark := f.rolledBack(); mark != nil {
		return f.stay(*mark), nil
	}
	if !f.failed() {
		return asSpecified, nil
	}
	if asSpecified.blocked = f.blocker(); asSpecified.blocked != nil {
		return asSpecified, nil
	}
	return f.rollBack(), nil
}

// failed reports whether the rollout of the spec failed and must be rolled back. The Deployment carries the name of its
// revision, so another revision's failure does not count.
func (f facts) failed() bool {
	rollback, paused, policy := f.Application.Spec.Rollback, f.Application.Spec.Paused, f.Application.Spec.ReconcilePolicy
	return f.Health.TimedOut && f.deployed.spec == f.wanted &&
		rollback != nil && rollback.Policy == v1.RollbackOnFailure &&
		(paused == nil || !*paused) &&
		policy != v1.ReconcileObserve && policy != v1.ReconcileSuspend
}

// rollBack selects the revision that was healthy last, in place of the one that failed.
func (f facts) rollBack() Selection {
	pods, _ := f.healthy.pods(f.Application.UID)
	return Selection{
		Application: withPodFields(f.Application, pods),
		facts:       f,
		spec:        f.healthy.spec,
		from:        &f.deployed,
		cause:       causeOf(f.Health),
	}
}

// blocker is why a failed rollout is not rolled back.
type blocker struct{ reason, message string }

// blocker returns the first reason not to roll back a failed rollout, or nil.
func (f facts) blocker() *blocker {
	for _, find := range []func(facts) *blocker{noHealthyRevision, sameSpec, notTheRevision, revisionGone, revisionRefused} {
		if b := find(f); b != nil {
			return b
		}
	}
	return nil
}

// noHealthyRevision applies if there is no revision to return to.
func noHealthyRevision(f facts) *blocker {
	switch {
	case f.healthy != nil:
		return nil
	case f.status.LastHealthy > 0:
		return &blocker{v1.ReasonNoHealthyRevision, fmt.Sprintf("The ControllerRevision of revision %d, which was healthy last, is gone.", f.status.LastHealthy)}
	default:
		return &blocker{v1.ReasonNoHealthyRevision, "No revision has been healthy yet."}
	}
}

// sameSpec applies if a rollback would change nothing. The revision itself was healthy, and pods that replace its
// own fail; or only ConfigMaps or Secrets have changed, whose former content is not kept.
func sameSpec(f facts) *blocker {
	switch {
	case f.healthy.spec != f.wanted:
		return nil
	case f.healthy.name == f.deployed.name:
		return &blocker{v1.ReasonSameSpec, text.Capitalize(fmt.Sprintf("%s has been healthy, and is what %s.", f.healthy, f.runs()))}
	default:
		return &blocker{v1.ReasonSameSpec, text.Capitalize(fmt.Sprintf(
			"%s, which was healthy last, says the same about the pods; ConfigMaps or Secrets that they use have changed since, and their former content is not kept.", f.healthy))}
	}
}

// runs is a verb, or what the Deployment asks for where perhaps no pod of it is available: all that are may be of an older revision.
func (f facts) runs() string {
	status := f.Health.Status
	if older := status.Replicas - status.UpdatedReplicas; status.AvailableReplicas > older {
		return "runs"
	}
	return "the Deployment asks for"
}

// notTheRevision applies if another revision would fail, too.
func notTheRevision(f facts) *blocker {
	switch worst := f.Health.Worst(); {
	case worst == nil:
		return &blocker{v1.ReasonNotCausedByRevision, "No pod reports why it is not ready."}
	case worst.Reason == v1.ReasonReadinessFailing && !f.Health.LateUntil.IsZero():
		return &blocker{v1.ReasonNotCausedByRevision, fmt.Sprintf("The cluster let the pods start only after the deadline of the rollout; they have until %s to become ready.",
			f.Health.LateUntil.UTC().Format(time.RFC3339))}
	case CausedByRevision(worst.Reason):
		return nil
	default:
		return &blocker{v1.ReasonNotCausedByRevision, fmt.Sprintf("The policy OnFailure does not roll back for %s: the cluster blocks the pods, and may block those of another revision too.", worst.Reason)}
	}
}

// revisionGone applies if the ControllerRevision exists, but its content is not what its name stands for.
func revisionGone(f facts) *blocker {
	if _, found := f.healthy.pods(f.Application.UID); found {
		return nil
	}
	return &blocker{v1.ReasonNoHealthyRevision, fmt.Sprintf("The ControllerRevision %s, which was healthy last, cannot be read.", f.healthy.name)}
}

// revisionRefused applies if the revision breaks rules or limits of the class that changed since, or does not fit the
// rest of the spec any more, such as a route to a port that the pods did not have.
func revisionRefused(f facts) *blocker {
	pods, _ := f.healthy.pods(f.Application.UID)
	errs, _ := f.Validate(withPodFields(f.Application, pods))
	if len(errs) == 0 {
		return nil
	}
	message := fmt.Sprintf("%s, which was healthy last, is not allowed as things are: %s", f.healthy, errs[0])
	if more := len(errs) - 1; more > 0 {
		message += fmt.Sprintf(" (and %d more)", more)
	}
	return &blocker{v1.ReasonRevisionRefused, text.Capitalize(message)}
}

// stay keeps the revision that a rollback restored. The failed revision must not replace it, even if the restored one can
// no longer be rendered. Then all children stay as they are.
func (f facts) stay(m mark) Selection {
	c := Selection{Application: f.Application, facts: f, spec: m.runs.spec, from: &m.from, cause: m.cause}
	// The references may have changed since, and only the revision with the newer ones is kept.
	sameSpec := func(r revision) bool { return r.spec == m.runs.spec }
	known := m.runs
	pods, found := known.pods(f.Application.UID)
	if other := find(f.history, sameSpec); !found && other != nil {
		pods, found = other.pods(f.Application.UID)
	}
	if !found {
		err := field.NotFound(field.NewPath("status", "revision", "current"), m.runs.name)
		err.Detail = "the ControllerRevision that was put back is gone; change what the spec says about the pods to go on"
		c.Invalid, c.InvalidReason = field.ErrorList{err}, v1.ReasonRevisionMissing
		return c
	}
	c.Application = withPodFields(f.Application, pods)
	c.Invalid, c.InvalidReason = f.Validate(c.Application)
	for _, err := range c.Invalid {
		err.Detail = "of the revision that was put back: " + err.Detail
	}
	return c
}

// causeOf returns why the rollout failed.
func causeOf(rollout health.Rollout) string {
	worst := rollout.Worst()
	if worst == nil {
		return v1.ReasonProgressDeadlineExceeded + "."
	}
	message := rollout.Describe(worst)
	if message == "" {
		return worst.Reason + "."
	}
	return worst.Reason + ": " + message
}
