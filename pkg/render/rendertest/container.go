// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package rendertest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// container draws the containers of the application and what runs beside it.
func container(t *rapid.T, spec *v1.ApplicationSpec) {
	spec.Image = image(t)
	spec.ImagePullPolicy = pullPolicy(t)
	for _, name := range some(t, "imagePullSecrets", "registry", "mirror") {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}
	spec.Command = some(t, "command", "/web", "--verbose", "")
	spec.Args = some(t, "args", "--port", "8080")
	spec.WorkingDir = oneOf(t, "workingDir", "", "/srv")
	spec.Ports = ports(t)
	spec.Env = env(t)
	if sometimes(t, "envFrom") {
		spec.EnvFrom = []corev1.EnvFromSource{
			{Prefix: "A_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "defaults"}}},
			{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "credentials"}, Optional: maybe(t, "optional", rapid.Bool())}},
		}
	}
	spec.Resources = maybe(t, "resources", rapid.Custom(resources))
	spec.TerminationGracePeriodSeconds = maybe(t, "terminationGracePeriodSeconds", rapid.SampledFrom([]int64{0, 1, 10, 60}))
	spec.LivenessProbe = maybe(t, "livenessProbe", probe(spec, false))
	spec.ReadinessProbe = maybe(t, "readinessProbe", probe(spec, true))
	spec.StartupProbe = maybe(t, "startupProbe", probe(spec, false))
	spec.Lifecycle = maybe(t, "lifecycle", rapid.Custom(lifecycle))
	spec.PodSecurityContext = maybe(t, "podSecurityContext", rapid.Custom(podSecurity))
	spec.SecurityContext = maybe(t, "securityContext", rapid.Custom(security))
	for i, name := range some(t, "initContainers", "migrate", "proxy") {
		helper := furtherContainer(t, name, int32(15000+i))
		if sometimes(t, "native sidecar") {
			always := corev1.ContainerRestartPolicyAlways
			helper.RestartPolicy = &always
		}
		spec.InitContainers = append(spec.InitContainers, helper)
	}
	for i, name := range some(t, "sidecars", "shipper", "exporter") {
		spec.Sidecars = append(spec.Sidecars, furtherContainer(t, name, int32(16000+i)))
	}
}

func image(t *rapid.T) string {
	return oneOf(t, "image", "ghcr.io/acme/web:1.2", "ghcr.io/acme/web:1.3", "localhost:5000/web", "web:latest",
		"web@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")
}

func pullPolicy(t *rapid.T) corev1.PullPolicy {
	return oneOf(t, "imagePullPolicy", "", corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
}

// ports draws up to three ports. No number occurs twice, neither of the container nor of the Service, and the first
// is TCP, because probes and routes use it.
func ports(t *rapid.T) []v1.ApplicationPort {
	var ports []v1.ApplicationPort
	for i, name := range some(t, "ports", "http", "admin", "dns") {
		port := v1.ApplicationPort{
			Name:          name,
			ContainerPort: int32(1024 + 1000*i + rapid.IntRange(0, 2).Draw(t, "containerPort")),
			Protocol:      oneOf(t, "protocol", "", corev1.ProtocolTCP),
			AppProtocol:   maybe(t, "appProtocol", rapid.SampledFrom([]string{"http", "kubernetes.io/h2c"})),
		}
		if sometimes(t, "servicePort") {
			servicePort := int32(80 + i)
			port.ServicePort = &servicePort
		}
		if i > 0 && name == "dns" {
			port.Protocol, port.AppProtocol = corev1.ProtocolUDP, nil
		}
		ports = append(ports, port)
	}
	return ports
}

// tcpPorts returns the names of the ports that probes and routes can use.
func tcpPorts(ports []v1.ApplicationPort) []string {
	var names []string
	for _, port := range ports {
		if port.Protocol != corev1.ProtocolUDP {
			names = append(names, port.Name)
		}
	}
	return names
}

func env(t *rapid.T) []corev1.EnvVar {
	return some(t, "env",
		corev1.EnvVar{Name: "PLAIN", Value: oneOf(t, "value", "", "a", "b")},
		corev1.EnvVar{Name: "REFERENCE", Value: "$(PLAIN)"},
		corev1.EnvVar{Name: "POD", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name", APIVersion: oneOf(t, "apiVersion", "", "v1")}}},
		corev1.EnvVar{Name: "MEMORY", ValueFrom: &corev1.EnvVarSource{
			ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory", Divisor: oneOf(t, "divisor", resource.Quantity{}, resource.MustParse("1024Ki"))}}},
		corev1.EnvVar{Name: "SECRET", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "credentials"}, Key: "password", Optional: maybe(t, "optional", rapid.Bool())}}},
		corev1.EnvVar{Name: "CONFIG", ValueFrom: &corev1.EnvVarSource{
			ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "defaults"}, Key: "level"}}},
	)
}

// resources draws quantities in different notations. No request exceeds a limit.
func resources(t *rapid.T) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: quantities(t, "requests", []string{"1", "1000m", "0.5", "250m"}, []string{"1Gi", "1024Mi", "1e8"}),
		Limits:   quantities(t, "limits", []string{"2", "2500m", "1.5"}, []string{"2Gi", "2147483648", "4G"}),
	}
}

func quantities(t *rapid.T, label string, cpus, memories []string) corev1.ResourceList {
	list := corev1.ResourceList{}
	if sometimes(t, label+" of cpu") {
		list[corev1.ResourceCPU] = resource.MustParse(oneOf(t, label, cpus...))
	}
	if sometimes(t, label+" of memory") {
		list[corev1.ResourceMemory] = resource.MustParse(oneOf(t, label, memories...))
	}
	return list
}

// probe draws a probe that is valid for the ports of the spec.
func probe(spec *v1.ApplicationSpec, readiness bool) *rapid.Generator[v1.Probe] {
	return rapid.Custom(func(t *rapid.T) v1.Probe {
		probe := v1.Probe{
			InitialDelaySeconds: maybe(t, "initialDelaySeconds", rapid.Int32Range(0, 3)),
			TimeoutSeconds:      maybe(t, "timeoutSeconds", rapid.Int32Range(1, 3)),
			PeriodSeconds:       maybe(t, "periodSeconds", rapid.Int32Range(1, 20)),
			FailureThreshold:    maybe(t, "failureThreshold", rapid.Int32Range(1, 5)),
		}
		if readiness {
			probe.SuccessThreshold = maybe(t, "successThreshold", rapid.Int32Range(1, 2))
		} else {
			probe.TerminationGracePeriodSeconds = maybe(t, "terminationGracePeriodSeconds", rapid.Int64Range(1, 5))
		}
		// A worker has no primary port.
		mustNamePort := len(spec.Ports) == 0
		var port *intstr.IntOrString
		if mustNamePort || sometimes(t, "has port") {
			known := []intstr.IntOrString{intstr.FromInt32(8080)}
			for _, name := range tcpPorts(spec.Ports) {
				known = append(known, intstr.FromString(name))
			}
			port = new(oneOf(t, "port", known...))
		}
		switch oneOf(t, "handler", "exec", "http", "tcp", "grpc") {
		case "exec":
			probe.Exec = &corev1.ExecAction{Command: []string{"cat", "/tmp/healthy"}}
		case "http":
			probe.HTTPGet = &v1.HTTPGetAction{
				Path:   oneOf(t, "path", "", "healthz", "/healthz"),
				Port:   port,
				Scheme: oneOf(t, "scheme", "", corev1.URISchemeHTTP, corev1.URISchemeHTTPS),
			}
			if sometimes(t, "httpHeaders") {
				probe.HTTPGet.HTTPHeaders = []corev1.HTTPHeader{{Name: "Accept", Value: "a"}, {Name: "Accept", Value: ""}}
			}
		case "tcp":
			probe.TCPSocket = &v1.TCPSocketAction{Port: port}
		case "grpc":
			probe.GRPC = &v1.GRPCAction{Service: maybe(t, "service", rapid.SampledFrom([]string{"", "shop"}))}
			if mustNamePort || sometimes(t, "has number") {
				probe.GRPC.Port = new(int32(9000))
			}
		}
		return probe
	})
}

func lifecycle(t *rapid.T) corev1.Lifecycle {
	hooks := corev1.Lifecycle{}
	if sometimes(t, "postStart") {
		hooks.PostStart = &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(8080)}}
	}
	if sometimes(t, "preStop") {
		hooks.PreStop = &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"drain"}}}
	}
	return hooks
}

func podSecurity(t *rapid.T) corev1.PodSecurityContext {
	return corev1.PodSecurityContext{
		RunAsUser:          maybe(t, "runAsUser", rapid.Int64Range(1000, 1001)),
		FSGroup:            maybe(t, "fsGroup", rapid.Int64Range(1000, 1001)),
		RunAsNonRoot:       maybe(t, "runAsNonRoot", rapid.Just(true)),
		SupplementalGroups: some(t, "supplementalGroups", int64(2000), int64(2001)),
	}
}

func security(t *rapid.T) corev1.SecurityContext {
	security := corev1.SecurityContext{
		RunAsGroup:             maybe(t, "runAsGroup", rapid.Int64Range(1000, 1001)),
		ReadOnlyRootFilesystem: maybe(t, "readOnlyRootFilesystem", rapid.Bool()),
	}
	if sometimes(t, "capabilities") {
		security.Capabilities = &corev1.Capabilities{Add: some(t, "add", corev1.Capability("NET_BIND_SERVICE"))}
	}
	return security
}

// furtherContainer draws a container with a port that no other container of the pod has.
func furtherContainer(t *rapid.T, name string, port int32) corev1.Container {
	helper := corev1.Container{
		Name:            name,
		Image:           image(t),
		ImagePullPolicy: pullPolicy(t),
		Args:            some(t, "args", "--all"),
		Env:             env(t),
		Resources:       resources(t),
		SecurityContext: maybe(t, "securityContext", rapid.Custom(security)),
	}
	if sometimes(t, "ports") {
		helper.Ports = []corev1.ContainerPort{
			{ContainerPort: port, Protocol: oneOf(t, "protocol", "", corev1.ProtocolTCP)},
			{ContainerPort: port, Protocol: corev1.ProtocolUDP},
		}
	}
	return helper
}
