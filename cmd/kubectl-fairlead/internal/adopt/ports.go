// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// ports writes a port for each of the Service, with its number and name, and one for each further port of the
// application's container: another object may refer to it.
func ports(spec *v1.ApplicationSpec, pod *corev1.PodSpec, main *corev1.Container, service *corev1.Service) error {
	if service == nil {
		return furtherPorts(spec, pod, main, nil)
	}
	spec.Service = &v1.Service{Type: service.Spec.Type, SessionAffinity: service.Spec.SessionAffinity}
	for i := range service.Spec.Ports {
		port, path := &service.Spec.Ports[i], fmt.Sprintf("Service %s, port %d", service.Name, service.Spec.Ports[i].Port)
		at := slices.IndexFunc(main.Ports, func(candidate corev1.ContainerPort) bool { return leadsTo(port, candidate) })
		made := v1.ApplicationPort{ServicePort: &port.Port, Protocol: port.Protocol, AppProtocol: port.AppProtocol}
		switch {
		case at >= 0:
			made.ContainerPort, made.Name = main.Ports[at].ContainerPort, main.Ports[at].Name
		case port.TargetPort.Type == intstr.String:
			return refused(path, fmt.Sprintf("it leads to port %q, which the container %s does not have", port.TargetPort.StrVal, main.Name))
		default:
			made.ContainerPort = cmp.Or(port.TargetPort.IntVal, port.Port)
		}
		taken := func(name string) bool {
			return hasPort(pod, name) || slices.ContainsFunc(spec.Ports, func(other v1.ApplicationPort) bool { return other.Name == name })
		}
		if made.Name == "" && mayName(port.Name) && !taken(port.Name) {
			made.Name = port.Name
		}
		made.Name = cmp.Or(made.Name, madeUp(made, taken))
		same := func(other v1.ApplicationPort) bool {
			return other.Name == made.Name || isPort(other.ContainerPort, other.Protocol, made)
		}
		if slices.ContainsFunc(spec.Ports, same) {
			return refused(path, fmt.Sprintf("another port of the Service leads to port %d of the container too", made.ContainerPort))
		}
		if port.Name != made.Name {
			made.ServicePortName = &port.Name
		}
		spec.Ports = append(spec.Ports, made)
	}
	return furtherPorts(spec, pod, main, service)
}

// furtherPorts writes the ports of the container to which no port of the Service leads. Those without a name come last: they take
// what is free.
func furtherPorts(spec *v1.ApplicationSpec, pod *corev1.PodSpec, main *corev1.Container, service *corev1.Service) error {
	var nameless []*corev1.ContainerPort
	for i := range main.Ports {
		port := &main.Ports[i]
		if port.HostPort != 0 {
			return refused(fmt.Sprintf("%s.containers[%s].ports[%d].hostPort", podPath, main.Name, port.ContainerPort), "an Application has no such field")
		}
		if port.Name == "" {
			nameless = append(nameless, port)
			continue
		}
		if slices.ContainsFunc(spec.Ports, func(other v1.ApplicationPort) bool { return other.Name == port.Name }) {
			continue
		}
		made := v1.ApplicationPort{Name: port.Name, ContainerPort: port.ContainerPort, Protocol: port.Protocol}
		if service != nil {
			if service.Spec.Type != corev1.ServiceTypeClusterIP {
				return refused(fmt.Sprintf("%s.containers[%s].ports[%s]", podPath, main.Name, port.Name), "the Service would expose it outside of the cluster; remove its name, or the port")
			}
			if slices.ContainsFunc(service.Spec.Ports, func(other corev1.ServicePort) bool { return other.Name == port.Name }) {
				made.ServicePortName = new(fmt.Sprintf("port-%d", port.ContainerPort)) // The Service calls another one so.
			}
		}
		spec.Ports = append(spec.Ports, made)
	}
	for _, port := range nameless {
		if made, may := named(port, spec, pod, main, service); may {
			spec.Ports = append(spec.Ports, made)
		}
	}
	return nil
}

// named gives a name to a port that has none: an Application's has one. No object can refer to the port, so the pods may also lose it,
// where a user accepts that: if the Service would expose it outside of the cluster, or cannot have it beside its own ports, or
// another container has it.
func named(port *corev1.ContainerPort, spec *v1.ApplicationSpec, pod *corev1.PodSpec, main *corev1.Container, service *corev1.Service) (made v1.ApplicationPort, may bool) {
	made = v1.ApplicationPort{ContainerPort: port.ContainerPort, Protocol: port.Protocol}
	if service != nil && (service.Spec.Type != corev1.ServiceTypeClusterIP || slices.ContainsFunc(service.Spec.Ports, func(port corev1.ServicePort) bool { return port.Name == "" })) {
		return made, false
	}
	for i := range spec.Ports {
		other := &spec.Ports[i]
		if isPort(other.ContainerPort, other.Protocol, made) || isPort(*cmp.Or(other.ServicePort, &other.ContainerPort), other.Protocol, made) {
			return made, false
		}
	}
	for i := range pod.Containers {
		same := func(other corev1.ContainerPort) bool { return isPort(other.ContainerPort, other.Protocol, made) }
		if pod.Containers[i].Name != main.Name && slices.ContainsFunc(pod.Containers[i].Ports, same) {
			return made, false
		}
	}
	taken := func(name string) bool {
		return hasPort(pod, name) || slices.ContainsFunc(spec.Ports, func(other v1.ApplicationPort) bool {
			return name == other.Name || other.ServicePortName != nil && name == *other.ServicePortName
		})
	}
	made.Name = madeUp(made, taken)
	return made, !taken(made.Name)
}

// madeUp makes up a name for a port. Two ports of one number differ in the protocol.
func madeUp(port v1.ApplicationPort, taken func(name string) bool) string {
	name := fmt.Sprintf("port-%d", port.ContainerPort)
	if taken(name) {
		name += "-" + strings.ToLower(string(protocol(port.Protocol)))
	}
	return name
}

// hasPort reports whether a port of the pods has the name.
func hasPort(pod *corev1.PodSpec, name string) bool {
	return slices.ContainsFunc(slices.Concat(pod.Containers, pod.InitContainers), func(container corev1.Container) bool {
		return slices.ContainsFunc(container.Ports, func(port corev1.ContainerPort) bool { return port.Name == name })
	})
}

// isPort reports whether the Application's port has the number and the protocol.
func isPort(number int32, of corev1.Protocol, port v1.ApplicationPort) bool {
	return number == port.ContainerPort && protocol(of) == protocol(port.Protocol)
}

func protocol(given corev1.Protocol) corev1.Protocol { return cmp.Or(given, corev1.ProtocolTCP) }

// leadsTo reports whether a port of the Service leads to a port of the container.
func leadsTo(port *corev1.ServicePort, candidate corev1.ContainerPort) bool {
	if protocol(port.Protocol) != protocol(candidate.Protocol) {
		return false
	}
	if port.TargetPort.Type == intstr.String {
		return port.TargetPort.StrVal == candidate.Name
	}
	return cmp.Or(port.TargetPort.IntVal, port.Port) == candidate.ContainerPort
}

// mayName reports whether a container's port may have the name: the rules for a Service's are laxer.
func mayName(name string) bool { return len(utilvalidation.IsValidPortName(name)) == 0 }
