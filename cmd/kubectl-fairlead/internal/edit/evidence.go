// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree"
)

// evidence is what the live objects show about former revisions. The status names only the last healthy one. The keys are
// names of ControllerRevisions.
type evidence struct {
	// healthy and rolledBack are of rollbacks: Kubernetes copies the annotations of the Deployment to its ReplicaSet, and
	// they stay there. Fairlead goes back only to a revision that was healthy.
	healthy, rolledBack map[string]bool
	// oldest is the creation of the oldest pod that serves, of each revision that has a ReplicaSet; zero if it has no pod.
	oldest map[string]metav1.Time
}

func evidenceIn(objects tree.Objects) evidence {
	e := evidence{healthy: map[string]bool{}, rolledBack: map[string]bool{}, oldest: map[string]metav1.Time{}}
	deployment := child.Get[*appsv1.Deployment](objects.Snapshot(), child.Deployment, objects.Application.Name)
	if deployment == nil || !child.OwnedBy(deployment, objects.Application) {
		return e
	}
	revisionOf := map[types.UID]string{}
	for _, set := range objects.ReplicaSets {
		name := set.Annotations[v1.AnnotationRevision]
		if name == "" || !metav1.IsControlledBy(set, deployment) {
			continue
		}
		revisionOf[set.UID] = name
		e.oldest[name] = metav1.Time{}
		if from := set.Annotations[v1.AnnotationRolledBackFrom]; from != "" {
			e.healthy[name], e.rolledBack[from] = true, true
		}
	}
	for _, pod := range objects.Pods {
		owner := metav1.GetControllerOfNoCopy(pod)
		if owner == nil || revisionOf[owner.UID] == "" || !counts(pod) {
			continue
		}
		name, created := revisionOf[owner.UID], pod.CreationTimestamp
		if oldest := e.oldest[name]; oldest.IsZero() || created.Before(&oldest) {
			e.oldest[name] = created
		}
	}
	return e
}

// counts reports whether a rollout waits for the end of the pod.
func counts(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
}

// addTo adds what is known about the revision.
func (e evidence) addTo(r *Revision) {
	r.WasHealthy, r.WasRolledBack = e.healthy[r.Name], e.rolledBack[r.Name]
	if _, rolledOut := e.oldest[r.Name]; !rolledOut || r.Current || r.LastHealthy || r.WasHealthy {
		return
	}
	for name, oldest := range e.oldest {
		if name != r.Name && !oldest.IsZero() && oldest.Time.Before(r.Created) {
			r.NeverHealthy = true // No rollout of it has ended, because that would have replaced the pod.
		}
	}
}
