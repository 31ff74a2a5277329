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

// Pod is what a sync knows of a pod: its owner and, unless it serves, why it does not. It is a separate type because
// an empty corev1.Pod takes 1,240 bytes, and of a pod that serves the sync needs only the name.
type Pod struct {
	// ObjectMeta has the name, namespace, UID and resourceVersion that caches need.
	metav1.ObjectMeta
	// Application is the value of v1.LabelApplication. The cache finds the pod by it. It proves nothing.
	Application string
	// ReplicaSet is the UID of the pod's controller.
	ReplicaSet types.UID
	// Problems is nil for a pod that serves, is being deleted, or has no problem yet.
	Problems *PodProblems
}

// ReplicaSet is what a sync knows of a ReplicaSet: the revision of its pods, and why it cannot create more of them.
type ReplicaSet struct {
	metav1.ObjectMeta
	Application string
	// Deployment is the UID of the ReplicaSet's controller.
	Deployment types.UID
	// Revision is the Deployment's revision when this was its newest ReplicaSet.
	Revision string
	// Failure is the message of the condition ReplicaFailure while it is True.
	Failure string
	// HasPods means that it has pods, or should have some.
	HasPods bool
	// References are the objects to which its pods refer by name.
	References PodReferences
}

// RevisionAnnotation is the annotation in which the Deployment controller numbers its ReplicaSets. The Deployment has
// the number of the current one. Kubernetes declares the constant in a package of its own controllers.
const RevisionAnnotation = "deployment.kubernetes.io/revision"

// NewPod returns what a sync needs of a pod.
func NewPod(pod *corev1.Pod) *Pod {
	return &Pod{
		ObjectMeta:  identity(pod),
		Application: pod.Labels[v1.LabelApplication],
		ReplicaSet:  controllerUID(pod),
		Problems:    findProblems(pod),
	}
}

// NewReplicaSet returns what a sync needs of a ReplicaSet.
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

// SamePod reports whether both pods look the same to a sync; most changes of pods make no difference. nil is a pod
// that does not exist, and looks like one without problems.
func SamePod(a, b *Pod) bool {
	if a == nil || b == nil {
		return (a == nil || a.Problems == nil) && (b == nil || b.Problems == nil)
	}
	if a.Problems == nil && b.Problems == nil {
		return true
	}
	return a.Application == b.Application && a.ReplicaSet == b.ReplicaSet && equality.Semantic.DeepEqual(a.Problems, b.Problems)
}

// SameReplicaSet reports whether both look the same to a sync.
func SameReplicaSet(a, b *ReplicaSet) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.UID == b.UID && a.Application == b.Application && a.Deployment == b.Deployment && a.Revision == b.Revision &&
		a.Failure == b.Failure && a.HasPods == b.HasPods // The references of its pods cannot change.
}
