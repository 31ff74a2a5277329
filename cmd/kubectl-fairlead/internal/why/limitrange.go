// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"regexp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/text"
)

// RefusedByLimitRange reports whether a LimitRange may refuse pods, so that the present LimitRanges would explain something.
func RefusedByLimitRange(application *v1.Application) bool {
	return slices.ContainsFunc(application.Status.Problems, func(problem v1.Problem) bool {
		return isRejected(problem) && saysLimitRange(problem.Message)
	})
}

// saysLimitRange reports whether a message is one of a LimitRange.
func saysLimitRange(message string) bool {
	return outsideBound.MatchString(message) || overRatio.MatchString(message)
}

// outsideBound and overRatio find each bound that a LimitRange names, and what the pod asks for if the message has it.
var (
	outsideBound = regexp.MustCompile(`(minimum|maximum) (\S+) usage per (\w+) is \S+(?: but (?:limit|request) is ([^\s,\]]+))?`)
	overRatio    = regexp.MustCompile(`([^\s\[]+) max limit to request ratio per (\w+) is \S+(?: but provided ratio is (\d+\.\d+))?`)
)

// addLimitRangeRoom corrects the finding if no LimitRange of the namespace refuses the pods by now, and reports whether that is so: the message
// stays in status until Kubernetes tries again.
func (f facts) addLimitRangeRoom(finding *Finding, problem v1.Problem) bool {
	if !isRejected(problem) || isOfReplicaSet(problem) || !saysLimitRange(problem.Message) || !f.LimitRangesRead || f.stillOutOfRange(problem.Message) {
		return false
	}
	finding.What = "When Kubernetes last tried, a LimitRange of this namespace refused the pods; by now none does." + f.extent(problem)
	finding.comes = "which its limits allow now"
	finding.Next = f.untilNextAttempt()
	return true
}

// stillOutOfRange reports whether a bound of the message holds for what the pods ask for.
func (f facts) stillOutOfRange(message string) bool {
	for _, match := range outsideBound.FindAllStringSubmatch(message, -1) {
		bounds := f.bounds(match[3], match[2], func(item *corev1.LimitRangeItem) corev1.ResourceList {
			if match[1] == "minimum" {
				return item.Min
			}
			return item.Max
		})
		asked, err := resource.ParseQuantity(match[4])
		if slices.ContainsFunc(bounds, func(bound resource.Quantity) bool {
			return err != nil || match[1] == "minimum" && asked.Cmp(bound) < 0 || match[1] == "maximum" && asked.Cmp(bound) > 0
		}) {
			return true
		}
	}
	for _, match := range overRatio.FindAllStringSubmatch(message, -1) {
		ratio, err := resource.ParseQuantity(match[3])
		bounds := f.bounds(match[2], match[1], func(item *corev1.LimitRangeItem) corev1.ResourceList { return item.MaxLimitRequestRatio })
		if slices.ContainsFunc(bounds, func(bound resource.Quantity) bool { return err != nil || ratio.Cmp(bound) > 0 }) {
			return true
		}
	}
	return false
}

// bounds are those that the LimitRanges have for a resource of a Container or Pod.
func (f facts) bounds(of, name string, list func(*corev1.LimitRangeItem) corev1.ResourceList) []resource.Quantity {
	var found []resource.Quantity
	for _, limits := range f.LimitRanges {
		for i := range limits.Spec.Limits {
			item := &limits.Spec.Limits[i]
			if bound, has := list(item)[corev1.ResourceName(name)]; has && string(item.Type) == of {
				found = append(found, bound)
			}
		}
	}
	return found
}

// keepRange is what to do about a container outside of a LimitRange. The message does not name the container, but what it asks for.
func (f facts) keepRange(message string) string {
	containers := slices.Concat([]corev1.Container{{Name: f.app.Name}}, f.app.Spec.Sidecars, f.app.Spec.InitContainers)
	if deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name); deployment != nil {
		containers = slices.Concat(deployment.Spec.Template.Spec.Containers, deployment.Spec.Template.Spec.InitContainers)
	}
	var all, fields []string
	for i := range containers {
		field := f.fieldsOf(containers[i].Name, "resources")
		if all = append(all, field); asksFor(&containers[i], message) {
			fields = append(fields, field)
		}
	}
	ofPod := slices.ContainsFunc(outOfRange.FindAllStringSubmatch(message, -1), func(match []string) bool { return match[2] == "Pod" })
	if len(fields) == 0 || ofPod {
		fields = all
	}
	return "Keep " + text.Enumerate(fields) + " within its limits, or ask for others: kubectl describe limitranges"
}

// asksFor reports whether the message of a LimitRange has the very request or limit of the container. It may name several.
func asksFor(container *corev1.Container, message string) bool {
	return slices.ContainsFunc(outOfRange.FindAllStringSubmatch(message, -1), func(match []string) bool {
		list := container.Resources.Limits
		if match[3] == "request" {
			list = container.Resources.Requests
		}
		asked, found := list[corev1.ResourceName(match[1])]
		return match[2] == "Container" && found && asked.String() == match[4]
	})
}

// outOfRange finds what a container, or all of them, ask for in a message of a LimitRange.
var outOfRange = regexp.MustCompile(`(?:minimum|maximum) (\S+) usage per (Container|Pod) is \S+, but (limit|request) is ([^\s,\]]+)`)
