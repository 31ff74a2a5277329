// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package difference_test

import (
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	podsecurity "k8s.io/pod-security-admission/api"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/difference"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/preview"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestKept counts pods only if both revision and template of their ReplicaSet are those of the change.
func TestKept(t *testing.T) {
	platform := preview.Platform{
		Validation: validation.Options{SecurityProfile: podsecurity.LevelRestricted},
		Facts:      render.Facts{RouteControllerNamespaces: []string{"ingress-nginx", "traefik"}, MonitoringNamespaces: []string{"monitoring"}},
	}
	deploymentOf := func(loaded *cluster.Loaded) *appsv1.Deployment {
		return child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, loaded.Application.Name)
	}
	const earlier, later = "2026-01-02T03:04:05Z", "2026-01-02T03:04:15Z"
	for name, test := range map[string]struct {
		change func(*cluster.Loaded)
		want   int32
	}{
		"the same":         {func(*cluster.Loaded) {}, 3},
		"another revision": {func(l *cluster.Loaded) { l.ReplicaSets[0].Annotations[v1.AnnotationRevision] = "cart-1234567890" }, 0},
		"another template": {func(l *cluster.Loaded) {
			l.ReplicaSets[0].Spec.Template.Spec.Containers[0].Image = "example.com/cart:0"
		}, 0},
		"restarted before, and Fairlead removes the restart since": {func(l *cluster.Loaded) {
			restarted(deploymentOf(l), apply.FieldManager, later)
			l.ReplicaSets[0].Spec.Template.Annotations[v1.AnnotationRestartedAt] = earlier
		}, 0},
		"restarted by kubectl, which stays": {func(l *cluster.Loaded) {
			restarted(deploymentOf(l), "kubectl-rollout", later)
			l.ReplicaSets[0].Spec.Template.Annotations[v1.AnnotationRestartedAt] = later
		}, 3},
		"restarted by kubectl since": {func(l *cluster.Loaded) { restarted(deploymentOf(l), "kubectl-rollout", later) }, 0},
		"not its own":                {func(l *cluster.Loaded) { l.ReplicaSets[0].OwnerReferences = nil }, 0},
		"not readable": {func(l *cluster.Loaded) {
			deploymentOf(l).Status.UpdatedReplicas = 1 // A rollout is stuck.
			l.ReplicaSets, l.Unreadable["replicasets"] = nil, errors.New("forbidden")
		}, -1},
		"not readable, and no rollout is stuck": {func(l *cluster.Loaded) { l.ReplicaSets, l.Unreadable["replicasets"] = nil, errors.New("forbidden") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			loaded := clustertest.Load(t, "healthy")
			loaded.ReplicaSets[0].Spec.Template = *deploymentOf(loaded).Spec.Template.DeepCopy() // The case leaves it out.
			if loaded.ReplicaSets[0].Spec.Template.Annotations == nil {
				loaded.ReplicaSets[0].Spec.Template.Annotations = map[string]string{}
			}
			test.change(loaded)
			after, err := preview.Render(loaded.Application, loaded.Snapshot(), platform, treetest.Now)
			if err != nil || len(after.Invalid) > 0 {
				t.Fatal(err, after.Invalid)
			}
			kept, err := difference.Kept(plan.NewDiffer(scheme.Scheme), after.Children, loaded)
			if err != nil || kept != test.want {
				t.Errorf("%d, %v, want %d", kept, err, test.want)
			}
		})
	}
}

// restarted sets the annotation of a restart, as the manager.
func restarted(deployment *appsv1.Deployment, manager, at string) {
	metav1.SetMetaDataAnnotation(&deployment.Spec.Template.ObjectMeta, v1.AnnotationRestartedAt, at)
	fields := metav1.NewFieldsV1(`{"f:spec":{"f:template":{"f:metadata":{"f:annotations":{"f:` + v1.AnnotationRestartedAt + `":{}}}}}}`)
	deployment.ManagedFields = append(deployment.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: fields})
}
