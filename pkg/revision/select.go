// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/text"
)

// Input is everything that a selection is made from.
type Input struct {
	// Application is the Application with the defaults of its class.
	Application *v1.Application
	// Deployment is the live one, if the Application owns it; nil otherwise.
	Deployment *appsv1.Deployment
	// History are the live ControllerRevisions that the Application owns, in no order.
	History []*appsv1.ControllerRevision
	// Health is how the rollout of the Deployment stands.
	Health health.Rollout
	// Validate checks an Application as its author's is checked, limits of the class included.
	Validate func(*v1.Application) (errs field.ErrorList, reason string)
}

// Selection is what the pods are to be.
type Selection struct {
	// Application is what is to be rendered.
	Application *v1.Application
	// Invalid is why what runs since a rollback cannot be rendered any more. Then nothing is to be
	// changed. InvalidReason is the reason for a condition.
	Invalid       field.ErrorList
	InvalidReason string

	facts facts
	// spec is the key of what Application says about the pods.
	spec string
	// pinned is the revision that spec.rollback.toRevision asks for; nil if it asks for none.
	pinned *revision
	// from is the revision that was given up, for that cause; nil if the spec is what runs.
	from  *revision
	cause string
	// blocked is why the failed rollout is not rolled back although the spec asks for it.
	blocked *blocker
}

// blocker is why a failed rollout is not taken back.
type blocker struct{ reason, message string }

// facts are the Input, looked at.
type facts struct {
	Input
	status v1.RevisionStatus
	// pods are what the spec says about the pods, encoded, and wanted is the key of that.
	pods    json.RawMessage
	wanted  string
	history []revision
	// deployed is the revision of the Deployment. If its ControllerRevision is gone, only the name
	// and the key are known; both are empty if there is no Deployment, or it has no revision.
	deployed revision
	// healthy is the revision that was healthy last; nil if none was, or it is gone.
	healthy *revision
}

func newFacts(in Input) (facts, error) {
	f := facts{Input: in, history: read(in.Application, in.History)}
	if s := in.Application.Status.Revision; s != nil {
		f.status = *s
	}
	var err error
	if f.pods, err = encode(podSpec(&in.Application.Spec)); err != nil {
		return facts{}, err
	}
	f.wanted = keyOf(in.Application.UID, f.pods)
	if in.Deployment != nil {
		name := in.Deployment.Annotations[v1.AnnotationRevision]
		f.deployed = revision{name: name, spec: keyInName(in.Application, name)}
	}
	if known := find(f.history, named(f.deployed.name)); known != nil {
		f.deployed = *known
	}
	f.healthy = find(f.history, numbered(f.status.LastHealthy))
	if in.Health.Healthy() && f.deployed.data != nil {
		f.healthy = &f.deployed
	}
	return f, nil
}

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
	for _, refuse := range blockers() {
		if asSpecified.blocked = refuse(f); asSpecified.blocked != nil {
			return asSpecified, nil
		}
	}
	pods, _ := f.healthy.pods(in.Application.UID)
	return Selection{
		Application: withPodFields(in.Application, pods),
		facts:       f,
		spec:        f.healthy.spec,
		from:        &f.deployed,
		cause:       causeOf(in.Health),
	}, nil
}

// failed reports whether what the spec asks for was tried and has failed, and must be rolled back. It is
// about this very spec: the Deployment carries the name of its revision, so the failure cannot be that
// of another one.
func (f facts) failed() bool {
	rollback, paused := f.Application.Spec.Rollback, f.Application.Spec.Paused
	return f.Health.TimedOut && f.deployed.spec == f.wanted &&
		rollback != nil && rollback.Policy == v1.RollbackOnFailure &&
		(paused == nil || !*paused) &&
		f.Application.Spec.ReconcilePolicy != v1.ReconcileObserve
}

// blockers returns the reasons not to roll back a failed rollout, in the order in which they are checked. Each returns nil
// if it does not apply.
func blockers() []func(facts) *blocker {
	return []func(facts) *blocker{
		noHealthyRevision,
		sameSpec,
		notTheRevision,
		revisionGone,
		revisionRefused,
	}
}

// noHealthyRevision: there is nothing to go back to.
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

// sameSpec: going back would change nothing. The revision itself was healthy, and pods that replace its
// own fail; or only ConfigMaps or Secrets have changed, whose former content nobody has kept.
func sameSpec(f facts) *blocker {
	switch {
	case f.healthy.spec != f.wanted:
		return nil
	case f.healthy.name == f.deployed.name:
		return &blocker{v1.ReasonSameSpec, text.Capitalize(fmt.Sprintf("%s has been healthy, and is what runs.", f.healthy))}
	default:
		return &blocker{v1.ReasonSameSpec, text.Capitalize(fmt.Sprintf(
			"%s, which was healthy last, says the same about the pods; ConfigMaps or Secrets that they use have changed since, and their former content is not kept.", f.healthy))}
	}
}

// notTheRevision: another revision would not fare better.
func notTheRevision(f facts) *blocker {
	switch worst := f.Health.Worst(); {
	case worst == nil:
		return &blocker{v1.ReasonNotCausedByRevision, "No pod reports why it is not ready."}
	case causedByRevision(worst.Reason):
		return nil
	default:
		return &blocker{v1.ReasonNotCausedByRevision, fmt.Sprintf("Another revision would not fix %s.", worst.Reason)}
	}
}

// revisionGone: the object is there, but is not what its name stands for.
func revisionGone(f facts) *blocker {
	if _, found := f.healthy.pods(f.Application.UID); found {
		return nil
	}
	return &blocker{v1.ReasonNoHealthyRevision, fmt.Sprintf("The ControllerRevision %s, which was healthy last, cannot be read.", f.healthy.name)}
}

// revisionRefused: the rules, or the limits of the class, are others by now; or what is around the pods
// does not fit them any more, such as a route to a port that they did not have.
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

// stay keeps what was put back. It must not be replaced by what has failed, even if it cannot be rendered
// any more; then everything is left as it is.
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

// causeOf says why the rollout failed.
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

// condition is the condition RolledBack, or nil where it does not apply. runs is what is to run.
func (c Selection) condition(runs revision) *metav1.Condition {
	switch {
	case c.from != nil:
		return &metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonRolledBack, Message: text.Capitalize(fmt.Sprintf(
			"%s failed: %s %s runs instead, until the spec says something else about the pods.", c.from.describe(c.facts.Application.Spec.Image), c.cause, text.Capitalize(runs.String())))}
	case c.blocked != nil:
		return &metav1.Condition{Status: metav1.ConditionFalse, Reason: c.blocked.reason, Message: c.blocked.message}
	default:
		return nil
	}
}

// describe is String for a revision whose object may be gone, but whose image is known.
func (r revision) describe(image string) string {
	return fmt.Sprintf("revision %d (%s)", r.number, image)
}
