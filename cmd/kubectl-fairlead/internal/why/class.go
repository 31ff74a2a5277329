// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/text"
)

// class returns what the Application takes from its ApplicationClass, because its spec leaves these fields out, and the name of the class;
// "" if no class is applied.
func (f facts) class() (taken v1.ApplicationDefaults, name string) {
	class := f.app.Status.Class
	if class == nil {
		return v1.ApplicationDefaults{}, ""
	}
	if class.Defaults != nil {
		taken = *class.Defaults
	}
	return taken, class.Name
}

// LacksClass reports whether the Application names a class that does not exist.
func LacksClass(application *v1.Application) bool {
	ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
	return ready != nil && ready.Reason == v1.ReasonClassNotFound
}

// classOfRollback is the class that asks for rollbacks; "" if the spec does.
func (f facts) classOfRollback() string {
	if taken, class := f.class(); taken.Rollback != nil && (f.app.Spec.Rollback == nil || f.app.Spec.Rollback.Policy == "") {
		return class
	}
	return ""
}

// setting is a field that the Application takes from its class. The path is the same in both.
type setting struct{ path, value string }

// addClassSettings says which of the fields behind a problem the class sets: the spec does not show them.
func (f facts) addClassSettings(finding *Finding, problem v1.Problem) {
	settings := f.settingsBehind(problem)
	_, class := f.class()
	if len(settings) == 0 || class == "" {
		return
	}
	var says, paths []string
	for _, s := range settings {
		says, paths = append(says, s.path+" to "+s.value), append(paths, "spec."+s.path)
	}
	finding.Evidence = append(finding.Evidence, f.classEvidence(says...))
	values := ""
	if slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, "spec.nodeSelector") }) {
		values = ", to what nodes have: an Application cannot remove a label that its class selects"
	}
	finding.Next = append([]string{fmt.Sprintf("Override ApplicationClass %s: set %s in the Application%s. Or ask the platform team to change the class.",
		class, text.Enumerate(paths), values)}, finding.Next...)
}

// classEvidence is what the class sets, since the spec does not show it.
func (f facts) classEvidence(says ...string) Evidence {
	_, class := f.class()
	return Evidence{
		Object: v1.ApplicationKind + "/" + f.app.Name, Field: "status.class.defaults",
		Message: fmt.Sprintf("ApplicationClass %s sets %s", class, text.Enumerate(says)),
	}
}

// settingsBehind are the fields that the Application takes from its class and that the problem is about.
func (f facts) settingsBehind(problem v1.Problem) []setting {
	taken, _ := f.class()
	message := problem.Message
	var settings []setting
	switch problem.Reason {
	case v1.ReasonUnschedulable:
		if strings.Contains(message, "node affinity/selector") {
			for _, label := range slices.Sorted(maps.Keys(taken.NodeSelector)) {
				settings = append(settings, setting{"nodeSelector" + element(label), taken.NodeSelector[label]})
			}
		}
		if strings.Contains(message, "topology spread constraints") && len(taken.TopologySpreadConstraints) > 0 {
			settings = append(settings, setting{"topologySpreadConstraints", "a spread over " + spreadOver(taken.TopologySpreadConstraints)})
		}
		for _, match := range insufficient.FindAllStringSubmatch(message, -1) {
			settings = append(settings, f.requestOf(corev1.ResourceName(strings.TrimSuffix(match[1], ".")))...)
		}
	case v1.ReasonCrashLooping:
		if problem.Container == f.app.Name && strings.Contains(message, "OOMKilled") {
			settings = resourcesOf(taken, false, corev1.ResourceMemory)
		}
	case v1.ReasonQuotaExceeded:
		for _, name := range slices.Sorted(maps.Keys(quotaOf(message).requested)) {
			if limit, isLimit := strings.CutPrefix(name, "limits."); isLimit {
				settings = append(settings, resourcesOf(taken, false, corev1.ResourceName(limit))...)
			} else {
				settings = append(settings, f.requestOf(corev1.ResourceName(strings.TrimPrefix(name, "requests.")))...)
			}
		}
	case v1.ReasonPolicyDenied:
		settings = outsideOfLimitRange(taken, message)
	case v1.ReasonReplicaFailure:
		if taken.PriorityClassName != "" && strings.Contains(message, "no PriorityClass with name "+taken.PriorityClassName+" ") {
			settings = append(settings, setting{"priorityClassName", taken.PriorityClassName})
		}
		if container, resource, found := f.overLimit(message); found && container == f.app.Name {
			settings = append(settings, resourcesOf(taken, true, corev1.ResourceName(resource))...)
		}
	}
	return settings
}

// spreadOver names what the pods are spread over, each once.
func spreadOver(constraints []corev1.TopologySpreadConstraint) string {
	var keys []string
	for i := range constraints {
		if key := constraints[i].TopologyKey; !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return text.Enumerate(keys)
}

// outsideOfLimitRange are the requests and limits of the class that the message of a LimitRange is about. It may name several, and one of
// them for the container and for the pod.
func outsideOfLimitRange(taken v1.ApplicationDefaults, message string) []setting {
	var settings []setting
	add := func(of ...setting) {
		for _, s := range of {
			if !slices.Contains(settings, s) {
				settings = append(settings, s)
			}
		}
	}
	for _, match := range outOfRange.FindAllStringSubmatch(message, -1) {
		for _, s := range resourcesOf(taken, match[3] == "request", corev1.ResourceName(match[1])) {
			if match[2] == "Pod" || s.value == match[4] { // The message has the sum of all containers, or the value of one.
				add(s)
			}
		}
	}
	for _, match := range ratio.FindAllStringSubmatch(message, -1) {
		name := corev1.ResourceName(match[1])
		add(slices.Concat(resourcesOf(taken, true, name), resourcesOf(taken, false, name))...)
	}
	return settings
}

var (
	insufficient = regexp.MustCompile(`Insufficient ([^\s,]+)`)
	ratio        = regexp.MustCompile(`([^\s\[]+) max limit to request ratio per`)
)

// requestOf is the request of the class for a resource, or its limit, from which Kubernetes takes a request that is left out.
func (f facts) requestOf(name corev1.ResourceName) []setting {
	taken, _ := f.class()
	if request := resourcesOf(taken, true, name); request != nil {
		return request
	}
	if own := f.app.Spec.Resources; own != nil && !own.Requests.Name(name, "").IsZero() {
		return nil
	}
	return resourcesOf(taken, false, name)
}

// resourcesOf is the request or the limit of the class for a resource.
func resourcesOf(taken v1.ApplicationDefaults, request bool, name corev1.ResourceName) []setting {
	if taken.Resources == nil {
		return nil
	}
	path, list := "resources.limits", taken.Resources.Limits
	if request {
		path, list = "resources.requests", taken.Resources.Requests
	}
	if quantity, found := list[name]; found {
		return []setting{{path + element(string(name)), quantity.String()}}
	}
	return nil
}

// element is the path of an entry of a map.
func element(key string) string {
	if strings.ContainsAny(key, "./") {
		return "[" + key + "]"
	}
	return "." + key
}
