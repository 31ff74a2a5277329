// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package adopt writes the Application that can adopt a Deployment and a Service, and says what it loses. It is pure.
package adopt

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Options are what a user decides.
type Options struct {
	// Container is the application's container; "" is the only one, or the one with the name of the Deployment.
	Container string
	// Harden leaves what the pods do not say about their privileges to Fairlead's defaults, those of the Pod Security
	// Standard restricted. Else the Application asks for what Kubernetes gives such pods.
	Harden bool
	// Class is the ApplicationClass to name; "" leaves the choice to the platform.
	Class string
	// Scaled says that an autoscaler decides the number of pods.
	Scaled bool
}

// RefusedError are the fields that an Application cannot express, each with the reason.
type RefusedError struct{ Fields []string }

func (e *RefusedError) Error() string { return strings.Join(e.Fields, "; ") }

func refused(path, why string) error { return &RefusedError{[]string{path + ": " + why}} }

// allRefused makes one error of those about fields, so that a user corrects them at once. Any other error comes first.
func allRefused(errs ...error) error {
	var all RefusedError
	for _, err := range errs {
		if one := (*RefusedError)(nil); errors.As(err, &one) {
			all.Fields = append(all.Fields, one.Fields...)
		} else if err != nil {
			return err
		}
	}
	if len(all.Fields) == 0 {
		return nil
	}
	return &all
}

const podPath = ".spec.template.spec"

// Draft writes the Application: paused, observing, and leaving its objects behind when it is deleted. service may be nil.
func Draft(deployment *appsv1.Deployment, service *corev1.Service, options Options) (*v1.Application, error) {
	pod := &deployment.Spec.Template.Spec
	refusal := refusePod(pod)
	main, err := mainContainer(pod, deployment.Name, options.Container)
	if err != nil {
		return nil, cmp.Or(refusal, err)
	}
	spec := v1.ApplicationSpec{
		AdoptionPolicy: v1.AdoptionConsented, ReconcilePolicy: v1.ReconcileObserve, DeletionPolicy: v1.DeletionOrphan, Paused: new(true),
		DisruptionBudget: &v1.DisruptionBudget{Mode: v1.DisruptionBudgetDisabled}, ClassName: options.Class,
		Image: main.Image, ImagePullPolicy: main.ImagePullPolicy, ImagePullSecrets: pod.ImagePullSecrets,
		Command: main.Command, Args: main.Args, WorkingDir: main.WorkingDir, Env: main.Env, EnvFrom: main.EnvFrom, Lifecycle: main.Lifecycle,
		Strategy: &deployment.Spec.Strategy, MinReadySeconds: &deployment.Spec.MinReadySeconds,
		ProgressDeadlineSeconds: deployment.Spec.ProgressDeadlineSeconds, RevisionHistoryLimit: deployment.Spec.RevisionHistoryLimit,
		TerminationGracePeriodSeconds: pod.TerminationGracePeriodSeconds, NodeSelector: pod.NodeSelector, Tolerations: pod.Tolerations,
		Affinity: pod.Affinity, TopologySpreadConstraints: pod.TopologySpreadConstraints, PriorityClassName: pod.PriorityClassName,
		PodMetadata: &v1.PodMetadata{Labels: maps.Clone(deployment.Spec.Template.Labels), Annotations: maps.Clone(deployment.Spec.Template.Annotations)},
	}
	if !options.Scaled {
		spec.Replicas = deployment.Spec.Replicas
	}
	if len(main.Resources.Limits)+len(main.Resources.Requests)+len(main.Resources.Claims) > 0 {
		spec.Resources = main.Resources.DeepCopy()
	}
	for _, probe := range []struct {
		from *corev1.Probe
		to   **v1.Probe
	}{{main.LivenessProbe, &spec.LivenessProbe}, {main.ReadinessProbe, &spec.ReadinessProbe}, {main.StartupProbe, &spec.StartupProbe}} {
		if probe.from != nil {
			*probe.to = &v1.Probe{}
			if err := Convert(probe.from, *probe.to); err != nil {
				return nil, err
			}
		}
	}
	account := &v1.ServiceAccount{AutomountToken: pod.AutomountServiceAccountToken}
	if pod.ServiceAccountName != "" && pod.ServiceAccountName != "default" {
		account.Name = pod.ServiceAccountName
	}
	if account.AutomountToken == nil {
		account.AutomountToken = new(true)
	}
	spec.ServiceAccount = account
	err = allRefused(refusal, volumes(&spec, pod, main), security(&spec, pod, main, options.Harden), ports(&spec, pod, main, service))
	if err != nil {
		return nil, err
	}
	// An Application had the Deployment before, and the new one sets them again.
	maps.DeleteFunc(spec.PodMetadata.Labels, func(key, _ string) bool { return strings.HasPrefix(key, v1.ReservedPrefix) })
	maps.DeleteFunc(spec.PodMetadata.Annotations, func(key, _ string) bool { return strings.HasPrefix(key, v1.ReservedPrefix) })
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: deployment.Name, Namespace: deployment.Namespace}, Spec: *spec.DeepCopy()}
	retarget(&application.Spec, main.Name, application.Name)
	application.APIVersion, application.Kind = v1.SchemeGroupVersion.String(), v1.ApplicationKind
	return application, nil
}

// refusePod names the fields of the pods that have no counterpart, and without which they would not be the same.
func refusePod(pod *corev1.PodSpec) error {
	var errs []error
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"hostNetwork", pod.HostNetwork}, {"hostPID", pod.HostPID}, {"hostIPC", pod.HostIPC}, {"hostUsers", pod.HostUsers != nil},
		{"hostAliases", len(pod.HostAliases) > 0}, {"hostname", pod.Hostname != ""}, {"subdomain", pod.Subdomain != ""},
		{"setHostnameAsFQDN", pod.SetHostnameAsFQDN != nil && *pod.SetHostnameAsFQDN}, {"dnsConfig", pod.DNSConfig != nil},
		{"dnsPolicy", pod.DNSPolicy != "" && pod.DNSPolicy != corev1.DNSClusterFirst}, {"runtimeClassName", pod.RuntimeClassName != nil},
		{"schedulerName", pod.SchedulerName != "" && pod.SchedulerName != corev1.DefaultSchedulerName},
		{"readinessGates", len(pod.ReadinessGates) > 0}, {"shareProcessNamespace", pod.ShareProcessNamespace != nil && *pod.ShareProcessNamespace},
		{"activeDeadlineSeconds", pod.ActiveDeadlineSeconds != nil}, {"resourceClaims", len(pod.ResourceClaims) > 0},
		{"os", pod.OS != nil}, {"overhead", len(pod.Overhead) > 0}, {"resources", pod.Resources != nil},
	} {
		if field.set {
			errs = append(errs, refused(podPath+"."+field.name, "an Application has no such field"))
		}
	}
	return allRefused(errs...)
}

// Container returns the name of the container that becomes the application's.
func Container(deployment *appsv1.Deployment, options Options) (string, error) {
	container, err := mainContainer(&deployment.Spec.Template.Spec, deployment.Name, options.Container)
	if err != nil {
		return "", err
	}
	return container.Name, nil
}

// MeasuresContainer returns which metric of an autoscaler is about a container; -1 if none is.
func MeasuresContainer(autoscaler *autoscalingv2.HorizontalPodAutoscaler, container string) int {
	return slices.IndexFunc(autoscaler.Spec.Metrics, func(metric autoscalingv2.MetricSpec) bool {
		return metric.ContainerResource != nil && metric.ContainerResource.Container == container
	})
}

// mainContainer returns the container that becomes the application's.
func mainContainer(pod *corev1.PodSpec, name, chosen string) (*corev1.Container, error) {
	if len(pod.Containers) == 1 && chosen == "" {
		return &pod.Containers[0], nil
	}
	names := make([]string, 0, len(pod.Containers))
	for i := range pod.Containers {
		names = append(names, pod.Containers[i].Name)
	}
	if i := slices.Index(names, cmp.Or(chosen, name)); i >= 0 {
		return &pod.Containers[i], nil
	}
	if chosen != "" {
		return nil, fmt.Errorf("there is no container %q: choose the application's with --container: %s", chosen, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("choose the application's container with --container: %s", strings.Join(names, ", "))
}

// runtimeCapabilities are those that container runtimes give a container that asks for nothing.
var runtimeCapabilities = []corev1.Capability{
	"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}

// security copies what the pods say about their privileges. Unless they are to be hardened, it also writes down what
// Kubernetes gives to pods that say nothing.
func security(spec *v1.ApplicationSpec, pod *corev1.PodSpec, main *corev1.Container, harden bool) error {
	spec.PodSecurityContext, spec.SecurityContext = pod.SecurityContext.DeepCopy(), main.SecurityContext.DeepCopy()
	for kind, containers := range map[string][]corev1.Container{"initContainers": pod.InitContainers, "containers": pod.Containers} {
		for i := range containers {
			if path := mayLosePrivileges(&containers[i]); path != "" {
				return refused(fmt.Sprintf("%s.%s[%s].securityContext.%s", podPath, kind, containers[i].Name, path),
					"Fairlead drops all capabilities of a container that drops none, and runtimes differ in what a privileged one keeps")
			}
		}
	}
	if harden {
		return nil
	}
	if spec.PodSecurityContext == nil {
		spec.PodSecurityContext = &corev1.PodSecurityContext{}
	}
	if spec.PodSecurityContext.RunAsNonRoot == nil {
		spec.PodSecurityContext.RunAsNonRoot = new(false)
	}
	if spec.PodSecurityContext.SeccompProfile == nil {
		spec.PodSecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}
	}
	spec.SecurityContext = keepPrivileges(spec.SecurityContext)
	if spec.SecurityContext.ReadOnlyRootFilesystem == nil {
		spec.SecurityContext.ReadOnlyRootFilesystem = new(false)
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Sidecars} {
		for i := range containers {
			containers[i].SecurityContext = keepPrivileges(containers[i].SecurityContext)
		}
	}
	return nil
}

// mayLosePrivileges returns the field by which a container has privileges that the Application may not give it.
func mayLosePrivileges(container *corev1.Container) string {
	security := container.SecurityContext
	if security == nil || security.Privileged == nil || !*security.Privileged || security.Capabilities != nil && len(security.Capabilities.Drop) > 0 {
		return ""
	}
	return "privileged"
}

// keepPrivileges writes down what a container has that says nothing about it.
func keepPrivileges(given *corev1.SecurityContext) *corev1.SecurityContext {
	security := given
	if security == nil {
		security = &corev1.SecurityContext{}
	}
	if security.AllowPrivilegeEscalation == nil {
		security.AllowPrivilegeEscalation = new(true)
	}
	if security.Capabilities == nil {
		security.Capabilities = &corev1.Capabilities{}
	}
	if len(security.Capabilities.Drop) == 0 { // Fairlead then drops all others.
		added := append(slices.Clone(runtimeCapabilities), security.Capabilities.Add...)
		slices.Sort(added)
		security.Capabilities.Add = slices.Compact(added)
	}
	return security
}

// Convert copies what two types have in common in JSON.
func Convert(from, to any) error {
	encoded, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(encoded, to)
}
