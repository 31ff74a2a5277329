// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/tree"
)

// onePod is the step that keeps a rollout from running two pods at a time.
const onePod = "Run a single pod, and stop it before the next one starts: set replicas 1 and strategy.type Recreate in the spec."

// usedElsewhere is what to say if another pod has the volume that the pods need; ok is false if not. The claim and its volume exist. The
// words are those of the scheduler, and of the controller that attaches volumes.
func (f facts) usedElsewhere(problem v1.Problem) (known advice, ok bool) {
	switch {
	case problem.Reason == v1.ReasonUnschedulable && strings.Contains(problem.Message, "ReadWriteOncePod access mode"):
		return advice{"Another pod uses a PersistentVolumeClaim of access mode ReadWriteOncePod, which admits one pod, so no node takes the pods.", []string{
			onePod, "Or use a claim of another access mode, such as ReadWriteOnce for pods on one node: kubectl get persistentvolumeclaims",
		}}, true
	case problem.Reason == v1.ReasonVolumeNotMounting && f.attachedElsewhere():
		return advice{"The pods have a node, but a volume of theirs is attached to another one, and can be attached to one at a time.", []string{
			onePod, "Or use a claim of access mode ReadWriteMany, if its storage class can: kubectl get persistentvolumeclaims",
			"If no pod uses the volume on the other node, Kubernetes detaches it within some minutes. The Events of the pod name the volume: kubectl events --for pod/POD",
		}}, true
	default:
		return advice{}, false
	}
}

// attachedElsewhere reports whether an Event says so about a pod that is not ready.
func (f facts) attachedElsewhere() bool {
	return slices.ContainsFunc(f.EventsOfObjects, func(event corev1.Event) bool {
		return strings.Contains(event.Message, "Multi-Attach error") && slices.ContainsFunc(f.Pods, func(pod *corev1.Pod) bool {
			return pod.UID == event.InvolvedObject.UID && !tree.PodReady(pod)
		})
	})
}
