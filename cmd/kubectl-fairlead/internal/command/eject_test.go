// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/pkg/child"
)

// TestMadeByApplication: the restored Deployment goes on to scale, and the restored Service to get requests.
func TestMadeByApplication(t *testing.T) {
	object := func(kind child.Kind, uid types.UID) left {
		o := &unstructured.Unstructured{}
		o.SetKind(kind.Kind)
		o.SetName("web")
		o.SetUID(uid)
		return left{o, kind}
	}
	objects := []left{
		object(child.ServiceAccount, "1"), object(child.Deployment, "deployment"), object(child.Service, "service"),
		object(child.HorizontalPodAutoscaler, "2"), object(child.PodDisruptionBudget, "3"), object(child.Ingress, "4"), object(child.Ingress, "4"),
	}
	before := adopt.Saved{
		Deployment: &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{UID: "deployment"}},
		Service:    &corev1.Service{ObjectMeta: metav1.ObjectMeta{UID: "service"}},
	}
	unneeded, serving := madeByApplication(objects, before)
	if diff := cmp.Diff([]string{"serviceaccount/web", "poddisruptionbudget/web"}, unneeded); diff != "" {
		t.Errorf("not needed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"horizontalpodautoscaler/web", "ingress/web"}, serving); diff != "" {
		t.Errorf("at work (-want +got):\n%s", diff)
	}
	// Without a Service from before, the Ingress leads to the one of the Application.
	before.Service = nil
	if unneeded, _ = madeByApplication(objects, before); !cmp.Equal(unneeded, []string{"serviceaccount/web", "service/web", "poddisruptionbudget/web", "ingress/web"}) {
		t.Errorf("not needed are %q", unneeded)
	}
}

// TestStayingWithoutReplicas: a later apply of the manifest does not take the number of pods from the autoscaler.
func TestStayingWithoutReplicas(t *testing.T) {
	object := func(kind child.Kind, name string, spec map[string]any) left {
		o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		o.SetKind(kind.Kind)
		o.SetName(name)
		return left{o, kind}
	}
	var out strings.Builder
	err := printStaying(&out, output{format: "json"}, []left{
		object(child.Deployment, "web", map[string]any{"replicas": int64(2), "paused": false}),
		object(child.Deployment, "other", map[string]any{"replicas": int64(3)}),
		object(child.HorizontalPodAutoscaler, "web", map[string]any{"scaleTargetRef": map[string]any{"name": "web"}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{`"replicas": 2`: false, `"paused": false`: true, `"replicas": 3`: true} {
		if strings.Contains(out.String(), text) != want {
			t.Errorf("%s is there: %t, want %t\n%s", text, !want, want, out.String())
		}
	}
}
