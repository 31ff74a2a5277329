// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// services renders the Service, if there are ports.
func services(app *v1.Application, _ Facts) ([]any, error) {
	if len(app.Spec.Ports) == 0 {
		return nil, nil
	}
	given := app.Spec.Service
	if given == nil {
		given = &v1.Service{}
	}
	spec := corev1ac.ServiceSpec().
		WithType(cmp.Or(given.Type, corev1.ServiceTypeClusterIP)).
		WithSelector(Selector(app)).
		WithSessionAffinity(cmp.Or(given.SessionAffinity, corev1.ServiceAffinityNone))
	for _, port := range app.Spec.Ports {
		servicePort := corev1ac.ServicePort().
			WithProtocol(Protocol(port.Protocol)).
			WithPort(ServicePort(port)).
			// By name, so that during a rollout that changes the number each pod gets requests at its own.
			WithTargetPort(intstr.FromString(port.Name))
		if name := ServicePortName(app, port); name != "" {
			servicePort.WithName(name)
		}
		if port.AppProtocol != nil && *port.AppProtocol != "" {
			servicePort.WithAppProtocol(*port.AppProtocol)
		}
		spec.WithPorts(servicePort)
	}
	service := corev1ac.Service(app.Name, app.Namespace).WithSpec(spec)
	service.ObjectMetaApplyConfiguration = objectMeta(app, app.Name, given.Annotations)
	return []any{service}, nil
}
