// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"regexp"
	"strings"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// aboutNodes is the advice about problems whose cause may be nodes, and not the spec.
func (f facts) aboutNodes(problem v1.Problem, known advice) advice {
	switch problem.Reason {
	case v1.ReasonNodeLost:
		known.next = []string{f.replacesLost() + " Check the node: kubectl get nodes"}
	case v1.ReasonUnschedulable:
		steps, others := f.closedNodes(problem.Message)
		if len(steps) > 0 && !others {
			known.next = nil
		}
		known.next = append(steps, known.next...)
	}
	return known
}

// The scheduler's words for nodes that are cordoned, and for those that a volume cannot be attached to. It counts each node once, and says
// after the counts why preemption does not help.
var (
	cordonedNodes  = regexp.MustCompile(`\d+ node\(s\) were unschedulable`)
	volumeNodes    = regexp.MustCompile(`\d+ node\(s\) (?:didn't match PersistentVolume's node affinity|had volume node affinity conflict)`)
	countedNodes   = regexp.MustCompile(`\d+ (?:node\(s\)|Insufficient|Too many) `)
	nodesAvailable = regexp.MustCompile(`^\d+/\d+ nodes are available: `)
)

// closedNodes are the steps about nodes that no change of what the spec asks for opens. others says that nodes are left out for another
// reason too.
func (f facts) closedNodes(message string) (steps []string, others bool) {
	counts, _, _ := strings.Cut(nodesAvailable.ReplaceAllString(message, ""), " preemption: ")
	if cordonedNodes.MatchString(counts) {
		steps = append(steps, "Nodes are cordoned, as for maintenance: kubectl get nodes. Ask the platform team when it ends, "+
			"or let a node take pods again: kubectl uncordon NODE")
	}
	if volumeNodes.MatchString(counts) {
		volume := "A volume of the pods"
		if claims := Claims(f.Loaded); len(claims) > 0 {
			volume = "The volume of PersistentVolumeClaim " + strings.Join(claims, " or ")
		}
		steps = append(steps, volume+" exists on certain nodes only, and these are gone or do not take the pods. "+
			"Find them under Node Affinity: kubectl describe persistentvolumes")
	}
	rest := volumeNodes.ReplaceAllString(cordonedNodes.ReplaceAllString(counts, ""), "")
	return steps, countedNodes.MatchString(rest)
}
