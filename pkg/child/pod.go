// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Pod is what a sync knows of a pod: whose it is and, unless it serves, why it does not. It is a
// type of its own, because an empty corev1.Pod alone takes 1,240 bytes, and of a pod that serves nothing
// more than its name is needed.
type Pod struct {
	// ObjectMeta has name, namespace, UID and resourceVersion, as caches need them.
	metav1.ObjectMeta
	// Application is the value of v1.LabelApplication. It finds the pod, and proves nothing.
	Application string
	// ReplicaSet is the UID of the pod's controller.
	ReplicaSet types.UID
	// Problems is nil for a pod that serves, is being deleted, or has nothing to tell yet.
	Problems *PodProblems
}

// ReplicaSet is what a sync knows of a ReplicaSet: of which revision its pods are, and why it cannot make
// more of them.
type ReplicaSet struct {
	metav1.ObjectMeta
	Application string
	// Deployment is the UID of its controller.
	Deployment types.UID
	// Revision is that of the Deployment when this was its newest ReplicaSet.
	Revision string
	// Failure is the message of the condition ReplicaFailure while it is True.
	Failure string
	// HasPods: it has pods, or is asked for some.
	HasPods bool
	// References are what its pods refer to by name.
	References PodReferences
}

// RevisionAnnotation is what the Deployment controller numbers its ReplicaSets by. The Deployment
// carries the number of the current one. Kubernetes has the constant in a package of its own controllers.
const RevisionAnnotation = "deployment.kubernetes.io/revision"

// NewPod keeps of a pod what a sync needs.
func NewPod(pod *corev1.Pod) *Pod {
	return &Pod{
		ObjectMeta:  identity(pod),
		Application: pod.Labels[v1.LabelApplication],
		ReplicaSet:  controllerUID(pod),
		Problems:    findProblems(pod),
	}
}

// NewReplicaSet keeps of a ReplicaSet what a sync needs.
func NewReplicaSet(replicaSet *appsv1.ReplicaSet) *ReplicaSet {
	r := &ReplicaSet{
		ObjectMeta:  identity(replicaSet),
		Application: replicaSet.Labels[v1.LabelApplication],
		Deployment:  controllerUID(replicaSet),
		Revision:    replicaSet.Annotations[RevisionAnnotation],
		HasPods:     replicaSet.Status.Replicas > 0 || replicaSet.Spec.Replicas == nil || *replicaSet.Spec.Replicas > 0,
		References:  ReferencesOf(&replicaSet.Spec.Template.Spec),
	}
	for _, condition := range replicaSet.Status.Conditions {
		if condition.Type == appsv1.ReplicaSetReplicaFailure && condition.Status == corev1.ConditionTrue {
			r.Failure = condition.Message
		}
	}
	return r
}

func identity(object metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(),
		UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
	}
}

func controllerUID(object metav1.Object) types.UID {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		return controller.UID
	}
	return ""
}

// SamePod reports whether a sync sees no difference between the two: most changes of pods are none. nil is
// a pod that is not there, and the same as one without trouble.
func SamePod(a, b *Pod) bool {
	if a == nil || b == nil {
		return (a == nil || a.Problems == nil) && (b == nil || b.Problems == nil)
	}
	if a.Problems == nil && b.Problems == nil {
		return true
	}
	return a.Application == b.Application && a.ReplicaSet == b.ReplicaSet && equality.Semantic.DeepEqual(a.Problems, b.Problems)
}

// SameReplicaSet reports whether a sync sees no difference between the two.
func SameReplicaSet(a, b *ReplicaSet) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.UID == b.UID && a.Application == b.Application && a.Deployment == b.Deployment && a.Revision == b.Revision &&
		a.Failure == b.Failure && a.HasPods == b.HasPods // What its pods refer to cannot change.
}
