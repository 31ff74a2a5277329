// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestPortsWithoutPods: a port was renamed, and a pause keeps the pods that have its former name.
func TestPortsWithoutPods(t *testing.T) {
	const (
		renamed = "Port http of the Service leads to no pod: the pods have it under another name.\n"
		added   = "Port http of the Service leads to no pod: no container of the ready pods has that port.\n"
		resume  = "   → Let the rollout go on: kubectl fairlead resume cart\n"
		keep    = "   → Or keep the name web in spec.ports until the pods are replaced.\n"
	)
	loaded := clustertest.Load(t, "healthy")
	text, _ := printed(t, loaded)
	wantParts(t, "served", text, map[string]bool{"leads to no pod": false})

	loaded.Application.Spec.Paused = new(true)
	for _, slice := range loaded.EndpointSlices {
		slice.Ports = nil
	}
	text, _ = printed(t, loaded)
	wantParts(t, "added", text, map[string]bool{added: true, resume: true, renamed: false, "keep the name": false})
	for _, pod := range loaded.Pods {
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "web", ContainerPort: 8080}}
	}
	text, _ = printed(t, loaded)
	wantParts(t, "renamed", text, map[string]bool{renamed: true, resume: true, keep: true, added: false})
	loaded.Application.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(1))}
	text, _ = printed(t, loaded)
	wantParts(t, "pinned", text, map[string]bool{renamed: true, resume: false, "   → Keep the name web in spec.ports": true})

	childOf(t, loaded, child.Service.Kind).SetOwnerReferences([]metav1.OwnerReference{})
	text, _ = printed(t, loaded)
	wantParts(t, "another's Service", text, map[string]bool{"leads to no pod": false})
}
