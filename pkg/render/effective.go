// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// This file has the defaults for what the spec omits. It repeats those of the CRD, because not every Application has
// passed through an API server: a test has others, and so has a plugin that renders a file.

// PrimaryPort returns the port of probes and routes that name none. It is nil for a worker.
func PrimaryPort(app *v1.Application) *v1.ApplicationPort {
	if len(app.Spec.Ports) == 0 {
		return nil
	}
	return &app.Spec.Ports[0]
}

// ServicePort returns the port of the Service for a port of the Application.
func ServicePort(port v1.ApplicationPort) int32 {
	if port.ServicePort != nil {
		return *port.ServicePort
	}
	return port.ContainerPort
}

// ServicePortName returns the name of the port of the Service for a port of the Application. Only a single port may have
// none: the API server refuses a Service with several ports of which one has no name.
func ServicePortName(app *v1.Application, port v1.ApplicationPort) string {
	if name := port.ServicePortName; name != nil && (*name != "" || len(app.Spec.Ports) == 1) {
		return *name
	}
	return port.Name
}

// Protocol returns the protocol, by default TCP.
func Protocol(protocol corev1.Protocol) corev1.Protocol {
	return cmp.Or(protocol, corev1.ProtocolTCP)
}

// RoutePaths returns the paths of a route with all their fields: path, type and port. A route without paths has one:
// the prefix / to the primary port. The Application must have ports.
func RoutePaths(app *v1.Application, route v1.Route) []v1.RoutePath {
	paths := route.Paths
	if len(paths) == 0 {
		paths = []v1.RoutePath{{}}
	}
	primary := ""
	if port := PrimaryPort(app); port != nil {
		primary = port.Name
	}
	effective := make([]v1.RoutePath, 0, len(paths))
	for _, path := range paths {
		effective = append(effective, v1.RoutePath{
			Path:     cmp.Or(path.Path, "/"),
			PathType: cmp.Or(path.PathType, networkingv1.PathTypePrefix),
			Port:     cmp.Or(path.Port, primary),

			RewritePrefix: path.RewritePrefix,
		})
	}
	return effective
}

// Autoscaled reports whether the Application has a HorizontalPodAutoscaler. If minimum and maximum are equal it has
// none, which would only cost.
func Autoscaled(app *v1.Application) bool {
	autoscaling := app.Spec.Autoscaling
	return autoscaling != nil && autoscaling.MaxReplicas > 0 && MinReplicas(autoscaling) < autoscaling.MaxReplicas
}

// MinReplicas returns the smallest number of pods that an autoscaler may choose.
func MinReplicas(autoscaling *v1.Autoscaling) int32 {
	if autoscaling.MinReplicas != nil {
		return *autoscaling.MinReplicas
	}
	return 1
}

// FixedReplicas returns the number of pods that Fairlead sets on the Deployment. It is nil if Fairlead must not touch
// the number, because an autoscaler owns it or the spec leaves it open. If an invalid spec has both, autoscaling wins
// over replicas: Fairlead and an autoscaler would overwrite each other's number for ever.
func FixedReplicas(app *v1.Application) *int32 {
	if autoscaling := app.Spec.Autoscaling; autoscaling != nil {
		if MinReplicas(autoscaling) == autoscaling.MaxReplicas {
			fixed := autoscaling.MaxReplicas
			return &fixed
		}
		return nil
	}
	if app.Spec.Replicas == nil {
		return nil
	}
	fixed := *app.Spec.Replicas
	return &fixed
}

// LiveReplicas returns how many pods the Application's live Deployment asks for; 0 if there is none. Other clients and autoscalers set the
// number where FixedReplicas is nil.
func LiveReplicas(live child.Snapshot) int32 {
	deployment := child.Get[*appsv1.Deployment](live, child.Deployment, live.Application.Name)
	if deployment == nil || deployment.Spec.Replicas == nil || !child.OwnedBy(deployment, live.Application) {
		return 0
	}
	return *deployment.Spec.Replicas
}

// ProgressDeadlineSeconds returns how long a rollout may take without progress.
func ProgressDeadlineSeconds(app *v1.Application) int32 {
	if seconds := app.Spec.ProgressDeadlineSeconds; seconds != nil {
		return *seconds
	}
	return 600
}

// terminationGracePeriodSeconds returns how long the pods have to terminate.
func terminationGracePeriodSeconds(app *v1.Application) int64 {
	if seconds := app.Spec.TerminationGracePeriodSeconds; seconds != nil {
		return *seconds
	}
	return corev1.DefaultTerminationGracePeriodSeconds
}

// automountToken reports whether the pods get a token for the Kubernetes API.
func automountToken(app *v1.Application) bool {
	account := app.Spec.ServiceAccount
	return account != nil && account.AutomountToken != nil && *account.AutomountToken
}
