// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// namedPorts are the named ports of one container, with their protocol.
type namedPorts map[string]corev1.Protocol

func protocolOf(protocol corev1.Protocol) corev1.Protocol {
	if protocol == "" {
		return corev1.ProtocolTCP
	}
	return protocol
}

func validProtocol(path *field.Path, protocol corev1.Protocol) field.ErrorList {
	return enum(path, protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
}

func applicationPorts(spec *v1.ApplicationSpec) namedPorts {
	ports := namedPorts{}
	for _, port := range spec.Ports {
		ports[port.Name] = protocolOf(port.Protocol)
	}
	return ports
}

func validatePorts(in input) field.ErrorList {
	path := in.path.Child("ports")
	errs := tooMany(path, len(in.spec.Ports), 64)
	portNames, containerPorts, servicePorts := names{}, names{}, names{}
	for i, port := range in.spec.Ports {
		path := path.Index(i)
		errs = append(errs, validatePortName(path.Child("name"), port.Name)...)
		errs = append(errs, portNames.add(path.Child("name"), port.Name)...)
		errs = append(errs, invalid(path.Child("containerPort"), port.ContainerPort, utilvalidation.IsValidPortNum(int(port.ContainerPort)))...)
		duplicate := containerPorts.add(path.Child("containerPort"), portAndProtocol(port.ContainerPort, port.Protocol))
		errs = append(errs, duplicate...)
		servicePort, servicePath := port.ContainerPort, path.Child("containerPort")
		if port.ServicePort != nil {
			servicePort, servicePath = *port.ServicePort, path.Child("servicePort")
			errs = append(errs, invalid(servicePath, servicePort, utilvalidation.IsValidPortNum(int(servicePort)))...)
		}
		taken := servicePorts.add(servicePath, portAndProtocol(servicePort, port.Protocol))
		if len(taken) > 0 && (len(duplicate) == 0 || port.ServicePort != nil) {
			taken[0].Detail += ": set another servicePort, which defaults to containerPort"
			errs = append(errs, taken...)
		}
		errs = append(errs, validProtocol(path.Child("protocol"), port.Protocol)...)
		if port.AppProtocol != nil && *port.AppProtocol != "" {
			errs = append(errs, invalid(path.Child("appProtocol"), *port.AppProtocol, utilvalidation.IsQualifiedName(*port.AppProtocol))...)
		}
	}
	return append(errs, validateServicePortNames(path, in.spec.Ports)...)
}

// validateServicePortNames is about the names that the Service has for the ports. The API server refuses two ports of one
// name, and several of which one has none.
func validateServicePortNames(path *field.Path, ports []v1.ApplicationPort) field.ErrorList {
	taken := names{}
	for i, port := range ports {
		if port.ServicePortName == nil {
			taken.add(path.Index(i).Child("name"), port.Name)
		}
	}
	var errs field.ErrorList
	for i, port := range ports {
		if port.ServicePortName == nil {
			continue
		}
		path, name := path.Index(i).Child("servicePortName"), *port.ServicePortName
		switch {
		case name != "":
			errs = append(errs, invalid(path, name, utilvalidation.IsDNS1123Label(name))...)
			if duplicate := taken.add(path, name); len(duplicate) > 0 {
				duplicate[0].Detail += ": set another servicePortName, which defaults to name"
				errs = append(errs, duplicate...)
			}
		case len(ports) > 1:
			errs = append(errs, field.Required(path, "it may be empty only if there is a single port"))
		}
	}
	return errs
}

func validatePortName(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "must be an IANA service name, e.g. http")}
	}
	return invalid(path, name, utilvalidation.IsValidPortName(name))
}

func portAndProtocol(port int32, protocol corev1.Protocol) string {
	return fmt.Sprintf("%d/%s", port, protocolOf(protocol))
}

// validateContainerPorts checks the ports of init containers and sidecars, which are rendered verbatim.
func validateContainerPorts(path *field.Path, ports []corev1.ContainerPort) field.ErrorList {
	var errs field.ErrorList
	portNames, numbers := names{}, names{}
	for i, port := range ports {
		path := path.Index(i)
		if port.Name != "" {
			errs = append(errs, validatePortName(path.Child("name"), port.Name)...)
			errs = append(errs, portNames.add(path.Child("name"), port.Name)...)
		}
		errs = append(errs, invalid(path.Child("containerPort"), port.ContainerPort, utilvalidation.IsValidPortNum(int(port.ContainerPort)))...)
		errs = append(errs, numbers.add(path.Child("containerPort"), portAndProtocol(port.ContainerPort, port.Protocol))...)
		if port.HostPort != 0 {
			errs = append(errs, invalid(path.Child("hostPort"), port.HostPort, utilvalidation.IsValidPortNum(int(port.HostPort)))...)
		}
		errs = append(errs, validProtocol(path.Child("protocol"), port.Protocol)...)
		if port.HostIP != "" {
			errs = append(errs, utilvalidation.IsValidIP(path.Child("hostIP"), port.HostIP)...)
		}
	}
	return errs
}

// validatePortsAcrossContainers checks the ports of all containers, which share one network. If several have a name, it
// silently means the first; only one can listen on a number.
func validatePortsAcrossContainers(in input) field.ErrorList {
	portNames, numbers, hostPorts := names{}, names{}, names{}
	for i, port := range in.spec.Ports {
		path := in.path.Child("ports").Index(i)
		portNames.add(path.Child("name"), port.Name)
		numbers.add(path.Child("containerPort"), portAndProtocol(port.ContainerPort, port.Protocol))
	}
	var errs field.ErrorList
	for _, container := range otherContainers(in) {
		if !container.longRunning {
			continue
		}
		ownNames, ownNumbers := names{}, names{} // A duplicate in one container is reported there.
		for i, port := range container.Ports {
			path := container.path.Child("ports").Index(i)
			if len(ownNames.add(nil, port.Name)) == 0 {
				errs = append(errs, portNames.add(path.Child("name"), port.Name)...)
			}
			number := portAndProtocol(port.ContainerPort, port.Protocol)
			if len(ownNumbers.add(nil, number)) == 0 {
				errs = append(errs, numbers.add(path.Child("containerPort"), number)...)
			}
			if port.HostPort != 0 {
				errs = append(errs, hostPorts.add(path.Child("hostPort"), port.HostIP+"/"+portAndProtocol(port.HostPort, port.Protocol))...)
			}
		}
	}
	return errs
}
