// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// refuseService returns what excludes the adoption of a live Service. Its clients must reach the same port of the pods as
// before, by the same number and name.
func refuseService(template *corev1.PodTemplateSpec, rendered, live *corev1.Service) []refusal {
	if refused := refuseKindOfService(live); len(refused) > 0 {
		return refused
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

// refuseKindOfService returns what excludes every adoption of a live Service. No Application can make up for it.
func refuseKindOfService(live *corev1.Service) []refusal {
	switch {
	case live.Spec.Type == corev1.ServiceTypeExternalName:
		return []refusal{{"spec.type", "it is ExternalName, an alias of " + live.Spec.ExternalName}}
	case live.Spec.ClusterIP == corev1.ClusterIPNone:
		return []refusal{{"spec.clusterIP", "it is None; the clients of a headless Service expect the addresses of the pods"}}
	case len(live.Spec.Selector) == 0:
		return []refusal{{"spec.selector", "there is none, so another client writes its endpoints"}}
	}
	return nil
}

// refusePort returns all reasons why a port of the live Service would become another one, and what to set; "" if it would not.
func refusePort(pod *corev1.PodSpec, rendered *corev1.Service, live corev1.ServicePort) string {
	at := slices.IndexFunc(rendered.Spec.Ports, func(port corev1.ServicePort) bool {
		return port.Port == live.Port && protocolOf(port.Protocol) == protocolOf(live.Protocol)
	})
	if at < 0 {
		return "spec.ports of the Application has no such servicePort"
	}
	port, leadsTo, where := rendered.Spec.Ports[at], targetOf(pod, live), "in the Application"
	var is, set []string
	setName := port.Name != live.Name
	if setName {
		is = append(is, fmt.Sprintf("its name is %q", live.Name))
	}
	if targetOf(pod, port) != leadsTo || leadsTo == 0 {
		name := live.TargetPort.StrVal
		isNamed := live.TargetPort.Type == intstr.String && name != ""
		target := fmt.Sprint(leadsTo)
		if isNamed {
			target = strconv.Quote(name)
		}
		is = append(is, "it leads to port "+target+" of the pods")
		other := slices.IndexFunc(rendered.Spec.Ports, func(other corev1.ServicePort) bool {
			return leadsTo != 0 && targetOf(pod, other) == leadsTo && protocolOf(other.Protocol) == protocolOf(live.Protocol)
		})
		switch {
		case other >= 0: // A second port of that name or number would be refused.
			has := rendered.Spec.Ports[other]
			set, setName = append(set, fmt.Sprintf("servicePort to %d", live.Port)), has.Name != live.Name
			where = fmt.Sprintf("at the port %q of the Application instead", has.TargetPort.StrVal)
		case isNamed:
			set = append(set, "name to "+target)
			// A port of the Service without a name of its own in the spec has the one of the container port.
			setName = setName || port.Name == port.TargetPort.StrVal && name != live.Name
		default:
			set = append(set, "containerPort to "+target)
		}
	}
	if setName {
		set = append(set, fmt.Sprintf("servicePortName to %q", live.Name))
	}
	if len(is) == 0 {
		return ""
	}
	if setName && live.Name == "" && len(rendered.Spec.Ports) > 1 {
		where += ", and remove the other ports from spec.ports: only a single port of a Service may have no name"
	}
	return strings.Join(is, " and ") + "; set " + strings.Join(set, " and ") + " " + where
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
