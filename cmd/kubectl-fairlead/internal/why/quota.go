// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// quotaRefusal is what a ResourceQuota says about a pod, by the name of the resource.
type quotaRefusal struct{ requested, used, limited map[string]resource.Quantity }

// quotaMessage finds the three lists. More than one ResourceQuota may refuse a pod; the API server names the first.
var quotaMessage = regexp.MustCompile(`requested: (\S+), used: (\S+), limited: (\S+)`)

func quotaOf(message string) quotaRefusal {
	match := quotaMessage.FindStringSubmatch(message)
	if match == nil {
		return quotaRefusal{}
	}
	return quotaRefusal{quantities(match[1]), quantities(match[2]), quantities(match[3])}
}

func quantities(list string) map[string]resource.Quantity {
	found := map[string]resource.Quantity{}
	for entry := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(entry, "=")
		if quantity, err := resource.ParseQuantity(value); err == nil {
			found[name] = quantity
		}
	}
	return found
}

// countsPods reports whether the quota limits the number of pods, so that smaller ones do not fit either.
func (q quotaRefusal) countsPods() bool {
	_, pods := q.requested[string(corev1.ResourcePods)]
	_, objects := q.requested["count/pods"]
	return pods || objects
}

// countsMore reports whether the quota has no room for something else than the number of pods. The message names what lacks room alone.
func (q quotaRefusal) countsMore() bool {
	for name := range q.requested {
		if name != string(corev1.ResourcePods) && name != "count/pods" {
			return true
		}
	}
	return false
}

// lacksSurge reports whether the quota has room for the pods, but not for one more during a rollout.
func (f facts) lacksSurge(message string) bool {
	deployment, former := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name), f.former()
	if deployment == nil || deployment.Spec.Strategy.RollingUpdate == nil || former.serving+former.lacking == 0 {
		return false
	}
	if v1.IsZeroIntOrPercent(deployment.Spec.Strategy.RollingUpdate.MaxSurge) {
		return false
	}
	var exist int32
	for _, replicaSet := range f.ReplicaSets {
		if metav1.IsControlledBy(replicaSet, deployment) {
			exist += replicaSet.Status.Replicas
		}
	}
	if exist < f.app.Status.DesiredReplicas {
		return false // It is not the surge alone: more pods are asked for than exist.
	}
	quota := quotaOf(message)
	if len(quota.used) == 0 || !f.needsNoMore(deployment) {
		return false
	}
	for name, used := range quota.used {
		if limited := quota.limited[name]; used.Cmp(limited) > 0 {
			return false // One pod fewer would make no room.
		}
	}
	return true
}

// withoutSurge is a way out where the quota lacks room for one more pod during a rollout. Kubernetes tries again to create the new pod at
// growing intervals. Where there is a single pod, none would serve meanwhile; the pod of another rollout has no interval yet.
func (f facts) withoutSurge() []string {
	zero := `"maxSurge":0`
	strategy := f.app.Spec.Strategy
	if strategy != nil && strategy.RollingUpdate != nil && v1.IsZeroIntOrPercent(strategy.RollingUpdate.MaxUnavailable) {
		zero += `,"maxUnavailable":1` // Left out, it is 1 beside maxSurge 0.
	}
	patch := fmt.Sprintf(`kubectl patch applications.apps.fairlead.dev %s --type=merge --patch '{"spec":{"strategy":{"rollingUpdate":{%s}}}}'`, f.app.Name, zero)
	if f.app.Status.DesiredReplicas == 1 {
		return []string{
			"Or let the rollout stop the old pod before it starts the new one, so that none serves meanwhile: " + patch,
			"Then begin the rollout again at once; otherwise the new pod may take 17 minutes: kubectl fairlead restart " + f.app.Name,
		}
	}
	return []string{"Or let the rollout stop an old pod before it starts a new one, so that one fewer serves meanwhile: " + patch}
}

// adviceForQuota is what to do about a quota that has no room.
func (f facts) adviceForQuota(message string, known advice) advice {
	counted := quotaOf(message).countsPods()
	switch {
	case counted && quotaOf(message).countsMore():
		known.next = []string{
			"Free some of the quota, or ask for more of it, both for the number of pods and for what spec.resources asks for: kubectl describe resourcequotas",
			"Or ask for fewer pods, and lower what spec.resources asks for.",
		}
	case counted:
		known.next = []string{"Free some of the quota, ask for fewer pods, or ask for more quota: kubectl describe resourcequotas"}
	}
	if !counted && f.asksForMore(quotaOf(message)) {
		known.next = []string{
			"Lower what spec.resources asks for, which is more than the pods had before: kubectl describe resourcequotas",
			"Or free some of the quota, ask for fewer pods, or ask for more quota.",
		}
	}
	if f.lacksSurge(message) {
		known.what = "A ResourceQuota of this namespace has no room for one more pod, which the rollout starts before it stops an old one."
		more := "Ask for more quota, free some of it, or lower what spec.resources asks for: kubectl describe resourcequotas"
		if counted {
			more = "Ask for more quota, or free some of it: kubectl describe resourcequotas"
		}
		known.next = append([]string{more}, f.withoutSurge()...)
	}
	known.next = append(slices.Clone(known.next), retries)
	return known
}

// needsNoMore reports whether a new pod asks for no more than each of the old ones that serve, so that it fits in the place of one.
func (f facts) needsNoMore(deployment *appsv1.Deployment) bool {
	for _, replicaSet := range f.ReplicaSets {
		if !metav1.IsControlledBy(replicaSet, deployment) || replicaSet.Status.Replicas == 0 {
			continue
		}
		for _, of := range []func(*corev1.Container) corev1.ResourceList{
			func(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests },
			func(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits },
		} {
			before, after := sum(&replicaSet.Spec.Template.Spec, of), sum(&deployment.Spec.Template.Spec, of)
			for name, quantity := range after {
				if was := before[name]; quantity.Cmp(was) > 0 {
					return false
				}
			}
		}
	}
	return true
}

// asksForMore reports whether the application's container asks for more than in pods of before that still run, of what the quota limits.
func (f facts) asksForMore(quota quotaRefusal) bool {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	if deployment == nil {
		return false
	}
	own := func(pod *corev1.PodSpec) *corev1.ResourceRequirements {
		if i := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == f.app.Name }); i >= 0 {
			return &pod.Containers[i].Resources
		}
		return nil
	}
	after := own(&deployment.Spec.Template.Spec)
	for _, replicaSet := range f.ReplicaSets {
		before := own(&replicaSet.Spec.Template.Spec)
		if !metav1.IsControlledBy(replicaSet, deployment) || replicaSet.Status.Replicas == 0 || before == nil || after == nil {
			continue
		}
		for name := range quota.requested {
			was, is, resource := before.Requests, after.Requests, strings.TrimPrefix(name, "requests.")
			if limit, limits := strings.CutPrefix(name, "limits."); limits {
				was, is, resource = before.Limits, after.Limits, limit
			}
			if present := is[corev1.ResourceName(resource)]; present.Cmp(was[corev1.ResourceName(resource)]) > 0 {
				return true
			}
		}
	}
	return false
}

// sum adds up what the containers ask for.
func sum(pod *corev1.PodSpec, of func(*corev1.Container) corev1.ResourceList) corev1.ResourceList {
	total := corev1.ResourceList{}
	for i := range pod.Containers {
		for name, quantity := range of(&pod.Containers[i]) {
			added := total[name]
			added.Add(quantity)
			total[name] = added
		}
	}
	return total
}
