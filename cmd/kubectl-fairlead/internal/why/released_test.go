// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestReleasedForGood: the children of an Application that was deleted with deletionPolicy Orphan stay, whatever deletionPolicy says since.
func TestReleasedForGood(t *testing.T) {
	const (
		stay   = "Its children were released already and stay, although deletionPolicy is not Orphan any more.\n"
		remove = "   → To delete the children too: kubectl delete deployment/web\n"
	)
	for _, test := range []struct {
		name       string
		policy     v1.DeletionPolicy
		finalizers []string
		released   bool
		want       bool
	}{
		{"released, and Delete since", v1.DeletionDelete, []string{"example.com/hold"}, true, true},
		{"still Orphan", v1.DeletionOrphan, []string{"example.com/hold"}, true, false},
		{"Fairlead takes them back", v1.DeletionDelete, []string{v1.FinalizerOrphan}, true, false},
		{"always Delete", v1.DeletionDelete, []string{"example.com/hold"}, false, false},
	} {
		loaded := clustertest.Load(t, "healthy")
		application := loaded.Application
		application.DeletionTimestamp, application.Finalizers = &metav1.Time{Time: treetest.Now}, test.finalizers
		application.Spec.DeletionPolicy = test.policy
		if test.released {
			deployment := childOf(t, loaded, child.Deployment.Kind)
			deployment.SetName("web")
			deployment.SetOwnerReferences(nil)
			deployment.SetAnnotations(map[string]string{v1.AnnotationOwnerUID: string(application.UID)})
		}
		text, _ := printed(t, loaded)
		wantParts(t, test.name, text, map[string]bool{stay: test.want, remove: test.want})
	}
}
