// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// describeProbe names what a container's readiness probe does, such as "GET :8080/ready"; "" without a probe. Of a
// command it names the first word only: an argument may be a secret.
func describeProbe(container *corev1.Container) string {
	probe := container.ReadinessProbe
	switch {
	case probe == nil:
		return ""
	case probe.HTTPGet != nil:
		scheme := ""
		if probe.HTTPGet.Scheme == corev1.URISchemeHTTPS {
			scheme = "https://"
		}
		return "GET " + scheme + probe.HTTPGet.Host + ":" + portNumber(container, probe.HTTPGet.Port) + probe.HTTPGet.Path
	case probe.TCPSocket != nil:
		return "TCP " + probe.TCPSocket.Host + ":" + portNumber(container, probe.TCPSocket.Port)
	case probe.GRPC != nil:
		return "gRPC :" + strconv.Itoa(int(probe.GRPC.Port))
	case probe.Exec != nil && len(probe.Exec.Command) > 0:
		return "command " + probe.Exec.Command[0]
	default:
		return ""
	}
}

// portNumber resolves the name of a container's port.
func portNumber(container *corev1.Container, port intstr.IntOrString) string {
	for i := range container.Ports {
		if port.Type == intstr.String && container.Ports[i].Name == port.StrVal {
			return strconv.Itoa(int(container.Ports[i].ContainerPort))
		}
	}
	return port.String()
}
