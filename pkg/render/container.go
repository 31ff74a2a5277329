// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// applicationContainer renders the container of the application, which has the name of the Application.
func applicationContainer(app *v1.Application) (*corev1ac.ContainerApplyConfiguration, error) {
	security, err := applicationSecurity(app.Spec.SecurityContext)
	if err != nil {
		return nil, err
	}
	container := corev1ac.Container().
		WithName(app.Name).
		WithImage(app.Spec.Image).
		WithImagePullPolicy(imagePullPolicy(app.Spec.ImagePullPolicy, app.Spec.Image)).
		WithCommand(app.Spec.Command...).
		WithArgs(app.Spec.Args...).
		WithVolumeMounts(volumeMounts(app)...).
		WithSecurityContext(security)
	if app.Spec.WorkingDir != "" {
		container.WithWorkingDir(app.Spec.WorkingDir)
	}
	for _, port := range app.Spec.Ports {
		container.WithPorts(corev1ac.ContainerPort().
			WithName(port.Name).
			WithContainerPort(port.ContainerPort).
			WithProtocol(Protocol(port.Protocol)))
	}
	if err := environment(app, container); err != nil {
		return nil, err
	}
	if resources := app.Spec.Resources; resources != nil {
		if err := containerResources(*resources, container); err != nil {
			return nil, err
		}
	}
	if err := probes(app, container); err != nil {
		return nil, err
	}
	return container, lifecycle(app, container)
}

func environment(app *v1.Application, container *corev1ac.ContainerApplyConfiguration) error {
	env, err := convertAll[corev1ac.EnvVarApplyConfiguration](app.Spec.Env)
	if err != nil {
		return err
	}
	container.WithEnv(env...)
	completeEnv(container.Env)
	envFrom, err := convertAll[corev1ac.EnvFromSourceApplyConfiguration](app.Spec.EnvFrom)
	if err != nil {
		return err
	}
	container.WithEnvFrom(envFrom...)
	return nil
}

// containerResources sets the resources, if there are any.
func containerResources(resources corev1.ResourceRequirements, container *corev1ac.ContainerApplyConfiguration) error {
	container.Resources = nil
	limits, requests := roundedUp(resources.Limits), roundedUp(resources.Requests)
	if limits == nil && requests == nil && len(resources.Claims) == 0 {
		return nil
	}
	claims, err := convertAll[corev1ac.ResourceClaimApplyConfiguration](resources.Claims)
	if err != nil {
		return err
	}
	set := corev1ac.ResourceRequirements().WithClaims(claims...)
	if limits != nil {
		set.WithLimits(limits)
	}
	if requests != nil {
		set.WithRequests(requests)
	}
	container.WithResources(set)
	return nil
}

// furtherContainers renders init containers and sidecars as the spec has them, with those security defaults that
// apply to every container.
func furtherContainers(containers []corev1.Container) ([]*corev1ac.ContainerApplyConfiguration, error) {
	converted, err := convertAll[corev1ac.ContainerApplyConfiguration](containers)
	if err != nil {
		return nil, err
	}
	for i, container := range converted {
		container.WithImagePullPolicy(imagePullPolicy(containers[i].ImagePullPolicy, containers[i].Image))
		if container.SecurityContext == nil {
			container.WithSecurityContext(corev1ac.SecurityContext())
		}
		restrict(container.SecurityContext)
		completeEnv(container.Env)
		for j := range container.Ports {
			port := &container.Ports[j]
			port.WithProtocol(Protocol(valueOf(port.Protocol)))
		}
		if err := containerResources(containers[i].Resources, container); err != nil {
			return nil, err
		}
	}
	return converted, nil
}

// valueOf returns what the pointer points to, or the zero value.
func valueOf[T comparable](pointer *T) T {
	return *cmp.Or(pointer, new(T))
}
