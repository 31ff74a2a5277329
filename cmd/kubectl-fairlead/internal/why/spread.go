// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import "regexp"

// otherThanSpread finds in a message of the scheduler a cause for which resources, nodeSelector, affinity or tolerations count.
var otherThanSpread = regexp.MustCompile(`Insufficient|affinity|taint|free ports|unschedulable`)

// adviceForSpread is what to do if no node meets the topologySpreadConstraints. otherwise is about the other causes in the message.
func adviceForSpread(message string, otherwise []string) []string {
	next := []string{
		"Compare spec.topologySpreadConstraints with the labels of the nodes, and with where the pods run: kubectl get nodes --show-labels",
		"Or let the scheduler pass over a constraint that no node meets: set its whenUnsatisfiable to ScheduleAnyway.",
	}
	if !otherThanSpread.MatchString(message) {
		return next
	}
	return append(next, otherwise...)
}
