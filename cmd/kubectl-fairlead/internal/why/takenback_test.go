// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestTakenBackInPart: the Deployment is the Application's again, and its pods need what was not taken back with it.
func TestTakenBackInPart(t *testing.T) {
	const (
		takeBack   = "   → Take back what the earlier Application left behind: see docs/guides/take-back.md\n"
		giveName   = takeBack + "   → Or give the Application another name.\n"
		deleteThem = takeBack + "   → Or delete them, or give the Application another name.\n"
		deleteIt   = takeBack + "   → Or delete the %s, or give the Application another name.\n"
	)
	left := metav1.ObjectMeta{Labels: map[string]string{v1.LabelManagedBy: v1.ManagedBy}, Annotations: map[string]string{v1.AnnotationOwnerUID: "gone"}}
	account, budget := &corev1.ServiceAccount{ObjectMeta: left}, &policyv1.PodDisruptionBudget{ObjectMeta: left}
	service, files := &corev1.Service{ObjectMeta: left}, &corev1.ConfigMap{ObjectMeta: left}
	for _, test := range []struct {
		name    string
		account string // of the pods
		objects map[child.Kind]child.Object
		want    string
	}{
		{"what the pods run as", "web", map[child.Kind]child.Object{child.ServiceAccount: account, child.PodDisruptionBudget: budget}, giveName},
		{"only what the pods run as", "web", map[child.Kind]child.Object{child.ServiceAccount: account}, giveName},
		{"another account", "", map[child.Kind]child.Object{child.ServiceAccount: account, child.PodDisruptionBudget: budget}, deleteThem},
		{"what clients use", "web", map[child.Kind]child.Object{child.Service: service}, giveName},
		{"the files", "web", map[child.Kind]child.Object{child.ConfigMap: files}, giveName},
		{"no Deployment", "", map[child.Kind]child.Object{child.ServiceAccount: account, child.ConfigMap: files, child.Deployment: nil}, deleteThem},
		{"a budget", "web", map[child.Kind]child.Object{child.PodDisruptionBudget: budget}, fmt.Sprintf(deleteIt, "PodDisruptionBudget")},
	} {
		loaded := clustertest.Load(t, "paused")
		childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment).Spec.Template.Spec.ServiceAccountName = test.account
		for kind, object := range test.objects {
			remove(loaded, kind)
			if object == nil {
				continue
			}
			addForeign(loaded, kind, object.DeepCopyObject().(child.Object), v1.ResourceConflict, "It exists.")
		}
		wantParts(t, test.name, shown(t, loaded), map[string]bool{test.want: true})
	}
}
