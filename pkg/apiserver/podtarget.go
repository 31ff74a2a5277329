// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"cmp"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/child"
)

// healthyPod returns a pod to connect with: a ready one of the newest revision that has any; nil if none is ready. The chain of
// UIDs proves that it is the Application's. A label alone does not: any user who may create pods can set it.
func healthyPod(f family) *pod {
	owned := f.ownReplicaSets()
	slices.SortStableFunc(owned, func(a, b *appsv1.ReplicaSet) int {
		return cmp.Compare(revisionOf(b), revisionOf(a))
	})
	for _, replicaSet := range owned {
		for _, p := range f.pods {
			if p.State == podReady && p.ReplicaSet == replicaSet.UID {
				return p
			}
		}
	}
	return nil
}

// revisionOf is the number that the Deployment controller has given; 0 if it has not yet.
func revisionOf(replicaSet *appsv1.ReplicaSet) int {
	number, err := strconv.Atoi(replicaSet.Annotations[child.RevisionAnnotation])
	if err != nil {
		return 0
	}
	return number
}

// ownReplicaSets are those of the Deployment that the Application's status lists.
func (f family) ownReplicaSets() []*appsv1.ReplicaSet {
	var owned []*appsv1.ReplicaSet
	for i := range f.application.Status.Resources {
		resource := &f.application.Status.Resources[i]
		if resource.Group != child.Deployment.Group || resource.Kind != child.Deployment.Kind {
			continue
		}
		for _, replicaSet := range f.replicaSets {
			if owner := metav1.GetControllerOfNoCopy(replicaSet); owner != nil && isChild(resource, owner.UID) {
				owned = append(owned, replicaSet)
			}
		}
	}
	return owned
}

// containerOf returns the container that a user means: the named one, or the Application's own.
func containerOf(asked, application string, p *pod) string {
	if asked == "" && slices.Contains(p.Containers, application) {
		return application
	}
	return asked
}
