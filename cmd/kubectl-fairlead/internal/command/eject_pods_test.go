// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/pkg/child"
)

// TestPodsAfterRestoration: in a rollout that is stuck, the pods from before serve on. Of a Deployment that its user had paused, no pod is
// replaced before the user resumes it.
func TestPodsAfterRestoration(t *testing.T) {
	const (
		becomes = "The Deployment becomes what it was before the adoption: "
		made    = "  The Application had made these for itself. "
	)
	for name, test := range map[string]struct {
		before, after int32
		paused        bool
		want, once    string
	}{
		"held":                      {before: 2, want: "no pod is replaced.", once: "Delete them: "},
		"all replaced":              {after: 2, want: "all pods are replaced.", once: "Once the pods are replaced, delete them: "},
		"stuck":                     {before: 3, after: 1, want: "the 3 pods from before stay, and the newer one ends.", once: "Once the newer pods are gone, delete them: "},
		"late in the rollout":       {before: 1, after: 2, want: "the pod from before stays, and the 2 newer ones end.", once: "Once the newer pods are gone, delete them: "},
		"paused before":             {after: 2, paused: true, want: "the Deployment is paused again, so no pod is replaced before you resume its rollout: kubectl -n shop rollout resume deployment/web", once: "Once the pods are replaced, delete them: "},
		"paused before, and stuck":  {before: 1, after: 1, paused: true, want: "the Deployment is paused again, so no pod is replaced before you resume its rollout: kubectl -n shop rollout resume deployment/web", once: "Once the pods are replaced, delete them: "},
		"paused before, and held":   {before: 2, paused: true, want: "no pod is replaced.", once: "Delete them: "},
		"without pods, and adopted": {want: "no pod is replaced.", once: "Delete them: "},
	} {
		saved := savedDeployment()
		saved.Spec.Paused = test.paused
		live := saved.DeepCopy()
		live.Spec.Template.Spec.Containers[0].Image = "shop:2"
		set := func(replicas int32, template corev1.PodTemplateSpec) *appsv1.ReplicaSet {
			hash := fmt.Sprint(len(template.Labels), template.Spec.Containers[0].Image[len("shop:"):])
			template = *template.DeepCopy()
			template.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
			return &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: "web-" + hash, Labels: template.Labels,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(live, appsv1.SchemeGroupVersion.WithKind(child.Deployment.Kind))},
			}, Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Template: template}}
		}
		e, _ := ejectingOf(t, []runtime.Object{live, set(test.before, saved.Spec.Template), set(test.after, live.Spec.Template)}...)
		if err := e.readDeployment(t.Context(), adopt.Saved{Deployment: saved}); err != nil {
			t.Fatal(err)
		}
		if got := e.describeRestored(); got != becomes+test.want {
			t.Errorf("%s: %q, want %q", name, got, becomes+test.want)
		}
		var out strings.Builder
		printEjected(screen.Fixed(&out, 200, false), "shop/web", "kubectl delete serviceaccount/web", nil, e.pods)
		if want := "shop/web: ejected. The objects are yours.\n" + made + test.once + "kubectl delete serviceaccount/web\n"; out.String() != want {
			t.Errorf("%s: %q, want %q", name, out.String(), want)
		}
	}
}
