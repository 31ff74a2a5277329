// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// aboutNodes is the advice about problems whose cause may be nodes, and not the spec.
func (f facts) aboutNodes(problem v1.Problem, known advice) advice {
	if problem.Reason == v1.ReasonNodeLost {
		known.next = []string{f.replacesLost() + " Check the node: kubectl get nodes"}
	}
	return known
}
