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
	// Applications is the number of all, Updated the number of those that have the present generation of the class and
	// are not stalled, Failing the number of stalled ones.
	Applications, Updated, Failing int32
	// Waiting is the number of those that a sync will update. It excludes suspended, refused and deleted ones.
	Waiting int32
	// Refused are the Failing ones that break the rules of the present generation, or whose namespace the class does not
	// select; Stalled are the other Failing ones. Both are sorted.
	Refused, Stalled []failing
}

// failing is a stalled Application with its reason.
type failing struct{ name, reason string }

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
		switch {
		case isRefused:
			usage.Refused = append(usage.Refused, failing{application.Namespace + "/" + application.Name, stalled.Reason})
		case fails:
			usage.Stalled = append(usage.Stalled, failing{application.Namespace + "/" + application.Name, stalled.Reason})
		}
		switch current := applied != nil && applied.Name == class.Name && applied.Generation == class.Generation; {
		case current && !fails:
			usage.Updated++
		case !current && !isRefused && application.Spec.ReconcilePolicy != v1.ReconcileSuspend && application.DeletionTimestamp == nil:
			usage.Waiting++
		}
		if fails {
			usage.Failing++
		}
	}
	for _, list := range [][]failing{usage.Refused, usage.Stalled} {
		slices.SortFunc(list, func(a, b failing) int { return strings.Compare(a.name, b.name) })
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
		condition.Reason = v1.ReasonRollingOut
		condition.Message = fmt.Sprintf("%d of %d Applications are synced with this generation.", usage.Updated, usage.Applications)
	case len(usage.Refused) > 0:
		condition.Reason = usage.Refused[0].reason
		condition.Message = fmt.Sprintf("Fairlead refuses %d of %d Applications of the class, which keep the children that they have: %s.",
			len(usage.Refused), usage.Applications, names(usage.Refused))
	case usage.Applications == 0:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1.ReasonApplied
		condition.Message = "No Application uses the class."
	case usage.Updated+usage.Failing < usage.Applications:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1.ReasonApplied
		condition.Message = "All Applications of the class are synced with this generation, but for suspended ones."
	default:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1.ReasonApplied
		condition.Message = "All Applications of the class are synced with this generation."
	}
	if len(usage.Stalled) > 0 {
		condition.Message += fmt.Sprintf(" Stalled: %s.", names(usage.Stalled))
	}
	return condition
}

// names lists the first few Applications, the first one with its reason.
func names(list []failing) string {
	const most = 3
	parts := []string{fmt.Sprintf("%s (%s)", list[0].name, list[0].reason)}
	for _, f := range list[1:min(len(list), most)] {
		parts = append(parts, f.name)
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
