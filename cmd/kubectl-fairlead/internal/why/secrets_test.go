// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestNamesTheMissingPullSecret without an Event of the kubelet, and says where it is named.
func TestNamesTheMissingPullSecret(t *testing.T) {
	const (
		evidence = "   - Application/web spec.imagePullSecrets: names Secret regcred, which does not exist\n"
		next     = "   → Create Secret regcred, or correct spec.imagePullSecrets: kubectl create secret docker-registry regcred " +
			"--docker-server=REGISTRY --docker-username=USER --docker-password=PASSWORD\n"
		check = "   → Check name, tag and registry of the image"
	)
	loaded := clustertest.Load(t, "image")
	named := []corev1.LocalObjectReference{{Name: "regcred"}, {Name: "there"}}
	loaded.Application.Spec.ImagePullSecrets, loaded.Pods[0].Spec.ImagePullSecrets = named, named
	if got, want := why.Secrets(loaded), []string{"regcred", "there"}; !slices.Equal(got, want) {
		t.Errorf("asks for %q, want %q", got, want)
	}
	wantParts(t, "there", first(printed(t, loaded)), map[string]bool{evidence: false, next: false, check: true})
	loaded.MissingSecrets = []string{"regcred"}
	wantParts(t, "missing", first(printed(t, loaded)), map[string]bool{evidence: true, next + check: true})

	loaded.Application.Spec.ImagePullSecrets = nil
	pods := "   - Pod/" + loaded.Pods[0].Name + " spec.imagePullSecrets: names Secret regcred, which does not exist\n"
	wantParts(t, "of the ServiceAccount", first(printed(t, loaded)), map[string]bool{pods: true, next: true})

	loaded.Application.Status.Problems[0].Reason = v1.ReasonCrashLooping
	if got := why.Secrets(loaded); len(got) > 0 {
		t.Errorf("asks for %q, although images can be pulled", got)
	}
}
