// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/pkg/apierror"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/text"
)

// assessment is how one child stands after the sync.
type assessment struct {
	plan.Result
	state v1.ResourceState
	// reason is that of the condition Ready, or empty if the child does not keep the Application
	// from being ready.
	reason  string
	message string
}

// assessAll assesses each child that is there, or should be.
func assessAll(in Input) []assessment {
	children := make([]assessment, 0, len(in.Results))
	for _, result := range in.Results {
		if result.Action == plan.Delete && result.Err == nil && !in.observing() {
			continue // It is gone.
		}
		a := assessment{Result: result}
		a.state, a.reason, a.message = assess(in, result)
		children = append(children, a)
	}
	return children
}

// resources lists the children, as many as fit. Without a plan the last list holds on.
func resources(in Input, children []assessment) []v1.ResourceStatus {
	if !in.planned() {
		return boundedResources(in.Snapshot.Application.Status.Resources, func(int) bool { return true })
	}
	var list []v1.ResourceStatus
	for _, a := range children {
		list = append(list, v1.ResourceStatus{
			Group:   a.Ref.Kind.Group,
			Kind:    a.Ref.Kind.Kind,
			Name:    a.Ref.Name,
			UID:     uid(in, a.Result),
			State:   a.state,
			Message: a.message,
		})
	}
	return boundedResources(list, func(i int) bool { return children[i].Desired != nil })
}

// uid is that of the object which the Application owns under this name. One that others deleted
// is remembered until there is another: the plan tells by it that a missing child is not new.
func uid(in Input, result plan.Result) types.UID {
	switch {
	case result.Action == plan.Refuse:
		return ""
	case result.Action == plan.Absent && !in.Snapshot.Unavailable[result.Ref.Kind].MayExist: // It went with its API.
		return ""
	case result.UID != "":
		return result.UID
	case result.Live != nil:
		return result.Live.GetUID()
	default:
		return in.known(result.Ref).UID
	}
}

func assess(in Input, result plan.Result) (state v1.ResourceState, reason, message string) {
	if result.Err != nil {
		state = v1.ResourceFailed
		if reason = apierror.ReasonFor(result.Err); reason == v1.ReasonApplying {
			state = v1.ResourcePending
		}
		return state, reason, apierror.Message(result.Err)
	}
	switch result.Action {
	case plan.Refuse:
		return v1.ResourceConflict, v1.ReasonConflict, text.Capitalize(text.Sentence(result.Reason))
	case plan.Wait:
		if result.Desired == nil {
			return v1.ResourcePending, "", "It is being deleted."
		}
		if in.observing() {
			return v1.ResourcePending, "", "It is being deleted by others."
		}
		return v1.ResourcePending, v1.ReasonApplying, "It is being deleted by others, and made again afterwards."
	case plan.Absent:
		return v1.ResourcePending, "", text.Capitalize(text.Sentence(result.Reason))
	case plan.Await, plan.Scale:
		if in.observing() && (result.Live == nil || result.Desired == nil || len(result.Fields) > 0) {
			return v1.ResourceDrifted, "", driftMessage(result)
		}
		return v1.ResourcePending, "", text.Capitalize(text.Sentence(result.Reason))
	case plan.Keep:
		return v1.ResourceSynced, "", ""
	}
	if in.observing() {
		return v1.ResourceDrifted, "", driftMessage(result)
	}
	if result.Action == plan.Hold {
		return v1.ResourceFailed, v1.ReasonContended, heldMessage(result)
	}
	return v1.ResourceSynced, "", ""
}

// done tells whether the child is, as far as this sync could bring it, as rendered.
func done(result plan.Result) bool {
	if result.Err != nil {
		return false
	}
	switch result.Action {
	case plan.Keep, plan.Create, plan.Apply, plan.Delete:
		return true
	default:
		return false
	}
}

func heldMessage(result plan.Result) string {
	if result.Live == nil {
		return "Others keep deleting it; it is left so for now."
	}
	return fmt.Sprintf("Others keep changing %s; it is left so for now.", paths(result.Fields))
}

func driftMessage(result plan.Result) string {
	switch {
	case result.Desired == nil:
		return "It would be deleted."
	case result.Live == nil:
		return "It is missing."
	default:
		return fmt.Sprintf("It differs in %s.", paths(result.Fields))
	}
}

// paths names some of the fields.
func paths(fields []string) string {
	const most = 5
	if len(fields) == 0 {
		return "what Fairlead sets"
	}
	if len(fields) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(fields[:most], ", "), len(fields)-most)
	}
	return strings.Join(fields, ", ")
}

// troubles orders the reasons for which a child keeps the Application from being ready, the
// worst first.
func troubles() []string {
	return []string{
		v1.ReasonConflict,
		v1.ReasonPermissionDenied, v1.ReasonPolicyDenied, v1.ReasonQuotaExceeded, v1.ReasonChildRefused,
		v1.ReasonContended,
		v1.ReasonApplyFailed,
		v1.ReasonApplying,
	}
}

// stalls tells whether nothing changes for this reason until a person acts, even if Fairlead
// keeps trying.
func stalls(reason string) bool {
	switch reason {
	case v1.ReasonConflict, v1.ReasonPermissionDenied, v1.ReasonPolicyDenied, v1.ReasonQuotaExceeded,
		v1.ReasonChildRefused, v1.ReasonContended:
		return true
	default:
		return false
	}
}

// summarizeResults is the summary as far as the children are concerned, if any is in trouble.
func summarizeResults(children []assessment) (s summary, troubled bool) {
	for _, worst := range troubles() {
		message, others := "", 0
		for _, a := range children {
			switch {
			case a.reason != worst:
			case message == "":
				message = fmt.Sprintf("%s %s: %s%s", a.Ref.Kind, a.Ref.Name, a.message, waiting(children, a.Ref))
			default:
				others++
			}
		}
		if message == "" {
			continue
		}
		// The end of a long message may be cut off; the number of the others should not be.
		message = text.Truncate(message, maxMessage-40)
		switch {
		case others == 1:
			message += " The same for 1 more child."
		case others > 1:
			message += fmt.Sprintf(" The same for %d more children.", others)
		}
		return summary{stalled: stalls(worst), reconciling: !stalls(worst), reason: worst, message: message}, true
	}
	return summary{}, false
}

// waiting is a sentence about the children that wait because they refer to the one in trouble; "" if none
// does.
func waiting(children []assessment, on child.Ref) string {
	var names []string
	waits := map[child.Ref]bool{on: true}
	for _, a := range children {
		if a.Action == plan.Await && slices.ContainsFunc(a.Needs, func(ref child.Ref) bool { return waits[ref] }) {
			waits[a.Ref] = true
			names = append(names, a.Ref.Kind.Kind+" "+a.Ref.Name)
		}
	}
	const most = 5
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(names)-most))
	}
	if len(names) == 0 {
		return ""
	}
	return " Waiting for it: " + strings.Join(names, ", ") + "."
}
