// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// ports writes a port for each of the Service, with its number and name, and one for each further port of the
// application's container that has a name: another object may refer to it.
func ports(spec *v1.ApplicationSpec, main *corev1.Container, service *corev1.Service) error {
	taken := map[string]bool{}
	add := func(port v1.ApplicationPort) {
		taken[port.Name] = true
		spec.Ports = append(spec.Ports, port)
	}
	var exposed []corev1.ServicePort
	if service != nil {
		exposed = service.Spec.Ports
		spec.Service = &v1.Service{Type: service.Spec.Type, SessionAffinity: service.Spec.SessionAffinity}
	}
	for i := range exposed {
		port, path := &exposed[i], fmt.Sprintf(".spec.ports[%d]", exposed[i].Port)
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
		made.Name = cmp.Or(made.Name, short(port.Name), fmt.Sprintf("port-%d", made.ContainerPort))
		same := func(other v1.ApplicationPort) bool {
			return other.ContainerPort == made.ContainerPort && cmp.Or(other.Protocol, corev1.ProtocolTCP) == cmp.Or(made.Protocol, corev1.ProtocolTCP)
		}
		if taken[made.Name] || slices.ContainsFunc(spec.Ports, same) {
			return refused(path, fmt.Sprintf("another port of the Service leads to port %d of the container too", made.ContainerPort))
		}
		if port.Name != made.Name {
			made.ServicePortName = &port.Name
		}
		add(made)
	}
	for i := range main.Ports {
		port := &main.Ports[i]
		if port.HostPort != 0 {
			return refused(fmt.Sprintf("%s.containers[%s].ports[%d].hostPort", podPath, main.Name, port.ContainerPort), "an Application has no such field")
		}
		if port.Name == "" || taken[port.Name] {
			continue
		}
		if service != nil && service.Spec.Type != corev1.ServiceTypeClusterIP {
			return refused(fmt.Sprintf("%s.containers[%s].ports[%s]", podPath, main.Name, port.Name), "the Service would expose it outside of the cluster; remove its name, or the port")
		}
		add(v1.ApplicationPort{Name: port.Name, ContainerPort: port.ContainerPort, Protocol: port.Protocol})
	}
	return nil
}

// leadsTo reports whether a port of the Service leads to a port of the container.
func leadsTo(port *corev1.ServicePort, candidate corev1.ContainerPort) bool {
	if cmp.Or(port.Protocol, corev1.ProtocolTCP) != cmp.Or(candidate.Protocol, corev1.ProtocolTCP) {
		return false
	}
	if port.TargetPort.Type == intstr.String {
		return port.TargetPort.StrVal == candidate.Name
	}
	return cmp.Or(port.TargetPort.IntVal, port.Port) == candidate.ContainerPort
}

// short returns the name if a container's port may have it.
func short(name string) string {
	const most = 15
	if len(name) > most {
		return ""
	}
	return name
}
