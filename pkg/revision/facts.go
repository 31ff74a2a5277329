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

// Selection is the selected state of the pods.
type Selection struct {
	// Application is the one to render.
	Application *v1.Application
	// Invalid is why the selected revision cannot be rendered. Then no child may change. InvalidReason is the reason
	// for a condition.
	Invalid       field.ErrorList
	InvalidReason string

	facts facts
	// spec is the key of what Application says about the pods.
	spec string
	// pinned is the revision that spec.rollback.toRevision asks for; nil if it asks for none.
	pinned *revision
	// from is the revision that failed, because of cause; nil if the spec runs.
	from  *revision
	cause string
	// blocked is why the failed rollout is not rolled back although the spec asks for it.
	blocked *blocker
}

// facts are the Input and what follows from it.
type facts struct {
	Input
	status v1.RevisionStatus
	// pods is the pod part of the spec, encoded, and wanted is its key.
	pods    json.RawMessage
	wanted  string
	history []revision
	// deployed is the revision of the Deployment. If its ControllerRevision is gone, only the name
	// and the key are known; both are empty if there is no Deployment, or it has no revision.
	deployed revision
	// healthy is the revision that was healthy last, of those that are still there; nil if there is none.
	healthy *revision
	// wereHealthy are the names of the revisions that were healthy, as far as the status says.
	wereHealthy []string
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
	for _, number := range append([]int64{f.status.LastHealthy}, f.status.FormerHealthy...) {
		if known := f.numberedInStatus(number); known != nil {
			f.wereHealthy = append(f.wereHealthy, known.name)
		}
	}
	if f.healthy = f.numberedInStatus(f.status.LastHealthy); f.healthy == nil {
		f.healthy = find(f.history, f.wasHealthy)
	}
	if in.Health.Healthy() && f.deployed.data != nil {
		f.healthy = &f.deployed
	}
	return f, nil
}

// numberedInStatus returns the revision of a number that the status has. The status is written after the ControllerRevision,
// which may have a higher number already.
func (f facts) numberedInStatus(number int64) *revision {
	if known := find(f.history, numbered(number)); known != nil || number == 0 {
		return known
	}
	return find(f.history, formerlyNumbered(number))
}

// condition is the condition RolledBack, or nil where it does not apply. runs is what is to run.
func (c Selection) condition(runs revision) *metav1.Condition {
	switch {
	case c.from != nil:
		return &metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonRolledBack, Message: rolledBackMessage(c.facts.Application, *c.from, runs, c.cause)}
	case c.blocked != nil:
		return &metav1.Condition{Status: metav1.ConditionFalse, Reason: c.blocked.reason, Message: c.blocked.message}
	default:
		return nil
	}
}

func rolledBackMessage(application *v1.Application, from, runs revision, cause string) string {
	return text.Capitalize(fmt.Sprintf("%s failed: %s %s runs instead.",
		from.describe(application.Spec.Image), cause, text.Capitalize(runs.String())))
}

// describe is String for a revision whose object may be gone, but whose image is known.
func (r revision) describe(image string) string {
	return fmt.Sprintf("revision %d (%s)", r.number, image)
}
