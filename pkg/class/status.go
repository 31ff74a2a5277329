// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
)

// Usage counts the Applications of a class.
type Usage struct {
	// Applications is the number of all, Updated the number of those whose children have the present generation of the
	// class and that are not stalled, Failing the number of stalled ones.
	Applications, Updated, Failing int32
	// Waiting is the number of those that a sync will update. It excludes suspended, refused and deleted ones.
	Waiting int32
	// Refused are the Failing ones that break the rules of the present generation, or whose namespace the class does not
	// select; Stalled are the other Failing ones. Both are sorted.
	Refused, Stalled []behind
	// Held are those whose children may lack this generation because a user asked for that. They are sorted, too.
	Held []behind
}

// behind is an Application that is not updated, with the reason.
type behind struct{ name, reason string }

// The reasons of Held.
const (
	heldSuspended  = "suspended"
	heldDeleted    = "being deleted"
	heldObserved   = "Observe"
	heldPinned     = "pinned"
	heldRolledBack = "rolled back"
	heldPaused     = "paused"
)

// Held is why the children of an Application may not be what its spec and its class ask for, although a sync has read both; "" if nothing
// holds them back.
func Held(application *v1.Application) string {
	spec, status := &application.Spec, &application.Status
	switch {
	case spec.ReconcilePolicy == v1.ReconcileSuspend:
		return heldSuspended
	case spec.ReconcilePolicy == v1.ReconcileObserve:
		return heldObserved
	case spec.Rollback != nil && spec.Rollback.ToRevision != nil:
		return heldPinned
	case application.IsRolledBack():
		return heldRolledBack
	case spec.Paused != nil && *spec.Paused && status.UpdatedReplicas < status.Replicas:
		return heldPaused
	default:
		return ""
	}
}

// Count counts Applications, which must all have the class.
func Count(class *v1.ApplicationClass, applications []*v1.Application) Usage {
	var usage Usage
	for _, application := range applications {
		usage.Applications++
		stalled := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionStalled)
		fails := stalled != nil && stalled.Status == metav1.ConditionTrue
		applied, refused := application.Status.Class, application.Status.RefusedClass
		isRefused := fails && refused != nil && refused.Name == class.Name && refused.Generation == class.Generation
		if fails && stalled.Reason == v1.ReasonClassNotAllowed && application.Spec.ClassName == class.Name {
			isRefused = true // A changed label of the namespace gives the class no new generation.
		}
		name := application.Namespace + "/" + application.Name
		switch {
		case isRefused:
			usage.Refused = append(usage.Refused, behind{name, stalled.Reason})
		case fails:
			usage.Stalled = append(usage.Stalled, behind{name, stalled.Reason})
		}
		held := Held(application)
		current := applied != nil && applied.Name == class.Name && applied.Generation == class.Generation
		switch {
		case current && held == heldSuspended:
			held = "" // The sync before the suspension carried this generation out.
		case !current && application.DeletionTimestamp != nil:
			held = heldDeleted
		case !current && held != heldSuspended:
			held = "" // The sync is due, or refuses the Application.
			if !isRefused {
				usage.Waiting++
			}
		}
		switch {
		case fails:
		case held != "":
			usage.Held = append(usage.Held, behind{name, held})
		case current:
			usage.Updated++
		}
		if fails {
			usage.Failing++
		}
	}
	for _, list := range [][]behind{usage.Refused, usage.Stalled, usage.Held} {
		slices.SortFunc(list, func(a, b behind) int { return strings.Compare(a.name, b.name) })
	}
	return usage
}

// Status returns the status of a class. chosen is the class that is the default in its place; see InsteadOf.
func Status(class *v1.ApplicationClass, usage Usage, chosen *v1.ApplicationClass, now time.Time) v1.ApplicationClassStatus {
	wanted := []metav1.Condition{ready(class, usage)}
	if IsMarkedDefault(class) && chosen != nil {
		wanted = append(wanted, isDefault(class, chosen))
	}
	var conditions []metav1.Condition
	for _, condition := range wanted {
		condition.ObservedGeneration = class.Generation
		condition.LastTransitionTime = metav1.NewTime(now).Rfc3339Copy()
		if old := meta.FindStatusCondition(class.Status.Conditions, condition.Type); old != nil {
			conditions = append(conditions, *old)
		}
		meta.SetStatusCondition(&conditions, condition)
	}
	return v1.ApplicationClassStatus{
		ObservedGeneration: class.Generation,
		Conditions:         conditions,
		Applications:       usage.Applications,
		Updated:            usage.Updated,
		Failing:            usage.Failing,
	}
}

func ready(class *v1.ApplicationClass, usage Usage) metav1.Condition {
	condition := metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionFalse}
	if invalid := append(validation.Undecodable(class.DecodeErrors), validation.ValidateApplicationClass(class)...); len(invalid) > 0 {
		condition.Reason, condition.Message = v1.ReasonInvalid, problems(invalid)
		return condition
	}
	switch {
	case usage.Waiting > 0:
		condition.Reason, condition.Message = v1.ReasonRollingOut, updated(usage)
	case len(usage.Refused) > 0:
		condition.Reason = usage.Refused[0].reason
		whose := "their"
		if len(usage.Refused) == 1 {
			whose = "its"
		}
		condition.Message = fmt.Sprintf("Fairlead refuses %d of %s of the class, and leaves %s children as they are: %s.",
			len(usage.Refused), counted(usage.Applications), whose, names(usage.Refused))
	case usage.Applications == 0:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1.ReasonApplied
		condition.Message = "No Application uses the class."
	case usage.Updated < usage.Applications:
		condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, v1.ReasonApplied, updated(usage)
	default:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1.ReasonApplied
		condition.Message = "All Applications of the class are synced with this generation."
	}
	if len(usage.Held) > 0 {
		condition.Message += fmt.Sprintf(" This generation may be missing in %s.", names(usage.Held))
	}
	if len(usage.Stalled) > 0 {
		condition.Message += fmt.Sprintf(" Stalled: %s.", names(usage.Stalled))
	}
	return condition
}

func updated(usage Usage) string {
	are := "are"
	if usage.Updated == 1 {
		are = "is"
	}
	return fmt.Sprintf("%d of %s %s synced with this generation.", usage.Updated, counted(usage.Applications), are)
}

func counted(applications int32) string {
	if applications == 1 {
		return "1 Application"
	}
	return fmt.Sprintf("%d Applications", applications)
}

// names lists the first few Applications, each with its reason, or the first one with the reason of all.
func names(list []behind) string {
	const most = 3
	shown := list[:min(len(list), most)]
	same := !slices.ContainsFunc(shown, func(b behind) bool { return b.reason != list[0].reason })
	var parts []string
	for i, b := range shown {
		if i > 0 && same {
			parts = append(parts, b.name)
			continue
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", b.name, b.reason))
	}
	text := strings.Join(parts, ", ")
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// problems lists the first few.
func problems[E error](errs []E) string {
	const most = 3
	var parts []string
	for i, err := range errs {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(errs)-most))
			break
		}
		parts = append(parts, err.Error())
	}
	return strings.Join(parts, "; ")
}

func isDefault(class, chosen *v1.ApplicationClass) metav1.Condition {
	if class.Name == chosen.Name {
		return metav1.Condition{Type: v1.ConditionDefault, Status: metav1.ConditionTrue, Reason: v1.ReasonDefaultClass,
			Message: "Applications that name no class have this one, in the namespaces that it selects."}
	}
	return metav1.Condition{Type: v1.ConditionDefault, Status: metav1.ConditionFalse, Reason: v1.ReasonNewerDefault,
		Message: fmt.Sprintf("ApplicationClass %s is marked as the default too, and %s. Take the annotation off one of them.", chosen.Name, Precedence(chosen, class))}
}
