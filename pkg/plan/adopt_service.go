// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// refuseService returns the path of what excludes the adoption of a live Service, and why; "" if nothing does. Its
// clients must reach the same port of the pods as before, by the same number and name.
func refuseService(template *corev1.PodTemplateSpec, rendered, live *corev1.Service) (path, why string) {
	switch {
	case live.Spec.Type == corev1.ServiceTypeExternalName:
		return "spec.type", "it is ExternalName, an alias of " + live.Spec.ExternalName
	case live.Spec.ClusterIP == corev1.ClusterIPNone:
		return "spec.clusterIP", "it is None; the clients of a headless Service expect the addresses of the pods"
	case len(live.Spec.Selector) == 0:
		return "spec.selector", "there is none, so another client writes its endpoints"
	case live.Spec.Type != rendered.Spec.Type:
		return "spec.type", fmt.Sprintf("it is %s; set spec.service.type to that in the Application", live.Spec.Type)
	case live.Spec.SessionAffinity != rendered.Spec.SessionAffinity:
		return "spec.sessionAffinity", fmt.Sprintf("it is %s; set spec.service.sessionAffinity to that in the Application", live.Spec.SessionAffinity)
	}
	if path, why = refuseLabels("spec.selector", template.Labels, live.Spec.Selector); path != "" {
		return path, why
	}
	for _, port := range live.Spec.Ports {
		if why := refusePort(&template.Spec, rendered, port); why != "" {
			return fmt.Sprintf("spec.ports[%d/%s]", port.Port, protocolOf(port.Protocol)), why
		}
	}
	if live.Spec.Type != corev1.ServiceTypeClusterIP && len(rendered.Spec.Ports) > len(live.Spec.Ports) {
		return "spec.ports", "the adoption would expose a further port outside of the cluster; remove it from spec.ports in the Application"
	}
	return "", ""
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
