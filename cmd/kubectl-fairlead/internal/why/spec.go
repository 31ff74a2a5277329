// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/revision"
)

// deletion explains a deletion that waits.
func deletion(f facts) []Finding {
	if f.app.DeletionTimestamp == nil {
		return nil
	}
	since := &f.app.DeletionTimestamp.Time
	object := v1.ApplicationKind + "/" + f.app.Name
	var found []Finding
	for _, finalizer := range f.app.Finalizers {
		finding := Finding{
			Reason:   v1.ReasonDeleting,
			What:     fmt.Sprintf("The deletion waits for the finalizer %s.", finalizer),
			Evidence: []Evidence{{Object: object, Field: "metadata.finalizers", Message: finalizer, Time: since}},
		}
		switch finalizer {
		case v1.FinalizerOrphan:
			finding.What = "The deletion waits until Fairlead has released the children, as deletionPolicy Orphan asks."
			finding.Next = []string{"Check that the controller runs: kubectl fairlead doctor"}
			if f.ready != nil && f.ready.Reason == v1.ReasonDeleting && f.observed() { // The controller runs, and says what it waits for.
				finding.Next = []string{"Solve what the condition names. The controller tries again until it succeeds."}
				finding.Evidence = append(finding.Evidence, f.conditionEvidence(f.ready))
			}
		case metav1.FinalizerDeleteDependents:
			finding.What = "The deletion is in the foreground and waits until the children are gone."
			finding.Evidence = append(finding.Evidence, f.childrenBeingDeleted()...)
			finding.Next = []string{"Look for a finalizer on a child that nothing removes: kubectl fairlead tree " + f.app.Name}
		default:
			finding.Next = removeFinalizer(fmt.Sprintf("%s.%s %s", v1.ApplicationResource, v1.SchemeGroupVersion.Group, f.app.Name))
		}
		found = append(found, finding)
	}
	if released := f.releasedForGood(); len(found) > 0 && len(released) > 0 {
		found[0].What += " Its children were released already and stay, although deletionPolicy is not Orphan any more."
		found[0].Next = append(found[0].Next, "To delete the children too: kubectl delete "+strings.Join(released, " "))
	}
	return found
}

func (f facts) childrenBeingDeleted() []Evidence {
	var evidence []Evidence
	for _, live := range f.Children {
		if live.GetDeletionTimestamp() != nil && len(live.GetFinalizers()) > 0 {
			evidence = append(evidence, Evidence{
				Object: live.GetObjectKind().GroupVersionKind().Kind + "/" + live.GetName(), Field: "metadata.finalizers",
				Message: strings.Join(live.GetFinalizers(), ", "), Time: &live.GetDeletionTimestamp().Time,
			})
		}
	}
	return evidence
}

// notObserved explains a status about another spec.
func notObserved(f facts) []Finding {
	observed := "no generation yet"
	if f.app.Status.ObservedGeneration > 0 {
		observed = strconv.FormatInt(f.app.Status.ObservedGeneration, 10)
	}
	evidence := []Evidence{{
		Object: v1.ApplicationKind + "/" + f.app.Name, Field: "status.observedGeneration",
		Message: fmt.Sprintf("%s, but metadata.generation is %d", observed, f.app.Generation),
	}}
	switch {
	case f.isSuspended():
		what := "Fairlead does nothing, because spec.reconcilePolicy is Suspend: status shows the state before that."
		what += f.withoutOwn("Fairlead creates none before the suspension ends.")
		return []Finding{{
			Reason: v1.ReasonSuspended, What: what,
			Evidence: []Evidence{{Object: v1.ApplicationKind + "/" + f.app.Name, Field: "spec.reconcilePolicy", Message: string(v1.ReconcileSuspend)}},
			Next:     f.afterSuspension(),
		}}
	case f.observed() || f.app.DeletionTimestamp != nil || f.statusRefusal() != nil:
		return nil
	default:
		what := "The controller has not observed the present spec."
		if paused := f.condition(v1.ConditionPaused); paused != nil && paused.Status == metav1.ConditionTrue && !f.asksForPause() {
			what += " Until it does, rollouts stay paused."
		}
		return []Finding{{
			Reason: "NotObserved", What: what, Evidence: evidence,
			Next: []string{"If this lasts longer than a few seconds, check that the controller runs and watches this namespace: kubectl fairlead doctor"},
		}}
	}
}

// refusals are the reasons of a spec that is not carried out, with what to do.
var refusals = map[string]string{
	v1.ReasonInvalid:            "Correct the field; before you apply it, check it: kubectl fairlead lint -f FILE",
	v1.ReasonRouteConflict:      "Use another host name or path, or remove it from the Application that has it.",
	v1.ReasonRevisionMissing:    "Change what the spec says about the pods: that starts a new revision.",
	v1.ReasonClassNotFound:      "Name a class that exists: kubectl fairlead classes lists them, and so does the warning when you apply the Application",
	v1.ReasonClassNotAllowed:    "Name a class that selects this namespace, or ask the platform team: kubectl fairlead classes",
	v1.ReasonClassRequired:      "Name a class in spec.className, or ask the platform team for one: kubectl fairlead classes",
	v1.ReasonClassInvalid:       "Ask the platform team to correct the class, or name another one: kubectl fairlead classes",
	v1.ReasonClassLimitExceeded: "Stay within the limits of the class, or name another one: kubectl fairlead classes",
}

// withoutClass is what a user gives up who removes spec.className where no class is the default.
const withoutClass = " Without a class, the Application has no defaults of one, such as a NetworkPolicy."

// refusedSpec explains a spec that is not carried out; the last good children stay.
func refusedSpec(f facts) []Finding {
	if f.ready == nil || f.ready.Status == metav1.ConditionTrue {
		return nil
	}
	step, refused := refusals[f.ready.Reason]
	if !refused {
		return nil
	}
	next := []string{step}
	what := "The spec is not carried out: it " + refusalWords(f.ready.Reason) + ". " + f.unchanged()
	if f.ClassesMissing && LacksClass(f.app) {
		next = []string{
			"The cluster has no ApplicationClass: ask the platform team to create the class.",
			"Or remove spec.className, if the platform does not require a class." + withoutClass,
		}
	}
	if none, mayHaveNone := class.NoneSelects(f.ready.Message); none {
		next = []string{"No class selects this namespace: ask the platform team for one that does."}
		if mayHaveNone {
			next = append(next, "Or remove spec.className."+withoutClass)
		}
	}
	if rollback := f.app.Spec.Rollback; f.ready.Reason == v1.ReasonRevisionMissing && rollback != nil && rollback.ToRevision != nil {
		what = "The spec is not carried out: it names a revision that does not exist. " + f.unchanged()
		next = []string{
			"See which revisions exist, and name one of them in spec.rollback.toRevision: kubectl fairlead history " + f.app.Name,
			"Or remove the field, so that the pods of the spec run: " + edit.Unpin(f.app.Name),
		}
	}
	if owner := validation.GivenUpBy(f.ready.Message); f.ready.Reason == v1.ReasonRouteConflict && owner != "" {
		next = []string{
			fmt.Sprintf("Let Fairlead go on with Application %s, so that it gives the host name up: kubectl fairlead resume %[1]s", owner),
			"Or use another host name or path.",
		}
	}
	if f.ready.Reason == v1.ReasonRouteConflict && validation.NeedsOtherHost(f.ready.Message) {
		next = []string{"Use another host name, or remove it from the Application that has it."}
	}
	if f.ready.Reason == v1.ReasonRouteConflict && validation.NeedsSharing(f.ready.Message) {
		next = append(next, "Or ask the platform team to share the host name, so that each namespace has other paths of it: limits.sharedHostnames in the classes of both.")
	}
	if f.refusesPin() {
		pin := edit.PinOf(f.app)
		what = fmt.Sprintf("Revision %d, which spec.rollback.toRevision asks for, is not carried out: it %s. %s", pin, refusalWords(f.ready.Reason), f.unchanged())
		if f.observed() && edit.RunsPinned(f.Objects) && !f.lacksDeployment() && !f.isIn(v1.ResourceDrifted, child.Deployment) {
			what = fmt.Sprintf("Revision %d, which spec.rollback.toRevision asks for, %s. Its pods run on. %s", pin, refusalWords(f.ready.Reason), f.unchanged())
		}
		next = []string{
			"Let the pods of the spec run: " + edit.Unpin(f.app.Name),
			"Or go to another revision: kubectl fairlead history " + f.app.Name,
		}
		if revision.FitsAfterEdit(f.ready.Message) {
			next[0] = "Or let the pods of the spec run: " + edit.Unpin(f.app.Name)
			next = append([]string{"Change the field that the message names: it is no part of the revision, which is carried out as soon as the field fits its pods."}, next...)
		}
	}
	if strings.Contains(f.ready.Message, "of the revision that was put back: ") {
		what = "The revision that was put back after a failed rollout is not carried out: it " + refusalWords(f.ready.Reason) + ". " + f.unchanged()
		next = []string{"Change the pods in the spec, so that they roll out instead, or ask the platform team about the rule that the message names."}
	}
	return []Finding{{Reason: f.ready.Reason, What: what, Evidence: []Evidence{f.conditionEvidence(f.ready)}, Next: next}}
}

// refusesPin reports whether the revision that the spec names is refused, and not the rest of the spec.
func (f facts) refusesPin() bool {
	pin := edit.PinOf(f.app)
	return pin > 0 && f.ready != nil && strings.Contains(f.ready.Message, fmt.Sprintf("in revision %d, which spec.rollback.toRevision asks for", pin))
}

// unchanged says what a refused spec means for the children, and for the pods if there is no Deployment.
func (f facts) unchanged() string {
	const what = "No child was changed. Until the spec is accepted, Fairlead does not repair or recreate a child either."
	return what + f.withoutOwn("none start before that.")
}

// withoutOwn says what it means that the Application has no Deployment, and until when; "" if it has one. One of that name that is not the
// Application's, such as a Deployment that an earlier Application left behind, may serve all the same.
func (f facts) withoutOwn(until string) string {
	switch {
	case !f.lacksDeployment():
		return ""
	case child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name) != nil:
		return fmt.Sprintf(" Deployment %s is not the Application's, and Fairlead leaves it and its pods as they are.", f.app.Name)
	default:
		return " There is no Deployment of the Application, so it has no pods, and " + until
	}
}

// lacksDeployment reports whether the Application has no Deployment, as far as the user may read it.
func (f facts) lacksDeployment() bool {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	return f.Unreadable[child.Deployment.Resource] == nil && (deployment == nil || !child.OwnedBy(deployment, f.app))
}

func refusalWords(reason string) string {
	switch reason {
	case v1.ReasonRouteConflict:
		return "claims a host name and path that another Application has"
	case v1.ReasonRevisionMissing:
		return "was rolled back to a revision that was deleted since"
	case v1.ReasonClassNotFound:
		return "names a class that does not exist"
	case v1.ReasonClassNotAllowed:
		return "names a class that does not select this namespace"
	case v1.ReasonClassRequired:
		return "names no class, and there is no default"
	case v1.ReasonClassInvalid:
		return "cannot be combined with its class"
	case v1.ReasonClassLimitExceeded:
		return "exceeds a limit of its class"
	default:
		return "breaks a rule"
	}
}

// pausedRollout explains a rollout that a user stopped.
func pausedRollout(f facts) []Finding {
	paused := f.condition(v1.ConditionPaused)
	isBlocked := f.ready != nil && f.ready.Reason == v1.ReasonConflict && f.lacksDeployment()
	if paused == nil || paused.Status != metav1.ConditionTrue || !f.asksForPause() || f.isIn(v1.ResourceConflict, child.Deployment) || isBlocked {
		return nil // The way out, to take the Deployment back or to adopt it, needs the pause.
	}
	if found := f.startsNoPods(); len(found) > 0 {
		return found
	}
	if f.losesDeployment {
		return f.pausedWithout(paused)
	}
	if f.app.Spec.AdoptionPolicy == v1.AdoptionConsented {
		adopted := f.condition(v1.ConditionAdopted)
		if adopted != nil && adopted.Status != metav1.ConditionTrue && adopted.Reason != v1.ReasonPaused { // Then the pause is the cause.
			return f.heldAdoption(adopted)
		}
	}
	finding := Finding{
		Reason: v1.ReasonPaused, What: "Rollouts are paused: a change of the pods waits.",
		Evidence: []Evidence{{Object: v1.ApplicationKind + "/" + f.app.Name, Field: "spec.paused", Message: "true", Time: &paused.LastTransitionTime.Time}},
		Next:     []string{"Go on: kubectl fairlead resume " + f.app.Name},
		idle:     !f.holdsRollout(),
	}
	if !finding.idle {
		finding.What = "A rollout waits, because rollouts are paused."
		finding.Evidence = append(finding.Evidence, f.conditionEvidence(f.ready))
	}
	if f.ready != nil && slices.Contains(v1.RefusalReasons, f.ready.Reason) {
		finding.Next = nil // Nothing of a refused spec goes on; the finding about that says what to do.
	}
	return []Finding{finding}
}

// asksForPause reports whether the present spec pauses rollouts. The condition may be about an earlier one.
func (f facts) asksForPause() bool { return f.app.Spec.Paused != nil && *f.app.Spec.Paused }

// pinned explains why the pods are not those of the spec.
func pinned(f facts) []Finding {
	status, number := f.app.Status.Revision, edit.PinOf(f.app)
	if !f.observed() || !edit.RunsPinned(f.Objects) || f.ready != nil && f.ready.Reason == v1.ReasonRevisionMissing || f.refusesPin() {
		return nil // If it is not carried out, another finding says why, and how to remove the pin.
	}
	what := fmt.Sprintf("Revision %d runs, because spec.rollback.toRevision names it, whatever else the spec says about the pods.", number)
	if status.Current != number {
		what = fmt.Sprintf("Revision %d runs, because spec.rollback.toRevision names revision %d, which has the same pods, whatever else the spec says about them.", status.Current, number)
	}
	if f.isIn(v1.ResourceDrifted, child.Deployment) || f.holdsRollout() {
		return nil // Other pods run: under Observe another client may have set them, and a paused rollout waits.
	}
	return []Finding{{
		Reason:   "Pinned",
		What:     what,
		Evidence: []Evidence{{Object: v1.ApplicationKind + "/" + f.app.Name, Field: "spec.rollback.toRevision", Message: strconv.FormatInt(number, 10)}},
		Next:     []string{f.onceRight() + ", remove the field, so that the pods of the spec run: " + edit.Unpin(f.app.Name)},
	}}
}

// onceRight is what ends the reason for a pin: undo also pins a revision if the class changed the pods.
func (f facts) onceRight() string {
	if f.app.Status.Class != nil {
		return "Once the spec and its class are right"
	}
	return "Once the spec is right"
}

// notRolledBack explains why no earlier revision runs, although the spec asks for it.
func notRolledBack(f facts) []Finding {
	condition := f.condition(v1.ConditionRolledBack)
	if condition == nil || condition.Status == metav1.ConditionTrue {
		return nil
	}
	asks := "spec.rollback"
	if class := f.classOfRollback(); class != "" {
		asks = "ApplicationClass " + class
	}
	return []Finding{{
		Reason: condition.Reason, What: "The failed rollout is not rolled back, although " + asks + " asks for it.",
		Evidence: []Evidence{f.conditionEvidence(condition)},
	}}
}

// secondary are the conditions that do not keep the Application from being ready.
func secondary(f facts) []Finding {
	var found []Finding
	for _, kind := range []struct{ condition, what, next string }{
		{v1.ConditionAutoscalingActive, "The autoscaler does not scale.", "Check that the cluster serves the metrics that it asks for: kubectl get apiservices"},
		{v1.ConditionMonitoringReady, "The metrics are not scraped.", "Install the Prometheus Operator, or remove spec.monitoring."},
		{v1.ConditionConfigWatched, "A changed ConfigMap or Secret does not roll the pods.", "Ask the platform team for the permission that the message names."},
	} {
		condition := f.condition(kind.condition)
		if condition == nil || condition.Status != metav1.ConditionFalse {
			continue
		}
		if kind.condition == v1.ConditionAutoscalingActive && f.autoscalerDisabled() {
			continue // There is a finding about it.
		}
		next := kind.next
		if set := f.setRequest(condition.Message); kind.condition == v1.ConditionAutoscalingActive && set != "" {
			next = set
		}
		if condition.Reason == reasonAmbiguous {
			found = append(found, f.ambiguousAutoscaler(condition))
			continue
		}
		if _, class := f.class(); kind.condition == v1.ConditionMonitoringReady && f.app.Spec.Monitoring == nil && class != "" {
			next = "Ask the platform team to install the Prometheus Operator, or to leave monitoring out of ApplicationClass " + class + "."
		}
		found = append(found, Finding{Reason: condition.Reason, What: kind.what, Evidence: []Evidence{f.conditionEvidence(condition)}, Next: []string{next}})
	}
	return found
}
