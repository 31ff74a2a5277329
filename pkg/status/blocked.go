// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/text"
)

// blockedMessage is a sentence about children that are blocked for the same reason: their number, and the message of the
// first one.
func blockedMessage(same []assessment) string {
	first := same[0]
	subject := first.Ref.Kind.Kind + " " + first.Ref.Name
	if others := len(same) - 1; others > 0 {
		subject += fmt.Sprintf(" and %d more", others)
	}
	switch {
	case first.Adoption != "":
		return text.Truncate(first.message, maxBlocked)
	case first.reason != v1.ReasonConflict:
		return subject + ": " + text.Truncate(first.message, maxBlocked)
	case len(same) == 1:
		return text.Truncate(first.message, maxBlocked)
	case first.Former: // Then all are.
		return subject + " belong to an earlier Application of this name, which is gone; Kubernetes deletes them."
	default:
		if !slices.ContainsFunc(same, func(a assessment) bool { return !a.LeftBehind }) {
			return subject + " exist, left behind by an earlier Application; take them back as docs/guides/take-back.md says, or give the Application another name."
		}
		advice := "see status.resources for what to do about each" // To delete the Ingress among them would be an outage.
		// A Service is adopted with its Deployment.
		stays := func(a assessment) bool { return a.Ref.Kind == child.Deployment && !a.Adoptable }
		if slices.ContainsFunc(same, func(a assessment) bool { return a.Adoptable && !a.LeftBehind }) && !slices.ContainsFunc(same, stays) {
			advice = "let the Application adopt what it can (spec.adoptionPolicy), " + advice
		}
		if slices.ContainsFunc(same, func(a assessment) bool { return a.LeftBehind }) {
			advice = "take back what an earlier Application left behind (docs/guides/take-back.md), " + advice
		}
		if slices.ContainsFunc(same, func(a assessment) bool { return a.Ref.Kind == child.ServiceAccount && !a.LeftBehind }) {
			advice = "name the ServiceAccount in spec.serviceAccount.name if that is allowed, " + advice
		}
		return subject + " exist and do not belong to the Application; " + advice + ", or give the Application another name."
	}
}

// recheck says when the controller notices the end of what no event tells; see foreignRecheck in pkg/controller.
func recheck(reason string) string {
	if reason == v1.ReasonConflict {
		return " Checked again within 30 s."
	}
	return ""
}

// waiting is a sentence about the children that wait because they refer to a blocked one; "" if none does. It follows blockedMessage.
func waiting(children, blocked []assessment) string {
	var names []string
	waits := map[child.Ref]bool{}
	for _, a := range blocked {
		waits[a.Ref] = true
	}
	for _, a := range children {
		if a.Action == plan.WaitDependency && slices.ContainsFunc(a.Needs, func(ref child.Ref) bool { return waits[ref] }) {
			waits[a.Ref] = true
			if a.Ref.Kind == child.ControllerRevision {
				continue // It is a record of what runs; no user waits for it.
			}
			names = append(names, a.Ref.Kind.Kind+" "+a.Ref.Name)
		}
	}
	if len(blocked) > 1 && blocked[0].Adoption == "" {
		return sentence(" Waiting for them: ", names)
	}
	return sentence(" Waiting for it: ", names)
}

// alsoBlocked is a sentence about the children that a user has to unblock for other reasons; "" if there are none. Without it, they would
// show one after the other. A reason that may go away without a user would change the message each time.
func alsoBlocked(children []assessment, reason string) string {
	var names []string
	for _, a := range children {
		if a.reason != reason && stalls(a.reason) {
			names = append(names, fmt.Sprintf("%s %s (%s)", a.Ref.Kind.Kind, a.Ref.Name, a.reason))
		}
	}
	return sentence(" Also blocked, see status.resources: ", names)
}
