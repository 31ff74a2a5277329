// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// SamePods reports whether both specs say the same about the pods, so that they have the same revision.
func SamePods(a, b *v1.ApplicationSpec) bool {
	return equality.Semantic.DeepEqual(podSpec(a), podSpec(b))
}

// podSpec returns what the spec says about the pods, and nothing else. The result is read-only: it shares everything
// that it leaves unchanged with the spec, which may belong to a cache.
func podSpec(spec *v1.ApplicationSpec) v1.ApplicationSpec {
	pods := v1.ApplicationSpec{}
	copyPodFields(&pods, spec)
	// What belongs to the Service and the ServiceAccount, not to the pods.
	pods.Ports = slices.Clone(pods.Ports)
	for i := range pods.Ports {
		servicePort{}.setOn(&pods.Ports[i])
	}
	if account := pods.ServiceAccount; account != nil {
		if account.Name == "" && (account.AutomountToken == nil || !*account.AutomountToken) {
			pods.ServiceAccount = nil // The default.
		} else {
			pods.ServiceAccount = &v1.ServiceAccount{Name: account.Name, AutomountToken: account.AutomountToken}
		}
	}
	return pods
}

// withPodFields returns the Application with other pods. Everything else stays as it is.
func withPodFields(application *v1.Application, pods v1.ApplicationSpec) *v1.Application {
	spliced := application.DeepCopy()
	present := application.DeepCopy().Spec
	copyPodFields(&spliced.Spec, pods.DeepCopy())
	keepServicePorts(spliced.Spec.Ports, present.Ports)
	if account := present.ServiceAccount; account != nil && len(account.Annotations) > 0 {
		switch own := spliced.Spec.ServiceAccount; {
		case own == nil:
			spliced.Spec.ServiceAccount = &v1.ServiceAccount{Annotations: account.Annotations}
		case own.Name == "":
			own.Annotations = account.Annotations
		}
	}
	return spliced
}

// besidePods are the fields of a spec that say nothing about the pods. A test wants each field either here or in copyPodFields, so that a
// new one is not forgotten.
var besidePods = []string{
	"className", "configChangePolicy", "replicas", "autoscaling", "strategy", "minReadySeconds", "progressDeadlineSeconds",
	"revisionHistoryLimit", "paused", "rollback", "reconcilePolicy", "service", "routes", "disruptionBudget", "networkPolicy",
	"monitoring", "deletionPolicy", "adoptionPolicy",
}

// isOfPods reports whether a field, such as spec.ports[0].name, says something about the pods.
func isOfPods(path string) bool {
	name := strings.TrimPrefix(path, "spec.")
	if end := strings.IndexAny(name, ".["); end >= 0 {
		name = name[:end]
	}
	return !slices.Contains(besidePods, name)
}

// copyPodFields copies the fields from which the pod template and the Application's own ConfigMap are rendered.
func copyPodFields(to, from *v1.ApplicationSpec) {
	to.Image = from.Image
	to.ImagePullPolicy = from.ImagePullPolicy
	to.ImagePullSecrets = from.ImagePullSecrets
	to.Command = from.Command
	to.Args = from.Args
	to.WorkingDir = from.WorkingDir
	to.Ports = from.Ports
	to.Env = from.Env
	to.EnvFrom = from.EnvFrom
	to.Config = from.Config
	to.Mounts = from.Mounts
	to.Resources = from.Resources
	to.LivenessProbe = from.LivenessProbe
	to.ReadinessProbe = from.ReadinessProbe
	to.StartupProbe = from.StartupProbe
	to.Lifecycle = from.Lifecycle
	to.TerminationGracePeriodSeconds = from.TerminationGracePeriodSeconds
	to.InitContainers = from.InitContainers
	to.Sidecars = from.Sidecars
	to.ServiceAccount = from.ServiceAccount
	to.PodSecurityContext = from.PodSecurityContext
	to.SecurityContext = from.SecurityContext
	to.NodeSelector = from.NodeSelector
	to.Tolerations = from.Tolerations
	to.Affinity = from.Affinity
	to.TopologySpreadConstraints = from.TopologySpreadConstraints
	to.PriorityClassName = from.PriorityClassName
	to.PodMetadata = from.PodMetadata
}
