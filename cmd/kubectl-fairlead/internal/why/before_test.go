// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/plan"
)

// TestAdoptionWaitsForARollout: a rollout that is paused, or that does not advance, needs the user. Any other ends.
func TestAdoptionWaitsForARollout(t *testing.T) {
	const (
		leave  = "   → Leave the Deployment as it is: the Application adopts it once what the message names is done.\n"
		resume = "   → Let its rollout go on, which replaces pods: kubectl rollout resume deployment/web\n"
		undo   = "   → Correct the pod template of the Deployment, or return to the one before: kubectl rollout undo deployment/web\n"
		back   = "   → Or take the adoption back: kubectl fairlead adopt web --abort\n"
	)
	timedOut := []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Reason: health.ReasonTimedOut}}
	for name, test := range map[string]struct {
		spec    appsv1.DeploymentSpec
		status  appsv1.DeploymentStatus
		unsaved bool
		want    string
	}{
		"in progress":       {status: appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 1}, want: leave},
		"paused":            {spec: appsv1.DeploymentSpec{Paused: true}, status: appsv1.DeploymentStatus{Replicas: 2}, want: resume + back},
		"paused, by hand":   {spec: appsv1.DeploymentSpec{Paused: true}, status: appsv1.DeploymentStatus{Replicas: 2}, unsaved: true, want: resume},
		"stuck":             {status: appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 1, Conditions: timedOut}, want: undo + back},
		"paused, all new":   {spec: appsv1.DeploymentSpec{Paused: true}, status: appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 2}, want: leave},
		"all new, too late": {status: appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 2, Conditions: timedOut}, want: leave},
	} {
		loaded := clustertest.Load(t, "conflict")
		loaded.Saved = !test.unsaved
		loaded.Application.Spec.AdoptionPolicy, loaded.Application.Spec.Paused = v1.AdoptionConsented, new(true)
		live := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
		live.ObjectMeta = metav1.ObjectMeta{Namespace: live.Namespace, Name: live.Name, Annotations: map[string]string{v1.AnnotationAdoptableBy: string(loaded.Application.UID)}}
		live.Spec.Paused, live.Status = test.spec.Paused, test.status
		setResource(loaded, child.Deployment.Kind, v1.ResourcePending, "A"+plan.RolloutInProgress[1:]+".")
		wantParts(t, name, shown(t, loaded), map[string]bool{"Deployment web waits for its adoption.\n": true, test.want: true, leave: test.want == leave, back: !test.unsaved && test.want != leave})
	}
}
