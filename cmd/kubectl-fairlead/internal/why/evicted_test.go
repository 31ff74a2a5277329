// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestEvicted advises larger requests only against pressure on the node.
func TestEvicted(t *testing.T) {
	const (
		requests = "If it happens again, raise spec.resources.requests to what the application uses: kubectl fairlead top web"
		files    = "its logs and its files outside of volumes count."
	)
	for message, want := range map[string]string{
		"The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi. Container web was using 200Mi, request is 0, has larger consumption of memory.": requests,
		`Usage of EmptyDir volume "` + v1.VolumeName("/data") + `" exceeds the limit "1Mi".`:                                                                               "Raise spec.mounts[/data].emptyDir.sizeLimit, or let the application write less to the volume.",
		`Usage of EmptyDir volume "added" exceeds the limit "1Mi".`:                                                                                                        "Raise the sizeLimit of the emptyDir of volume added, or let the application write less to the volume.",
		`Container web exceeded its local ephemeral storage limit "1Gi".`:                                                                                                  "Raise spec.resources.limits.ephemeral-storage, or let the container write less: " + files,
		`Container proxy exceeded its local ephemeral storage limit "1Gi".`:                                                                                                "Raise spec.sidecars[proxy].resources.limits.ephemeral-storage, or let the container write less: " + files,
		"Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.":                                                                                     "Raise spec.resources.limits.ephemeral-storage, or let the application write less: its logs, its files outside of volumes and its emptyDir volumes count.",
		"Preempted in order to admit critical pod":                                                                                                                         "",
		"Preempting": "",
		"Pod was terminated in response to imminent node shutdown.": "",
		"Pod was rejected as the node is shutting down.":            "",
		"NodeShutdown": "",
		"Terminated":   "",
	} {
		loaded := clustertest.Load(t, "image")
		spec := &loaded.Application.Spec
		spec.Mounts = []v1.Mount{{MountPath: "/data", EmptyDir: &corev1.EmptyDirVolumeSource{}}}
		spec.Sidecars = []corev1.Container{{Name: "proxy"}}
		loaded.Application.Status.Problems = []v1.Problem{{Reason: v1.ReasonEvicted, Pods: 1, Message: message}}
		next := why.Explain(loaded).Findings[0].Next
		about := slices.IndexFunc(next, func(step string) bool { return strings.HasPrefix(step, "Raise ") || strings.Contains(step, "raise ") })
		if want == "" && about >= 0 || want != "" && !slices.Contains(next, want) {
			t.Errorf("%s: %q, want %q", message, next, want)
		}
	}
}
