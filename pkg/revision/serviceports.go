// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// servicePort is what the Service says about a port of the pods. It is no part of the revision: a change of it replaces no pod. But a
// revision comes back with it, because clients of the Service know the number, and a spec that renamed the port no longer has it.
type servicePort struct {
	Port        *int32  `json:"port,omitempty"`
	Name        *string `json:"name,omitempty"`
	AppProtocol *string `json:"appProtocol,omitempty"`
}

func servicePortOf(port v1.ApplicationPort) servicePort {
	return servicePort{Port: port.ServicePort, Name: port.ServicePortName, AppProtocol: port.AppProtocol}
}

func (s servicePort) setOn(port *v1.ApplicationPort) {
	port.ServicePort, port.ServicePortName, port.AppProtocol = s.Port, s.Name, s.AppProtocol
}

// encodeServicePorts returns the content of v1.AnnotationServicePorts: by the name of each port; "" if the Service has them all as they are.
func encodeServicePorts(ports []v1.ApplicationPort) (string, error) {
	byName := map[string]servicePort{}
	for _, port := range ports {
		if s := servicePortOf(port); s != (servicePort{}) {
			byName[port.Name] = s
		}
	}
	if len(byName) == 0 {
		return "", nil
	}
	encoded, err := json.Marshal(byName)
	if err != nil {
		return "", fmt.Errorf("encode the ports of the Service: %w", err)
	}
	return string(encoded), nil
}

// readServicePorts reads v1.AnnotationServicePorts. What another client made of it counts as nothing, if it cannot be read; if it can, it is
// validated with the rest of the spec.
func readServicePorts(annotation string) map[string]servicePort {
	byName := map[string]servicePort{}
	if err := json.Unmarshal([]byte(annotation), &byName); err != nil {
		return nil
	}
	return byName
}

// keepServicePorts completes the ports of an earlier revision, which have what the Service said about them then: the present spec decides
// about the ports that it still has.
func keepServicePorts(ports, present []v1.ApplicationPort) {
	var former []*v1.ApplicationPort
	var taken []v1.ApplicationPort
	for i := range ports {
		port := &ports[i]
		same := func(other v1.ApplicationPort) bool { return other.Name == port.Name }
		if at := slices.IndexFunc(present, same); at >= 0 {
			servicePortOf(present[at]).setOn(port)
			taken = append(taken, *port)
			continue
		}
		former = append(former, port)
	}
	for _, port := range former {
		if slices.ContainsFunc(taken, func(other v1.ApplicationPort) bool { return clash(*port, other) }) {
			servicePort{}.setOn(port)
		}
		taken = append(taken, *port)
	}
	for i := range ports {
		if name := ports[i].ServicePortName; name != nil && *name == "" && len(ports) > 1 {
			ports[i].ServicePortName = nil // Only a single port may have none.
		}
	}
}

// clash reports whether a Service cannot have both ports.
func clash(a, b v1.ApplicationPort) bool {
	number := func(port v1.ApplicationPort) int32 {
		if port.ServicePort != nil {
			return *port.ServicePort
		}
		return port.ContainerPort
	}
	name := func(port v1.ApplicationPort) string {
		if port.ServicePortName != nil {
			return *port.ServicePortName
		}
		return port.Name
	}
	return name(a) == name(b) || number(a) == number(b) && cmp.Or(a.Protocol, corev1.ProtocolTCP) == cmp.Or(b.Protocol, corev1.ProtocolTCP)
}
