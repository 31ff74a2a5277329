// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// otherContainer is an init container or a sidecar.
type otherContainer struct {
	*corev1.Container
	path *field.Path
	// longRunning is false for an init container that exits before the application starts.
	longRunning bool
}

func otherContainers(in input) []otherContainer {
	return append(initContainers(in), sidecars(in)...)
}

func initContainers(in input) []otherContainer {
	var containers []otherContainer
	for i := range in.spec.InitContainers {
		container := &in.spec.InitContainers[i]
		always := container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
		containers = append(containers, otherContainer{container, in.path.Child("initContainers").Index(i), always})
	}
	return containers
}

func sidecars(in input) []otherContainer {
	var containers []otherContainer
	for i := range in.spec.Sidecars {
		containers = append(containers, otherContainer{&in.spec.Sidecars[i], in.path.Child("sidecars").Index(i), true})
	}
	return containers
}

func validateInitContainers(in input) field.ErrorList {
	errs := tooMany(in.path.Child("initContainers"), len(in.spec.InitContainers), 16)
	seen := names{}
	for _, container := range initContainers(in) {
		errs = append(errs, addContainer(in, seen, container)...)
		errs = append(errs, validateContainer(in, container)...)
		if policy := container.RestartPolicy; policy != nil && !container.longRunning {
			errs = append(errs, field.NotSupported(container.path.Child("restartPolicy"), *policy,
				[]corev1.ContainerRestartPolicy{corev1.ContainerRestartPolicyAlways}))
		}
		if !container.longRunning {
			errs = append(errs, validateNoProbes(container)...)
		}
	}
	return errs
}

// addContainer refuses a name that another container of the pod has.
func addContainer(in input, seen names, container otherContainer) field.ErrorList {
	path := container.path.Child("name")
	if container.Name != "" && container.Name == in.app.Name {
		duplicate := field.Duplicate(path, container.Name)
		duplicate.Detail = "the container of the application has the name of the Application"
		return field.ErrorList{duplicate}
	}
	return seen.add(path, container.Name)
}

// validateNoProbes refuses probes of a container that exits.
func validateNoProbes(container otherContainer) field.ErrorList {
	var errs field.ErrorList
	for _, set := range []struct {
		name  string
		isSet bool
	}{
		{"livenessProbe", container.LivenessProbe != nil},
		{"readinessProbe", container.ReadinessProbe != nil},
		{"startupProbe", container.StartupProbe != nil},
		{"lifecycle", container.Lifecycle != nil},
	} {
		if set.isSet {
			errs = append(errs, field.Forbidden(container.path.Child(set.name), "needs restartPolicy Always: an init container that ends has neither probes nor lifecycle"))
		}
	}
	return errs
}

func validateSidecars(in input) field.ErrorList {
	errs := tooMany(in.path.Child("sidecars"), len(in.spec.Sidecars), 16)
	seen := names{}
	for _, container := range initContainers(in) {
		seen.add(container.path.Child("name"), container.Name)
	}
	for _, container := range sidecars(in) {
		errs = append(errs, addContainer(in, seen, container)...)
		errs = append(errs, validateContainer(in, container)...)
		if container.RestartPolicy != nil {
			errs = append(errs, field.Forbidden(container.path.Child("restartPolicy"), "a sidecar is always restarted; only an init container may set Always"))
		}
	}
	return errs
}

// validateContainer checks what init containers and sidecars have in common. Security contexts have their own rules.
func validateContainer(in input, container otherContainer) field.ErrorList {
	path := container.path
	var errs field.ErrorList
	// The schema has these limits for the application container.
	errs = append(errs, tooMany(path.Child("ports"), len(container.Ports), 64)...)
	errs = append(errs, tooMany(path.Child("env"), len(container.Env), 1024)...)
	errs = append(errs, tooMany(path.Child("envFrom"), len(container.EnvFrom), 64)...)
	errs = append(errs, tooMany(path.Child("volumeMounts"), len(container.VolumeMounts), 256)...)
	errs = append(errs, label(path.Child("name"), container.Name)...)
	errs = append(errs, validateImage(path.Child("image"), container.Image)...)
	errs = append(errs, validateWords(path.Child("command"), container.Command)...)
	errs = append(errs, validateWords(path.Child("args"), container.Args)...)
	errs = append(errs, validateWorkingDir(path.Child("workingDir"), container.WorkingDir)...)
	errs = append(errs, enum(path.Child("imagePullPolicy"), container.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	errs = append(errs, enum(path.Child("terminationMessagePolicy"), container.TerminationMessagePolicy,
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)...)
	errs = append(errs, validateContainerPorts(path.Child("ports"), container.Ports)...)
	errs = append(errs, validateEnv(in, path.Child("env"), container.Env)...)
	errs = append(errs, validateEnvFrom(path.Child("envFrom"), container.EnvFrom)...)
	errs = append(errs, validateResources(path.Child("resources"), &container.Resources)...)
	errs = append(errs, validateResizePolicy(container)...)
	errs = append(errs, validateVolumeMounts(in, container)...)
	if len(container.VolumeDevices) > 0 {
		errs = append(errs, field.Forbidden(path.Child("volumeDevices"), "an Application has no block volumes"))
	}
	if len(container.RestartPolicyRules) > 0 {
		errs = append(errs, field.Forbidden(path.Child("restartPolicyRules"), "an Application's containers are always restarted"))
	}
	if container.longRunning {
		errs = append(errs, validateContainerProbes(in, container)...)
	}
	return errs
}

func validateContainerProbes(in input, container otherContainer) field.ErrorList {
	target := probed{ports: namedPorts{}}
	for _, port := range container.Ports {
		if port.Name != "" {
			target.ports[port.Name] = protocolOf(port.Protocol)
		}
	}
	var errs field.ErrorList
	for _, probe := range []struct {
		kind  probeKind
		probe *corev1.Probe
	}{
		{liveness, container.LivenessProbe},
		{readiness, container.ReadinessProbe},
		{startup, container.StartupProbe},
	} {
		if probe.probe == nil {
			continue
		}
		path := container.path.Child(string(probe.kind))
		errs = append(errs, validateProbe(container.path, probe.kind, probeOf(probe.probe), target)...)
		if probe.probe.HTTPGet != nil {
			errs = append(errs, validateHTTPProtocol(path.Child("httpGet"), probe.probe.HTTPGet)...)
		}
		if grpc := probe.probe.GRPC; grpc != nil && grpc.Mode != nil {
			errs = append(errs, oneOf(path.Child("grpc", "mode"), *grpc.Mode, corev1.GRPCProbeModePlaintext, corev1.GRPCProbeModeTLS)...)
		}
	}
	return append(errs, validateLifecycle(container.path.Child("lifecycle"), container.Lifecycle, target.ports, gracePeriodSeconds(in.spec))...)
}

// probeOf converts Kubernetes' probe, in which 0 means unset, to the Application's type.
func probeOf(probe *corev1.Probe) *v1.Probe {
	converted := &v1.Probe{
		Exec:                          probe.Exec,
		InitialDelaySeconds:           unlessZero(probe.InitialDelaySeconds),
		TimeoutSeconds:                unlessZero(probe.TimeoutSeconds),
		PeriodSeconds:                 unlessZero(probe.PeriodSeconds),
		SuccessThreshold:              unlessZero(probe.SuccessThreshold),
		FailureThreshold:              unlessZero(probe.FailureThreshold),
		TerminationGracePeriodSeconds: probe.TerminationGracePeriodSeconds,
	}
	if action := probe.HTTPGet; action != nil {
		converted.HTTPGet = &v1.HTTPGetAction{
			Path: action.Path, Port: new(action.Port), Host: action.Host, Scheme: action.Scheme, HTTPHeaders: action.HTTPHeaders,
		}
	}
	if action := probe.TCPSocket; action != nil {
		converted.TCPSocket = &v1.TCPSocketAction{Port: new(action.Port), Host: action.Host}
	}
	if action := probe.GRPC; action != nil {
		converted.GRPC = &v1.GRPCAction{Port: &action.Port, Service: action.Service}
	}
	return converted
}

func unlessZero(value int32) *int32 {
	if value == 0 {
		return nil
	}
	return &value
}

func validateResizePolicy(container otherContainer) field.ErrorList {
	var errs field.ErrorList
	seen := names{}
	for i, policy := range container.ResizePolicy {
		path := container.path.Child("resizePolicy").Index(i)
		errs = append(errs, seen.add(path.Child("resourceName"), string(policy.ResourceName))...)
		errs = append(errs, oneOf(path.Child("resourceName"), policy.ResourceName, corev1.ResourceCPU, corev1.ResourceMemory)...)
		errs = append(errs, oneOf(path.Child("restartPolicy"), policy.RestartPolicy, corev1.NotRequired, corev1.RestartContainer)...)
		if policy.RestartPolicy == corev1.RestartContainer && !container.longRunning {
			errs = append(errs, field.Invalid(path.Child("restartPolicy"), policy.RestartPolicy, "needs restartPolicy Always of the init container"))
		}
	}
	return errs
}
