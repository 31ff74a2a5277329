// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestStatusOfPodsOverQuota has a namespace of its own, because a quota is about all pods in it.
func TestStatusOfPodsOverQuota(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.create("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: small}\nspec: {hard: {pods: 1}}\n")
	e.eventually("the quota is counted", func() (bool, string) {
		quota, err := e.kube.CoreV1().ResourceQuotas(e.namespace).Get(e.Context(), "small", metav1.GetOptions{})
		return err == nil && len(quota.Status.Hard) > 0, fmt.Sprint(err)
	})
	noProblems(e, e.record().follow(
		e, "web",
		step{applySpec("replicas: 2, progressDeadlineSeconds: 5"), because("QuotaExceeded", stillRolling,
			"Exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1.", "Available=False/QuotaExceeded", "Progressing="+progresses)},
		step{nil, because("QuotaExceeded", neverWorked, "has timed out progressing. 1 of 2 pods are updated, 1 available.", notServing("QuotaExceeded", isLate)...)},
		step{func(e *env, name string) {
			if err := e.kube.CoreV1().ResourceQuotas(e.namespace).Delete(e.Context(), "small", metav1.DeleteOptions{}); err != nil {
				e.Fatalf("delete the quota: %v", err)
			}
			// Kubernetes tries again after a while; another revision does so at once.
			e.editSpec(name, func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" })
		}, allReady(2)},
	))
}

// TestStatusOfPodsDenied lets the API server accept the Deployments, and refuse their pods. Both ways to do so are the
// whole namespace's.
func TestStatusOfPodsDenied(t *testing.T) {
	t.Parallel()
	e := start(t, func(s *setup) { s.SecurityProfile = "privileged" })
	body := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	if _, err := e.kube.CoreV1().Namespaces().Patch(t.Context(), e.namespace, types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	e.create("apiVersion: v1\nkind: LimitRange\nmetadata: {name: small}\nspec: {limits: [{type: Container, max: {memory: 16Mi}}]}\n")
	for _, reason := range []string{"violates PodSecurity", "maximum memory usage"} {
		e.eventually("the namespace refuses what "+reason, func() (bool, string) {
			probe := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "probe"}}}}
			if strings.HasPrefix(reason, "maximum") {
				probe.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("32Mi")}
			}
			_, err := e.kube.CoreV1().Pods(e.namespace).Create(t.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err != nil && strings.Contains(err.Error(), reason), fmt.Sprint(err)
		})
	}
	h := e.record()
	denied := func(message string) standing {
		return because("PolicyDenied", stillRolling, message, "Available=False/PolicyDenied", "Progressing="+progresses)
	}
	h.follow(e, "escalating",
		step{applySpec("securityContext: {allowPrivilegeEscalation: true}"), denied(`Violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false`)},
		step{editing(func(spec *v1.ApplicationSpec) { spec.SecurityContext = nil }), oneReady},
	)
	h.follow(e, "hungry",
		step{applySpec("resources: {limits: {memory: 32Mi}}"), denied("Maximum memory usage per Container is 16Mi, but limit is 32Mi.")},
		step{editing(func(spec *v1.ApplicationSpec) { spec.Resources = nil }), oneReady},
	)
}
