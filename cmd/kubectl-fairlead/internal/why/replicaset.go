// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"slices"
	"strings"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// isOfReplicaSet reports whether the API server refuses the ReplicaSet of the rollout, so that there cannot be a pod of it.
func isOfReplicaSet(problem v1.Problem) bool {
	return problem.Pods == 0 && strings.HasPrefix(problem.Message, "ReplicaSet ")
}

// untilRetry is when Kubernetes tries again to create a ReplicaSet, and how to have it try: the Deployment controller gives up soon.
func (f facts) untilRetry() string {
	return "Kubernetes tries for about 3 minutes. Have it try again once the cause is gone: " + f.retry()
}

// ofReplicaSet is the advice where that is refused.
func (f facts) ofReplicaSet(problem v1.Problem, ofPods advice) advice {
	switch {
	case !isOfReplicaSet(problem):
		return ofPods
	case problem.Reason == v1.ReasonQuotaExceeded:
		return advice{"A ResourceQuota of this namespace allows no more ReplicaSets.", []string{
			"Delete former ReplicaSets, which have no pods, or ask for more quota: kubectl describe resourcequotas", f.untilRetry(),
		}}
	case problem.Reason == v1.ReasonPolicyDenied:
		return advice{"An admission policy or webhook of this cluster refuses the ReplicaSet of the rollout.", append(slices.Clone(ofPods.next), f.untilRetry())}
	default:
		return advice{"Kubernetes cannot create the ReplicaSet of the rollout.", []string{"Correct what the message names, in the spec or in the cluster.", f.untilRetry()}}
	}
}
