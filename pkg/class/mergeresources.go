// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// DroppedResource is a default that Merge does not take, because Kubernetes refuses it beside what the spec has.
type DroppedResource struct {
	// Field is Limits or Requests.
	Field   string
	Name    corev1.ResourceName
	Default resource.Quantity
	// Own is what the default contradicts: the spec's request for a limit, and the spec's limit for a request.
	Own resource.Quantity
}

// The fields of resources that a class has defaults for.
const (
	Limits   = "limits"
	Requests = "requests"
)

// DroppedResources returns the defaults for resources that Merge does not take, limits first, by the name of the resource. What
// the spec sets itself drops none.
func DroppedResources(spec *v1.ApplicationSpec, defaults *v1.ApplicationDefaults) []DroppedResource {
	if spec.Resources == nil || defaults == nil || defaults.Resources == nil {
		return nil
	}
	own := spec.Resources
	var dropped []DroppedResource
	for name, limit := range defaults.Resources.Limits {
		request, requested := own.Requests[name]
		if _, limited := own.Limits[name]; !limited && requested && contradict(name, request, limit) {
			dropped = append(dropped, DroppedResource{Limits, name, limit, request})
		}
	}
	for name, request := range defaults.Resources.Requests {
		limit, limited := own.Limits[name]
		if _, requested := own.Requests[name]; !requested && limited && contradict(name, request, limit) {
			dropped = append(dropped, DroppedResource{Requests, name, request, limit})
		}
	}
	slices.SortFunc(dropped, func(a, b DroppedResource) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Name, b.Name))
	})
	return dropped
}

// mergeResources takes requests and limits by the name of the resource. It omits those that contradict the Application:
// Kubernetes defaults the request to the limit.
func mergeResources(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
	if defaults.Resources == nil {
		return
	}
	fitting := defaults.Resources.DeepCopy()
	for _, dropped := range DroppedResources(spec, defaults) {
		if dropped.Field == Limits {
			delete(fitting.Limits, dropped.Name)
		} else {
			delete(fitting.Requests, dropped.Name)
		}
	}
	merged, from := corev1.ResourceRequirements{}, corev1.ResourceRequirements{}
	if spec.Resources != nil {
		merged = *spec.Resources
	}
	merged.Limits, from.Limits = mergeKeys(merged.Limits, fitting.Limits)
	merged.Requests, from.Requests = mergeKeys(merged.Requests, fitting.Requests)
	if len(from.Limits)+len(from.Requests) > 0 {
		spec.Resources, taken.Resources = &merged, &from
	}
}

// contradict reports whether Kubernetes refuses the request beside the limit. Resources that cannot be overcommitted,
// such as devices and huge pages, need equal ones.
func contradict(name corev1.ResourceName, request, limit resource.Quantity) bool {
	if strings.Contains(string(name), "/") || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
		return request.Cmp(limit) != 0
	}
	return request.Cmp(limit) > 0
}
