// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package why explains the state of an Application: what is wrong, the evidence for it, and what to do next. It is pure,
// and states nothing that the objects do not show.
package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/health"
)

// Answer is the answer for one Application. Its JSON is stable: fields are added, never changed.
type Answer struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Ready     bool   `json:"ready"`
	// Headline is the answer in one sentence.
	Headline string `json:"headline"`
	// Findings are what is wrong, or worth knowing; the worst first.
	Findings []Finding `json:"findings,omitempty"`
	// Unreadable are the resources that the user may not list, so that findings may be missing.
	Unreadable []string `json:"unreadable,omitempty"`
}

// Finding is one thing that is wrong, or worth knowing.
type Finding struct {
	// Reason is that of a condition or of a problem, where there is one.
	Reason string `json:"reason"`
	// What is the finding in a sentence.
	What     string     `json:"what"`
	Evidence []Evidence `json:"evidence,omitempty"`
	// Next are steps that help; each is a sentence, or a command.
	Next []string `json:"next,omitempty"`
	// left is the object that an earlier Application left behind, if that is the finding.
	left string
	// removable says that it may be deleted: no pod that runs needs it.
	removable bool
	// otherwise are the steps that are about this object alone. They stay if one finding is about several objects.
	otherwise []string
	// comes says, as an attribute of the pods, that nothing refuses them any more: they wait until Kubernetes tries again.
	comes string
	// idle says that the finding is about a pause for which nothing waits.
	idle bool
	// heldByFinalizer is the child that is being deleted and waits for a finalizer, if that is the finding.
	heldByFinalizer string
}

// Evidence is where the finding comes from.
type Evidence struct {
	// Object is in the form Kind/name.
	Object string `json:"object"`
	// Field is the path of what the message was read from, or the reason of an Event.
	Field   string `json:"field"`
	Message string `json:"message,omitempty"`
	// Time is when the message was observed; of a condition, since when it has its status.
	Time *time.Time `json:"time,omitempty"`
	// status is that of a condition. Its message may be newer than the time.
	status metav1.ConditionStatus
}

// facts are the inputs of the rules.
type facts struct {
	*cluster.Loaded
	app   *v1.Application
	ready *metav1.Condition
	// losesDeployment is what LosesDeployment reports.
	losesDeployment bool
}

// rule finds one kind of problem, or none. Most findings exclude no others.
type rule func(facts) []Finding

// Explain answers for one Application.
func Explain(loaded *cluster.Loaded) Answer {
	f := facts{Loaded: loaded, app: loaded.Application, losesDeployment: LosesDeployment(loaded)}
	f.ready = meta.FindStatusCondition(f.app.Status.Conditions, v1.ConditionReady)
	answer := Answer{Namespace: f.app.Namespace, Name: f.app.Name, Unreadable: slices.Sorted(maps.Keys(loaded.Unreadable))}
	rules := []rule{
		statusRefused, // Status may be about an earlier state.
		notObserved,   // Status is about an older spec.
		refusedSpec,
		rolledBack,
		pinned,
		children,
		missingConfig,
		pods,
		lostFormer,
		notYetAvailable,
		unboundClaims,
		disabledAutoscaler,
		notRolledBack, // The cause comes first, and why nothing helps against it after it.
		addedToHeld,   // --rollout is refused while the container is there.
		portsWithoutPods,
		pausedRollout,
		routes,
		unusedParents,
		pendingService,
		missingCertificates,
		drift,
		added,
		overClass,
		blockedDrains,
		secondary,
	}
	if f.losesDeployment { // What status says of pods is of before.
		rules = []rule{
			lostDeployment, statusRefused, rolledBack, children, pausedRollout, routes, unusedParents, pendingService, missingCertificates, drift, overClass, secondary,
		}
	}
	if f.isSuspended() {
		// All else is read from status, which shows an earlier state.
		rules = []rule{statusRefused, notObserved, failingWhileSuspended, missingWhileSuspended, added}
	}
	if f.app.DeletionTimestamp != nil {
		rules = []rule{deletion, statusRefused} // Nothing else matters: no change of the spec helps.
	}
	for _, find := range rules {
		answer.Findings = append(answer.Findings, find(f)...)
	}
	slices.SortStableFunc(answer.Findings, func(a, b Finding) int { return rank(a) - rank(b) }) // What keeps it from being ready comes first.
	answer.Ready = f.ready != nil && f.ready.Status == metav1.ConditionTrue && f.observed() && !f.losesDeployment
	answer.Headline = headline(f, answer)
	return answer
}

// rank is 1 for a finding that follows all others.
func rank(finding Finding) int {
	if finding.idle {
		return 1
	}
	return 0
}

func headline(f facts, answer Answer) string {
	name := f.app.Namespace + "/" + f.app.Name
	switch {
	case f.app.DeletionTimestamp != nil:
		return name + " is being deleted."
	case f.statusRefusal() != nil && !f.isSuspended():
		return name + " shows a status that may be out of date: the API server refused a newer one."
	case f.losesDeployment && f.ready.Status == metav1.ConditionTrue:
		return name + " has no Deployment, although its status says that it is ready."
	case f.losesDeployment:
		return name + " has no Deployment, and its status does not show that."
	case answer.Ready && len(answer.Findings) == 0:
		return fmt.Sprintf("%s is ready: %s", name, cmp.Or(f.ready.Message, "nothing is wrong."))
	case answer.Ready:
		return fmt.Sprintf("%s is ready, but there is something to know.", name)
	case f.isSuspended():
		return name + " is suspended."
	case !f.observed() && f.app.Status.ObservedGeneration > 0:
		return fmt.Sprintf("The present spec of %s has not been observed: the controller has observed generation %d, not %d.",
			name, f.app.Status.ObservedGeneration, f.app.Generation)
	case f.ready == nil || !f.observed():
		return fmt.Sprintf("%s has not been observed by the controller yet.", name)
	case len(answer.Findings) == 0:
		return fmt.Sprintf("%s is not ready (%s): %s", name, f.ready.Reason, f.ready.Message)
	case f.onlyGone():
		return fmt.Sprintf("%s is not ready (%s): %s.", name, f.ready.Reason, checksAgain)
	case f.refused() && comes(answer) != "":
		return fmt.Sprintf("%s is not ready (%s): Kubernetes tries again within 17 minutes to create its pods, %s.", name, f.ready.Reason, comes(answer))
	case meta.IsStatusConditionTrue(f.app.Status.Conditions, v1.ConditionStalled) && f.lacksNode():
		return fmt.Sprintf("%s is not ready (%s), and will not be until a node can take its pods, or someone acts.", name, f.ready.Reason)
	case meta.IsStatusConditionTrue(f.app.Status.Conditions, v1.ConditionStalled) && f.refused():
		return fmt.Sprintf("%s is not ready (%s), and will not be until the API server accepts its pods.", name, f.ready.Reason)
	case f.ready.Reason == v1.ReasonContended:
		return fmt.Sprintf("%s is not ready (%s): Fairlead repairs the child again within 5 minutes, which lasts once the other writer has stopped.", name, f.ready.Reason)
	case f.onlyLate():
		return fmt.Sprintf("%s is not ready (%s): its pods missed the deadline of the rollout, and may need someone to act.", name, f.ready.Reason)
	case meta.IsStatusConditionTrue(f.app.Status.Conditions, v1.ConditionStalled) && !f.waitsForWriter(answer):
		return fmt.Sprintf("%s is not ready (%s), and will not be until someone acts.", name, f.ready.Reason)
	case f.ready.Reason == v1.ReasonDrifted:
		return fmt.Sprintf("%s is not ready (%s): it waits for you, since reconcilePolicy is Observe.", name, f.ready.Reason)
	case f.ready.Reason == v1.ReasonPaused:
		return fmt.Sprintf("%s is not ready (%s): it waits until you %s%s.", name, f.ready.Reason, f.endOfPause(), f.besidePause())
	case f.holdsRollout():
		return fmt.Sprintf("%s is not ready (%s). Its rollout waits until you %s%s.", name, f.ready.Reason, f.endOfPause(), f.besidePause())
	case f.ready.Reason == v1.ReasonConfigMissing:
		return fmt.Sprintf("%s is not ready (%s): it waits for what is missing.", name, f.ready.Reason)
	}
	if waits := f.waitsFor(answer); waits != "" {
		return fmt.Sprintf("%s is not ready (%s): %s.", name, f.ready.Reason, waits)
	}
	return fmt.Sprintf("%s is not ready (%s); the controller is still at work.", name, f.ready.Reason)
}

// holdsRollout reports whether a rollout waits because rollouts are paused. Ready may have another reason, which the pause does not explain;
// what goes on beside a pause, such as a scaling, is Reconciling or Stalled.
func (f facts) holdsRollout() bool {
	isTrue := func(kind string) bool { return meta.IsStatusConditionTrue(f.app.Status.Conditions, kind) }
	if f.ready == nil || f.ready.Reason == v1.ReasonPaused {
		return f.ready != nil
	}
	return f.ready.Status == metav1.ConditionFalse && isTrue(v1.ConditionPaused) && !isTrue(v1.ConditionReconciling) && !isTrue(v1.ConditionStalled) &&
		slices.ContainsFunc(f.app.Status.Problems, func(problem v1.Problem) bool { return problem.Reason == f.ready.Reason })
}

// besidePause is what keeps pods from serving beside the pause, or that some do not; "" if all are available.
func (f facts) besidePause() string {
	const helpless = ", but that does not help against "
	status := &f.app.Status
	switch worst := (health.Rollout{Problems: status.Problems}).Worst(); {
	case worst != nil:
		return helpless + worst.Reason
	case len(lostFormer(f)) > 0:
		return helpless + v1.ReasonNodeLost
	case status.AvailableReplicas == 0 && status.DesiredReplicas > 0:
		return ", and no pod is available"
	case status.AvailableReplicas < status.DesiredReplicas:
		return fmt.Sprintf(", and only %d of %d pods are available", status.AvailableReplicas, status.DesiredReplicas)
	default:
		return ""
	}
}

// lacksNode reports whether the pods wait for a node, such as one that an autoscaler of the cluster adds, and not for a volume.
func (f facts) lacksNode() bool {
	return f.ready.Reason == v1.ReasonUnschedulable && !slices.ContainsFunc(f.app.Status.Problems, lacksVolume)
}

// onlyLate reports whether the deadline of the rollout has passed, and its pods may become ready all the same: they run, or Kubernetes
// replaces them, or none says why it is late.
func (f facts) onlyLate() bool {
	stalled := f.condition(v1.ConditionStalled)
	return stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.Reason == v1.ReasonProgressDeadlineExceeded && slices.Contains([]string{
		v1.ReasonReadinessFailing, v1.ReasonProgressDeadlineExceeded, v1.ReasonVolumeNotMounting, v1.ReasonNodeLost, v1.ReasonPodRejected, v1.ReasonEvicted,
	}, f.ready.Reason)
}

// isSuspended reports whether the controller leaves the Application alone. Deletion goes on.
func (f facts) isSuspended() bool {
	return f.app.Spec.ReconcilePolicy == v1.ReconcileSuspend && f.app.DeletionTimestamp == nil
}

// observed reports whether status is about the present spec.
func (f facts) observed() bool { return f.app.Status.ObservedGeneration == f.app.Generation }

// condition returns a condition that is about the present spec, or nil.
func (f facts) condition(kind string) *metav1.Condition {
	return meta.FindStatusCondition(f.app.Status.Conditions, kind)
}

// conditionEvidence is a condition of the Application as evidence.
func (f facts) conditionEvidence(condition *metav1.Condition) Evidence {
	since := &condition.LastTransitionTime.Time
	if since.Unix() <= 0 {
		since = nil // It is the default of the schema.
	}
	return Evidence{
		Object: v1.ApplicationKind + "/" + f.app.Name, Field: "status.conditions[" + condition.Type + "]",
		Message: condition.Message, Time: since, status: condition.Status,
	}
}
