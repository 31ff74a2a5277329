// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"strings"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// isOfReplicaSet reports whether the API server refuses the ReplicaSet of the rollout, so that there cannot be a pod of it.
func isOfReplicaSet(problem v1.Problem) bool {
	return problem.Pods == 0 && strings.HasPrefix(problem.Message, "ReplicaSet ")
}

// ofReplicaSet is the advice where that is refused.
func (a advice) ofReplicaSet(problem v1.Problem) advice {
	switch {
	case !isOfReplicaSet(problem):
		return a
	case problem.Reason == v1.ReasonQuotaExceeded:
		return advice{"A ResourceQuota of this namespace allows no more ReplicaSets.", []string{
			"Delete former ReplicaSets, which have no pods, or ask for more quota: kubectl describe resourcequotas", retries,
		}}
	case problem.Reason == v1.ReasonPolicyDenied:
		return advice{"An admission policy or webhook of this cluster refuses the ReplicaSet of the rollout.", a.next}
	default:
		return advice{"Kubernetes cannot create the ReplicaSet of the rollout.", a.next}
	}
}
