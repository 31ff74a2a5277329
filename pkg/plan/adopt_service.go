// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// refuseService returns what excludes the adoption of a live Service. Its clients must reach the same port of the pods as
// before, by the same number and name.
func refuseService(template *corev1.PodTemplateSpec, rendered, live *corev1.Service) []refusal {
	switch {
	case live.Spec.Type == corev1.ServiceTypeExternalName:
		return []refusal{{"spec.type", "it is ExternalName, an alias of " + live.Spec.ExternalName}}
	case live.Spec.ClusterIP == corev1.ClusterIPNone:
		return []refusal{{"spec.clusterIP", "it is None; the clients of a headless Service expect the addresses of the pods"}}
	case len(live.Spec.Selector) == 0:
		return []refusal{{"spec.selector", "there is none, so another client writes its endpoints"}}
	}
	var refusals []refusal
	if live.Spec.Type != rendered.Spec.Type {
		refusals = append(refusals, refusal{"spec.type", fmt.Sprintf("it is %s; set spec.service.type to that in the Application", live.Spec.Type)})
	}
	if live.Spec.SessionAffinity != rendered.Spec.SessionAffinity {
		refusals = append(refusals, refusal{"spec.sessionAffinity", fmt.Sprintf("it is %s; set spec.service.sessionAffinity to that in the Application", live.Spec.SessionAffinity)})
	}
	refusals = append(refusals, refuseLabels("spec.selector", template.Labels, live.Spec.Selector)...)
	for _, port := range live.Spec.Ports {
		if why := refusePort(&template.Spec, rendered, port); why != "" {
			refusals = append(refusals, refusal{fmt.Sprintf("spec.ports[%d/%s]", port.Port, protocolOf(port.Protocol)), why})
		}
	}
	if live.Spec.Type != corev1.ServiceTypeClusterIP && len(rendered.Spec.Ports) > len(live.Spec.Ports) {
		refusals = append(refusals, refusal{"spec.ports", "the adoption would expose a further port outside of the cluster; remove it from spec.ports in the Application"})
	}
	return refusals
}

// refusePort returns why a port of the live Service would become another one; "" if it would not.
func refusePort(pod *corev1.PodSpec, rendered *corev1.Service, live corev1.ServicePort) string {
	for _, port := range rendered.Spec.Ports {
		if port.Port != live.Port || protocolOf(port.Protocol) != protocolOf(live.Protocol) {
			continue
		}
		if port.Name != live.Name {
			return fmt.Sprintf("its name is %q; set servicePortName to that in the Application", live.Name)
		}
		if is := targetOf(pod, port); is == 0 || is != targetOf(pod, live) {
			return fmt.Sprintf("it leads to port %s of the pods; the Application has another containerPort, or port name, for it", live.TargetPort.String())
		}
		return ""
	}
	return "spec.ports of the Application has no such servicePort"
}

// targetOf returns the port of the pods to which a port of a Service leads; 0 if there is none.
func targetOf(pod *corev1.PodSpec, port corev1.ServicePort) int32 {
	switch {
	case port.TargetPort.Type == intstr.String && port.TargetPort.StrVal != "":
		return portNumber(pod, port.TargetPort.StrVal, port.Protocol)
	case port.TargetPort.IntVal != 0:
		return port.TargetPort.IntVal
	default:
		return port.Port
	}
}
