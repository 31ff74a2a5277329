// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree"
)

// LosesDeployment reports whether the Deployment is gone that the Application has by its status: the controller has not noticed. A spec that
// is refused says itself that nothing creates the Deployment again, and under Observe the status shows that there is none.
func LosesDeployment(loaded *cluster.Loaded) bool {
	app := loaded.Application
	ready := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady)
	if ready == nil || app.DeletionTimestamp != nil || app.Status.ObservedGeneration != app.Generation || app.Spec.ReconcilePolicy == v1.ReconcileSuspend ||
		loaded.Unreadable[child.Deployment.Resource] != nil || child.Get[child.Object](loaded.Snapshot(), child.Deployment, app.Name) != nil {
		return false
	}
	if ready.Status == metav1.ConditionTrue {
		return true
	}
	if showsNoDeployment(app) {
		return false
	}
	had := slices.ContainsFunc(app.Status.Resources, func(resource v1.ResourceStatus) bool {
		return resource.Kind == child.Deployment.Kind && resource.Group == child.Deployment.Group && resource.Name == app.Name &&
			(resource.State == v1.ResourceSynced || resource.State == v1.ResourceDrifted && resource.UID != "") // A missing one has no UID.
	})
	return had && ready.Reason != v1.ReasonDeploymentNotFound && !slices.Contains(v1.RefusalReasons, ready.Reason)
}

// LacksDeployment reports whether there is no Deployment, and the status shows that.
func LacksDeployment(loaded *cluster.Loaded) bool {
	f := facts{Loaded: loaded, app: loaded.Application}
	return f.observed() && showsNoDeployment(f.app) && f.lacksDeployment()
}

// withoutDeployment reports whether nothing runs what status says, whether or not it shows that.
func (f facts) withoutDeployment() bool { return f.losesDeployment || LacksDeployment(f.Loaded) }

// showsNoDeployment reports whether the status shows that there is no Deployment. Ready may have another reason for that, such as Drifted.
func showsNoDeployment(app *v1.Application) bool {
	available := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionAvailable)
	return available != nil && available.Status == metav1.ConditionFalse && available.Reason == v1.ReasonDeploymentNotFound
}

// LostDeployment says it in words, for an Application that has lost its Deployment. Pods outlive a Deployment that was deleted alone, and for
// a moment any other.
func LostDeployment(loaded *cluster.Loaded) string {
	unnoticed := " The controller has not noticed."
	if (facts{Loaded: loaded, app: loaded.Application}).statusRefusal() != nil || LacksDeployment(loaded) {
		unnoticed = "" // It has, or it may have and cannot say so.
	}
	const what = "There is no Deployment of the Application, so "
	switch serving := OrphanedPods(loaded); {
	case loaded.Unreadable["pods"] != nil:
		return what + "nothing replaces its pods." + unnoticed
	case serving == 0:
		return what + "no pods serve it." + unnoticed
	case serving == 1:
		return what + "nothing replaces its pods: 1 of before still serves." + unnoticed
	default:
		return what + fmt.Sprintf("nothing replaces its pods: %d of before still serve.", serving) + unnoticed
	}
}

// OrphanedPods is the number of pods that still serve an Application which has lost its Deployment.
func OrphanedPods(loaded *cluster.Loaded) (serving int) {
	for _, pod := range loaded.Pods {
		if pod.DeletionTimestamp == nil && tree.PodReady(pod) {
			serving++
		}
	}
	return serving
}

func lostDeployment(f facts) []Finding {
	return []Finding{{
		Reason: v1.ReasonDeploymentNotFound, What: LostDeployment(f.Loaded),
		Evidence: []Evidence{f.conditionEvidence(f.ready)},
		Next:     []string{"If this lasts longer than a few seconds, check that the controller runs and watches this namespace: kubectl fairlead doctor"},
	}}
}

// instead says which revision the controller chose after a rollback.
func (f facts) instead(revision string) string {
	if f.withoutDeployment() {
		return "Fairlead went back to " + revision
	}
	return revision + " runs instead"
}

// pausedWithout explains what a pause means for the Deployment that the controller creates again.
func (f facts) pausedWithout(paused *metav1.Condition) []Finding {
	return []Finding{{
		Reason: v1.ReasonPaused, What: "Rollouts are paused: a Deployment that Fairlead creates now starts no pods before you resume them.",
		Evidence: []Evidence{{Object: v1.ApplicationKind + "/" + f.app.Name, Field: "spec.paused", Message: "true", Time: &paused.LastTransitionTime.Time}},
		Next:     []string{"Once the controller runs, start the pods: kubectl fairlead resume " + f.app.Name},
	}}
}
