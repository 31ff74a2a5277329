// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// RefusedByQuota reports whether a ResourceQuota may refuse pods, so that its present state would explain something.
func RefusedByQuota(application *v1.Application) bool {
	return slices.ContainsFunc(application.Status.Problems, isRejected)
}

// quotaName finds the ResourceQuota in its message.
var quotaName = regexp.MustCompile(`exceeded quota: (\S+), requested: `)

// addQuotaRoom corrects the finding if the ResourceQuota that refused the pods has room for them by now, and reports whether it has: its
// message stays in status until Kubernetes tries again.
func (f facts) addQuotaRoom(finding *Finding, problem v1.Problem) bool {
	name := quotaName.FindStringSubmatch(problem.Message)
	if problem.Reason != v1.ReasonQuotaExceeded || name == nil || !f.QuotasRead {
		return false
	}
	refused := "When Kubernetes last tried, ResourceQuota " + name[1] + " allowed no more pods; "
	if isOfReplicaSet(problem) {
		refused = strings.Replace(refused, "pods", "ReplicaSets", 1)
	}
	i := slices.IndexFunc(f.Quotas, func(quota *corev1.ResourceQuota) bool { return quota.Name == name[1] })
	if i < 0 {
		finding.What = refused + "it does not exist any more." + f.extent(problem)
	} else {
		state, fits := f.fits(f.Quotas[i], quotaOf(problem.Message), isOfReplicaSet(problem))
		if !fits {
			return false
		}
		finding.What = refused + "by now it has room for them." + f.extent(problem)
		finding.Evidence = append(finding.Evidence, Evidence{Object: "ResourceQuota/" + name[1], Field: "status", Message: state})
	}
	if isOfReplicaSet(problem) {
		finding.Next = []string{f.untilRetry()}
		return true
	}
	finding.comes = "for which there is quota now"
	finding.Next = f.untilNextAttempt()
	return true
}

// untilNextAttempt are the steps where nothing refuses the pods any more.
func (f facts) untilNextAttempt() []string {
	return []string{
		"Have Kubernetes try at once, which replaces no pod: " + f.retry(),
		"Or wait: it tries again at growing intervals, the next time within 17 minutes.",
	}
}

// fits reports whether the quota has room for the pods that are missing, one at least, or for the ReplicaSet, and what its state is.
func (f facts) fits(quota *corev1.ResourceQuota, refusal quotaRefusal, isReplicaSet bool) (state string, fits bool) {
	var used []string
	missing := int64(max(1, f.app.Status.DesiredReplicas-f.app.Status.Replicas))
	if isReplicaSet {
		missing = 1
	}
	for name, requested := range refusal.requested {
		hard, limited := quota.Status.Hard[corev1.ResourceName(name)]
		if !limited {
			continue // The quota has no such limit any more.
		}
		total, asked := quota.Status.Used[corev1.ResourceName(name)], requested.DeepCopy()
		used = append(used, fmt.Sprintf("%s: %s of %s used", name, total.String(), hard.String()))
		asked.Mul(missing)
		asked.Add(total)
		if asked.Cmp(hard) > 0 {
			return "", false
		}
	}
	if len(refusal.requested) == 0 {
		return "", false
	}
	slices.Sort(used)
	return strings.Join(used, ", "), true
}

// retry is the command that has Kubernetes try at once to create what was refused: any change of a Deployment or ReplicaSet does, and the
// Deployment controller copies annotations. A new rollout would do so too, but asks for more pods than are missing.
func (f facts) retry() string {
	return "kubectl annotate deployment " + f.app.Name + ` --overwrite retry="$(date)"`
}

// addRetry adds that step after the one that says how long Kubernetes may wait.
func (f facts) addRetry(finding *Finding) {
	if slices.Contains(finding.Next, retries) && !slices.ContainsFunc(finding.Next, func(next string) bool { return strings.Contains(next, " restart ") }) {
		finding.Next = append(finding.Next, "Or then have Kubernetes try at once, which replaces no pod: "+f.retry())
	}
}
