// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/health"
)

// Reasons of nodes that no condition gives.
const (
	reasonTerminating      = "Terminating"
	reasonScaling          = "Scaling"
	reasonNoReadyEndpoints = "NoReadyEndpoints"
)

// family is an Application with what the caches have below it, each list in the order of names.
type family struct {
	application *v1.Application
	replicaSets []*appsv1.ReplicaSet
	pods        []*pod
	slices      []*discoveryv1.EndpointSlice
}

// newTree puts a family in order. The children are those that the status lists, so that the tree shows a missing or
// refused one too; what is below them is found by UID.
func newTree(f family, now time.Time) *v1alpha1.ApplicationTree {
	tree := &v1alpha1.ApplicationTree{ObjectMeta: metadataOf(f.application)}
	add := func(depth int32, node v1alpha1.TreeNode) {
		node.Depth = depth
		tree.Nodes = append(tree.Nodes, node)
	}
	root := v1alpha1.TreeNode{Group: v1.GroupName, Kind: v1.ApplicationKind, Name: f.application.Name, UID: f.application.UID}
	root.Health, root.Reason, root.Message = applicationHealth(f.application)
	add(0, root)
	for i := range f.application.Status.Resources {
		resource := &f.application.Status.Resources[i]
		child := v1alpha1.TreeNode{Group: resource.Group, Kind: resource.Kind, Name: resource.Name, UID: resource.UID}
		child.Health, child.Reason, child.Message = childHealth(resource)
		if resource.State == v1.ResourceSynced && resource.Kind == "Deployment" {
			child.Health, child.Reason, child.Message = root.Health, root.Reason, root.Message
		}
		add(1, child)
		for _, replicaSet := range f.replicaSets {
			if owner := metav1.GetControllerOfNoCopy(replicaSet); owner == nil || !isChild(resource, owner.UID) || isOld(replicaSet) {
				continue
			}
			add(2, replicaSetNode(replicaSet))
			for _, p := range f.pods {
				if p.ReplicaSet == replicaSet.UID {
					add(3, podNode(p, now))
				}
			}
		}
		for _, slice := range f.slices {
			if owner := metav1.GetControllerOfNoCopy(slice); owner != nil && isChild(resource, owner.UID) {
				add(2, sliceNode(slice))
			}
		}
	}
	return tree
}

func isChild(resource *v1.ResourceStatus, uid types.UID) bool {
	return resource.UID != "" && resource.UID == uid
}

// isOld recognises the ReplicaSets that a Deployment keeps for rollbacks alone.
func isOld(replicaSet *appsv1.ReplicaSet) bool {
	return replicaSet.Status.Replicas == 0 && replicaSet.Spec.Replicas != nil && *replicaSet.Spec.Replicas == 0
}

func applicationHealth(application *v1.Application) (level v1alpha1.Health, reason, message string) {
	if application.DeletionTimestamp != nil {
		return v1alpha1.Progressing, reasonTerminating, ""
	}
	ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
	switch {
	case ready == nil:
		return v1alpha1.Progressing, "", ""
	case ready.Status == metav1.ConditionTrue:
		return v1alpha1.Healthy, "", ""
	case meta.IsStatusConditionTrue(application.Status.Conditions, v1.ConditionStalled), len(application.Status.Problems) > 0:
		return v1alpha1.Degraded, ready.Reason, ready.Message
	default:
		return v1alpha1.Progressing, ready.Reason, ready.Message
	}
}

func childHealth(resource *v1.ResourceStatus) (level v1alpha1.Health, reason, message string) {
	switch resource.State {
	case v1.ResourceSynced:
		return v1alpha1.Healthy, "", ""
	case v1.ResourcePending:
		return v1alpha1.Progressing, string(resource.State), resource.Message
	default:
		return v1alpha1.Degraded, string(resource.State), resource.Message
	}
}

func replicaSetNode(replicaSet *appsv1.ReplicaSet) v1alpha1.TreeNode {
	node := v1alpha1.TreeNode{Group: appsv1.GroupName, Kind: "ReplicaSet", Name: replicaSet.Name, UID: replicaSet.UID, Health: v1alpha1.Healthy}
	for _, condition := range replicaSet.Status.Conditions {
		if condition.Type == appsv1.ReplicaSetReplicaFailure && condition.Status == corev1.ConditionTrue {
			node.Health, node.Reason, node.Message = v1alpha1.Degraded, condition.Reason, condition.Message
			return node
		}
	}
	desired := int32(1)
	if replicaSet.Spec.Replicas != nil {
		desired = *replicaSet.Spec.Replicas
	}
	if ready := replicaSet.Status.ReadyReplicas; ready != desired || replicaSet.Status.Replicas != desired {
		node.Health, node.Reason = v1alpha1.Progressing, reasonScaling
		node.Message = fmt.Sprintf("%d of %d pods are ready.", ready, desired)
	}
	return node
}

func podNode(p *pod, now time.Time) v1alpha1.TreeNode {
	node := v1alpha1.TreeNode{Kind: "Pod", Name: p.Name, UID: p.UID, Health: v1alpha1.Progressing}
	switch worst := health.WorstOfPod(p.Problems, now); {
	case p.State == podReady:
		node.Health = v1alpha1.Healthy
	case p.State == podTerminating:
		node.Reason = reasonTerminating
	case worst != nil:
		node.Health, node.Reason, node.Message = v1alpha1.Degraded, worst.Reason, worst.Message
	}
	return node
}

func sliceNode(slice *discoveryv1.EndpointSlice) v1alpha1.TreeNode {
	node := v1alpha1.TreeNode{Group: discoveryv1.GroupName, Kind: "EndpointSlice", Name: slice.Name, UID: slice.UID, Health: v1alpha1.Healthy}
	ready := 0
	for i := range slice.Endpoints {
		// Kubernetes' rule: a missing condition means ready.
		if condition := slice.Endpoints[i].Conditions.Ready; condition == nil || *condition {
			ready++
		}
	}
	if ready == 0 {
		node.Health, node.Reason = v1alpha1.Degraded, reasonNoReadyEndpoints
		node.Message = fmt.Sprintf("None of %d endpoints is ready; the Service has no backend here.", len(slice.Endpoints))
	}
	return node
}
