// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package usage_test

import (
	"bytes"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/usage"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func resources(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// TestPrint counts running pods of the Application alone, and names those without metrics.
func TestPrint(t *testing.T) {
	pod := func(name, application string, phase corev1.PodPhase) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{v1.LabelApplication: application}}}
		p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: resources("100m", "64Mi")}}}
		p.Status.Phase = phase
		return p
	}
	measure := func(name, cpu, memory string) metrics.PodMetrics {
		return metrics.PodMetrics{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Containers: []metrics.ContainerMetrics{{Usage: resources(cpu, memory)}}}
	}
	applications := []*v1.Application{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "idle"}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "web"}},
	}
	pods := []corev1.Pod{
		pod("web-1", "web", corev1.PodRunning), pod("web-2", "web", corev1.PodRunning), pod("web-3", "web", corev1.PodFailed), pod("idle-1", "idle", corev1.PodRunning),
	}
	list := usage.Of(applications, pods, []metrics.PodMetrics{measure("web-1", "150m", "48Mi"), measure("web-3", "900m", "1Gi"), measure("idle-1", "1m", "8Mi")})
	var got bytes.Buffer
	if err := usage.Print(&got, list, false); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "usage.txt", got.Bytes())
}
