// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"regexp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

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

// withoutSurge is a way out where the quota has room for the pods, but not for one more during a rollout; "" if it does not help.
func (f facts) withoutSurge(message string) string {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	if deployment == nil || deployment.Spec.Strategy.RollingUpdate == nil || f.formerServing() == 0 {
		return ""
	}
	if surge := deployment.Spec.Strategy.RollingUpdate.MaxSurge; surge != nil && isZero(*surge) {
		return ""
	}
	quota := quotaOf(message)
	if len(quota.used) == 0 || !f.needsNoMore(deployment) {
		return ""
	}
	for name, used := range quota.used {
		if limited := quota.limited[name]; used.Cmp(limited) > 0 {
			return "" // One pod fewer would make no room.
		}
	}
	zero := `"maxSurge":0`
	if strategy := f.app.Spec.Strategy; strategy != nil && strategy.RollingUpdate != nil && strategy.RollingUpdate.MaxUnavailable != nil && isZero(*strategy.RollingUpdate.MaxUnavailable) {
		zero += `,"maxUnavailable":1` // Left out, it is 1 beside maxSurge 0.
	}
	meanwhile := "one fewer serves meanwhile"
	if f.app.Status.DesiredReplicas == 1 {
		meanwhile = "none serves meanwhile"
	}
	return fmt.Sprintf("Or let the rollout stop an old pod before it starts a new one, so that %s: "+
		`kubectl patch applications.apps.fairlead.dev %s --type=merge --patch '{"spec":{"strategy":{"rollingUpdate":{%s}}}}'`, meanwhile, f.app.Name, zero)
}

// isZero reports whether a number or percentage is 0.
func isZero(value intstr.IntOrString) bool {
	scaled, err := intstr.GetScaledValueFromIntOrPercent(&value, 100, true)
	return err == nil && scaled == 0
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
