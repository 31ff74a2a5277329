// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// reasonPortUnserved is the reason of a Service with a port that leads to no pod, although pods are ready.
const reasonPortUnserved = "PortUnserved"

// UnservedPorts returns the ports of the Service that lead to none of its ready endpoints. There are none without a ready endpoint, which is
// another problem.
func UnservedPorts(objects Objects, service *corev1.Service) (ports []string) {
	serving := false
	for _, slice := range objects.EndpointSlices {
		if slice.Labels[discoveryv1.LabelServiceName] != service.Name || readyEndpoints(slice) == 0 {
			continue
		}
		lacking := lacks(service, slice)
		if serving { // Pods with other ports have another EndpointSlice.
			lacking = slices.DeleteFunc(lacking, func(port string) bool { return !slices.Contains(ports, port) })
		}
		ports, serving = lacking, true
	}
	return ports
}

// lacks returns the ports of the Service that the EndpointSlice lacks. Only a name can lead to no pod: a pod takes requests at each number.
func lacks(service *corev1.Service, slice *discoveryv1.EndpointSlice) (ports []string) {
	for _, port := range service.Spec.Ports {
		has := slices.ContainsFunc(slice.Ports, func(served discoveryv1.EndpointPort) bool {
			return served.Port != nil && (served.Name == nil && port.Name == "" || served.Name != nil && *served.Name == port.Name)
		})
		if port.TargetPort.Type == intstr.String && !has {
			ports = append(ports, port.Name)
		}
	}
	return ports
}

func unservedPorts(ports []string) string {
	names := make([]string, 0, len(ports))
	for _, port := range ports {
		names = append(names, strconv.Quote(port))
	}
	if len(names) == 1 {
		return "port " + names[0] + " of the Service leads to no pod: no container of them has that port"
	}
	return "ports " + strings.Join(names, ", ") + " of the Service lead to no pod: no container of them has these ports"
}
