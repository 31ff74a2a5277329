// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/pkg/apierror"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/text"
)

// assessment is the state of one child after the sync.
type assessment struct {
	plan.Result
	state v1.ResourceState
	// reason is why the child keeps the Application from being ready; empty if it does not.
	reason  string
	message string
}

// assessAll assesses each child that exists or should exist.
func assessAll(in Input) []assessment {
	children := make([]assessment, 0, len(in.Results))
	for _, result := range in.Results {
		if result.Err == nil && result.Action == plan.Delete && (result.Live == nil || !in.observing()) {
			continue // It was deleted, or does not exist.
		}
		a := assessment{Result: result}
		a.state, a.reason, a.message = assess(in, result)
		children = append(children, a)
	}
	return children
}

// resources lists the children that fit. Without a plan, the last list stays.
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

// uid returns the UID of the object that the Application owns under this name. The UID of a deleted child stays until it
// is recreated: by it the plan knows that a missing child is not new.
func uid(in Input, result plan.Result) types.UID {
	switch {
	case foreign(in, result):
		return "" // A UID here makes the object the Application's; see child.IsOrphaned.
	case result.Action == plan.APIUnavailable && !in.Snapshot.Unavailable[result.Ref.Kind].MayExist: // It went with its API.
		return ""
	case result.UID != "":
		return result.UID
	case result.Live != nil:
		return result.Live.GetUID()
	default:
		return in.lastResource(result.Ref).UID
	}
}

// foreign reports whether the live object of this name is not the Application's after the sync: it was refused, or its
// adoption failed or was only planned.
func foreign(in Input, result plan.Result) bool {
	return result.Action == plan.NotOwned || result.Action == plan.Adopt && (result.Err != nil || in.observing())
}

func assess(in Input, result plan.Result) (state v1.ResourceState, reason, message string) {
	err := result.Err
	if err == nil {
		err = in.Unowned[result.Ref]
	}
	if err != nil {
		state = v1.ResourceFailed
		if reason = apierror.ReasonFor(err); reason == v1.ReasonApplying {
			state = v1.ResourcePending
		}
		return state, reason, apierror.Message(err)
	}
	switch result.Action {
	case plan.NotOwned:
		if result.Adoption == plan.AdoptionHeld {
			return v1.ResourcePending, "", text.Capitalize(text.Sentence(result.Reason))
		}
		return v1.ResourceConflict, v1.ReasonConflict, text.Capitalize(text.Sentence(result.Reason))
	case plan.WaitDeletion:
		if result.Desired == nil {
			return v1.ResourcePending, "", terminatingMessage(result)
		}
		if in.observing() {
			return v1.ResourcePending, "", "Another client is deleting it."
		}
		return v1.ResourcePending, v1.ReasonApplying, terminatingMessage(result)
	case plan.APIUnavailable:
		return v1.ResourcePending, "", text.Capitalize(text.Sentence(result.Reason)) + whoMonitors(in, result.Ref)
	case plan.WaitDependency, plan.Scale:
		if in.observing() && (result.Live == nil || result.Desired == nil || len(result.Fields) > 0) {
			return v1.ResourceDrifted, "", driftMessage(in, result)
		}
		return v1.ResourcePending, "", text.Capitalize(text.Sentence(result.Reason))
	case plan.Keep:
		return v1.ResourceSynced, "", admittedMessage(result)
	}
	if in.observing() && onlyNotes(result) {
		return v1.ResourceSynced, "", ""
	}
	if in.observing() {
		return v1.ResourceDrifted, "", driftMessage(in, result)
	}
	if result.Action == plan.Backoff {
		return v1.ResourceFailed, v1.ReasonContended, backoffMessage(in, result)
	}
	return v1.ResourceSynced, "", admittedMessage(result)
}

// onlyNotes reports whether a revision lacks nothing but annotations, such as those that an older controller did not write. No user would
// carry that out.
func onlyNotes(result plan.Result) bool {
	return result.Ref.Kind == child.ControllerRevision && result.Action == plan.Apply && len(result.Fields) > 0 && len(withoutBookkeeping(result.Fields)) == 0
}

// upToDate reports whether this sync left the child as rendered.
func upToDate(result plan.Result) bool {
	if result.Err != nil {
		return false
	}
	switch result.Action {
	case plan.Keep, plan.Create, plan.Apply, plan.Adopt, plan.Delete:
		return true
	default:
		return false
	}
}

func backoffMessage(in Input, result plan.Result) string {
	if result.Live == nil {
		return "Another writer keeps deleting it; repair is backing off."
	}
	fields, known := in.Contended[result.Ref]
	switch {
	case !known:
		fields = result.Fields
	case len(fields) == 0:
		return "Another writer keeps changing it, each time other fields; repair is backing off."
	}
	return fmt.Sprintf("Another writer keeps changing %s; repair is backing off.", paths(fields))
}

// admittedMessage names what the API server does not store as Fairlead writes it.
func admittedMessage(result plan.Result) string {
	if len(result.Admitted) == 0 {
		return ""
	}
	return fmt.Sprintf("The API server does not store %s as Fairlead writes it: an admission webhook or policy changes it, or the API server does not support it.",
		paths(outermost(result.Admitted)))
}

func driftMessage(in Input, result plan.Result) string {
	switch {
	case result.Action == plan.Adopt:
		return "It would be adopted."
	case result.Desired == nil:
		return "It would be deleted."
	case mayBeForeign(in, result):
		return "It is missing, or not the Application's."
	case result.Live == nil:
		return "It is missing."
	default:
		return differs(result.Fields)
	}
}

// mayBeForeign reports whether an object of another owner may have the name of a missing child: the caches have none, and under Observe no
// write meets one.
func mayBeForeign(in Input, result plan.Result) bool {
	return result.Live == nil && uid(in, result) == "" && result.Ref.Kind != child.ControllerRevision
}

// differs names the first fields of a difference. The annotations in which Fairlead keeps its state have no names for users, and change with
// every edit of the spec. If they alone differ, the edit may have taken a field out, which only the hash of all fields shows.
func differs(fields []string) string {
	named := withoutBookkeeping(fields)
	if len(fields) > 0 && len(named) == 0 {
		return "It has fields that the Application no longer sets, or differs only in annotations in which Fairlead keeps its state."
	}
	return fmt.Sprintf("It differs in %s.", paths(named))
}

// WhyRepaired is the cause of a repair, for its Event. It names the first fields that another client changed, so that a user
// who changed one finds it. The annotations in which Fairlead keeps its state have no names for users: kubectl rollout undo changes them
// alone where it takes back a kubectl rollout restart, which stays so.
func WhyRepaired(result plan.Result) string {
	switch fields := RepairedFields(result); {
	case fields == "":
		return result.Reason
	case fields != bookkeeping:
		return fmt.Sprintf("another client changed %s; change the Application instead", fields)
	case result.Ref.Kind == child.Deployment:
		return "another client, such as kubectl rollout undo, changed annotations in which Fairlead keeps its state"
	default:
		return "another client changed annotations in which Fairlead keeps its state"
	}
}

// bookkeeping stands for the annotations in which Fairlead keeps its state.
const bookkeeping = ".metadata.annotations." + v1.ReservedPrefix

// RepairedFields names the first fields of a repair; "" if there is none. Repairs whose cause differs in fields differ in it.
func RepairedFields(result plan.Result) string {
	if result.Action != plan.Apply || len(result.Fields) == 0 {
		return ""
	}
	if fields := withoutBookkeeping(result.Fields); len(fields) > 0 {
		return text.Truncate(paths(outermost(fields)), maxBlocked)
	}
	return bookkeeping
}

// WhyRefused is the message of an Event about a status that the API server refuses.
func WhyRefused(answer string) string {
	return text.Truncate("The API server refuses the status of the Application, which shows an earlier state: "+answer, maxMessage)
}

// withoutBookkeeping returns the fields without the annotations in which Fairlead keeps its state.
func withoutBookkeeping(fields []string) []string {
	return slices.DeleteFunc(slices.Clone(fields), func(field string) bool {
		return strings.HasPrefix(field, ".metadata.annotations."+v1.ReservedPrefix)
	})
}

// outermost returns the fields without those below a field before them: an item that came back has all of its fields.
func outermost(fields []string) []string {
	var kept []string
	for _, field := range fields {
		if n := len(kept); n == 0 || !strings.HasPrefix(field, kept[n-1]+".") {
			kept = append(kept, field)
		}
	}
	return kept
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

// reasonsBySeverity orders the reasons why a child keeps the Application from being ready, the worst first.
func reasonsBySeverity() []string {
	return []string{
		v1.ReasonConflict,
		v1.ReasonPermissionDenied, v1.ReasonPolicyDenied, v1.ReasonQuotaExceeded, v1.ReasonChildRefused,
		v1.ReasonContended,
		v1.ReasonApplyFailed,
		v1.ReasonApplying,
	}
}

// stalls reports whether a user must act at once, although Fairlead keeps retrying. See lasting for the other reasons.
func stalls(reason string) bool {
	switch reason {
	case v1.ReasonConflict, v1.ReasonPermissionDenied, v1.ReasonPolicyDenied, v1.ReasonQuotaExceeded,
		v1.ReasonChildRefused, v1.ReasonContended:
		return true
	default:
		return false
	}
}

// summarizeResults summarizes the children, if one of them keeps the Application from being ready. What stalls comes first: a worse obstacle
// that may go away in seconds does not hide one that lasts.
func summarizeResults(in Input, children []assessment, now time.Time) (s summary, blocked bool) {
	for _, reason := range reasonsBySeverity() {
		same := slices.DeleteFunc(slices.Clone(children), func(a assessment) bool { return a.reason != reason })
		if len(same) == 0 {
			continue
		}
		stalled := stalls(reason)
		// What an earlier Application of the name had goes away without a user.
		if others := slices.DeleteFunc(slices.Clone(same), func(a assessment) bool { return a.Former }); len(others) > 0 {
			same = others
		} else {
			stalled = false
		}
		if lasting := in.lasting(same, reason, now); len(lasting) > 0 {
			stalled, same = true, lasting
		}
		if blocked && !stalled {
			continue
		}
		s, blocked = summary{
			stalled: stalled, reconciling: !stalled, reason: reason,
			message: blockedMessage(same) + waiting(children, same) + recheck(reason) + alsoBlocked(children, reason), cause: whyBlocked(same),
		}, true
		if stalled {
			break
		}
	}
	return s, blocked
}
