// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// What applies where the spec is silent. The defaults of the CRD are repeated here, because an
// Application may also come from elsewhere: a test, or a file that a plugin renders.

// PrimaryPort is the port that probes and routes mean when they name none; nil for a worker.
func PrimaryPort(app *v1.Application) *v1.ApplicationPort {
	if len(app.Spec.Ports) == 0 {
		return nil
	}
	return &app.Spec.Ports[0]
}

// ServicePort is the port of the Service for a port of the Application.
func ServicePort(port v1.ApplicationPort) int32 {
	if port.ServicePort != nil {
		return *port.ServicePort
	}
	return port.ContainerPort
}

// Protocol is the protocol, or TCP if there is none.
func Protocol(protocol corev1.Protocol) corev1.Protocol {
	return cmp.Or(protocol, corev1.ProtocolTCP)
}

// RoutePaths are the paths of a route with all their fields: path, type and port. A route
// without paths has one, the prefix / to the primary port. The Application must have ports.
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

// Autoscaled reports whether the Application has a HorizontalPodAutoscaler: only where there is
// room between the least and the most, since one without room would only cost.
func Autoscaled(app *v1.Application) bool {
	autoscaling := app.Spec.Autoscaling
	return autoscaling != nil && autoscaling.MaxReplicas > 0 && MinReplicas(autoscaling) < autoscaling.MaxReplicas
}

// MinReplicas is the least number of pods that an autoscaler may choose.
func MinReplicas(autoscaling *v1.Autoscaling) int32 {
	if autoscaling.MinReplicas != nil {
		return *autoscaling.MinReplicas
	}
	return 1
}

// FixedReplicas is the number of pods that Fairlead sets on the Deployment, or nil if it must
// not touch the number: because an autoscaler owns it, or because the spec leaves it open.
// Autoscaling goes before replicas, should an invalid spec have both, because a number that is
// set in spite of an autoscaler never comes to rest.
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

// ProgressDeadlineSeconds is how long a rollout may go without progress.
func ProgressDeadlineSeconds(app *v1.Application) int32 {
	if seconds := app.Spec.ProgressDeadlineSeconds; seconds != nil {
		return *seconds
	}
	return 600
}

// terminationGracePeriodSeconds is how long the pods have to end.
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
