// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/duration"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/tree"
)

// lagAfter is how long a busy controller may take to observe a spec, or to finish a deletion. Large Applications of a namespace
// take turns: a spec of one may wait for largeLagAfter.
const (
	lagAfter      = time.Minute
	largeLagAfter = 20 * time.Minute
)

// examples is how many Applications a message names.
const examples = 3

// late are the Applications that have waited for the controller for longer than lagAfter.
type late struct {
	// never were never observed, unobserved not since their last change. unreleased still have the finalizer that only the controller
	// removes.
	never, unobserved, unreleased []string
	// undated have a spec that is not observed, and nothing tells for how long.
	undated []string
	// reported are the unreleased whose deletion the controller has observed: their status says why they wait.
	reported []*v1.Application
}

// lag finds Applications that have waited for the controller for long.
func (in Installation) lag(now time.Time) Result {
	if in.Unreadable[Definitions] == nil && len(in.Applications) == 0 && !in.established(v1.ApplicationResource) {
		return Result{Lag, tree.Unknown, "not known: the cluster serves no Applications", ""}
	}
	found, behind, deleting := in.late(now)
	n := len(in.Applications)
	var problems []string
	add := func(text string, names []string) {
		if len(names) > 0 {
			problems = append(problems, fmt.Sprintf(text, fmt.Sprintf("%d of %d Applications", len(names), n))+", such as "+strings.Join(names[:min(len(names), examples)], ", "))
		}
	}
	add("%s were never observed", found.never)
	add("the spec of %s is not observed", found.unobserved)
	add("the deletion of %s waits for Fairlead's finalizer "+v1.FinalizerOrphan, found.unreleased)
	if len(problems) > 0 {
		add("the spec of %s is not observed, for an unknown time", found.undated)
		next := "Check that the controller runs, and that its --namespace covers them."
		if reported := found.reported; len(reported) == len(found.never)+len(found.unobserved)+len(found.unreleased)+len(found.undated) {
			next = fmt.Sprintf("The controller has seen them. See why it keeps them: kubectl fairlead -n %s why %s", reported[0].Namespace, reported[0].Name)
			if said := deletionMessage(reported[0]); said != "" {
				next = fmt.Sprintf("The controller has seen them, and says of %s: %s. Solve that. The controller tries again until it succeeds.", nameOf(reported[0]), said)
			}
		} else if len(reported) > 0 && deletionMessage(reported[0]) != "" {
			next += fmt.Sprintf(" Of %s it says: %s.", nameOf(reported[0]), deletionMessage(reported[0]))
		}
		return Result{Lag, tree.Degraded, strings.Join(problems, "; "), next}
	}
	message := fmt.Sprintf("%s, %d of them with a spec that is not observed yet", counted(n, "Application", "Applications"), behind+len(found.undated))
	if deleting > 0 {
		message += fmt.Sprintf(", %d being deleted", deleting)
	}
	if names := found.undated; len(names) > 0 {
		message += fmt.Sprintf("; %d not observed for an unknown time, such as %s", len(names), strings.Join(names[:min(len(names), examples)], ", "))
		return Result{Lag, tree.Progressing, message, "Run this again after a minute. If they are still not observed, check that the controller runs, and that its --namespace covers them."}
	}
	return Result{Lag, tree.Healthy, message, ""}
}

// deletionMessage is what the condition Ready says about a deletion that waits, or "".
func deletionMessage(application *v1.Application) string {
	ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
	if ready == nil || ready.Reason != v1.ReasonDeleting {
		return ""
	}
	return strings.TrimSuffix(ready.Message, ".")
}

// late also counts those that are behind for a short time, and those that are being deleted.
func (in Installation) late(now time.Time) (found late, behind, deleting int) {
	for i := range in.Applications {
		a := &in.Applications[i]
		isDeleted, changed := a.DeletionTimestamp != nil, changedAt(a)
		after := lagAfter
		if !isDeleted && a.IsLarge() {
			after = largeLagAfter
		}
		observed, isLate := a.Status.ObservedGeneration == a.Generation, !changed.IsZero() && now.Sub(changed) > after
		aged := fmt.Sprintf("%s (%s)", nameOf(a), duration.HumanDuration(now.Sub(changed)))
		if isDeleted {
			deleting++
		}
		switch {
		case isDeleted && isLate && slices.Contains(a.Finalizers, v1.FinalizerOrphan):
			found.unreleased = append(found.unreleased, aged)
			if observed {
				found.reported = append(found.reported, a)
			}
		case observed:
		case a.Status.ObservedGeneration <= 0 && now.Sub(a.CreationTimestamp.Time) > after:
			found.never = append(found.never, nameOf(a))
		case isLate:
			found.unobserved = append(found.unobserved, aged)
		case changed.IsZero() && now.Sub(a.CreationTimestamp.Time) > after:
			found.undated = append(found.undated, nameOf(a))
		case !isDeleted:
			behind++
		}
	}
	return found, behind, deleting
}

// changedAt is when anything but the status was last written, or zero if nothing tells. The spec is as old or older. A write that only
// removes fields leaves no time: until the controller observes such a spec, it looks older than it is. A write of the subresource scale
// leaves none either, but it is seen: if nothing else was written since the last status, that write may be the change.
func changedAt(application *v1.Application) time.Time {
	if application.DeletionTimestamp != nil {
		return application.DeletionTimestamp.Time
	}
	var last, status time.Time
	isScaled := false
	for _, entry := range application.ManagedFields {
		switch {
		case entry.Time == nil:
			isScaled = isScaled || entry.Subresource == "scale"
		case entry.Subresource == "status":
			status = latest(status, entry.Time.Time)
		default:
			last = latest(last, entry.Time.Time)
		}
	}
	if isScaled && !last.After(status) {
		return time.Time{}
	}
	return last
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func nameOf(application *v1.Application) string {
	return application.Namespace + "/" + application.Name
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
