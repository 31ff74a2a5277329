// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestServiceThatNoApplicationCanAdopt: the plugin refuses to adopt the Deployment beside it, so that is no advice.
func TestServiceThatNoApplicationCanAdopt(t *testing.T) {
	selector := map[string]string{"app": "shop"}
	for name, test := range map[string]struct {
		spec     corev1.ServiceSpec
		evidence string
		never    bool
	}{
		"headless":    {corev1.ServiceSpec{Selector: selector, ClusterIP: corev1.ClusterIPNone}, "Service/web spec.clusterIP: The Service cannot be adopted: it is None; the clients of a headless Service expect the addresses of the pods\n", true},
		"an alias":    {corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "db.example.com"}, "Service/web spec.type: The Service cannot be adopted: it is ExternalName, an alias of db.example.com\n", true},
		"no selector": {corev1.ServiceSpec{}, "Service/web spec.selector: The Service cannot be adopted: there is none, so another client writes its endpoints\n", true},
		"unlike":      {corev1.ServiceSpec{Selector: selector}, "Service/web spec.", false},
	} {
		for _, policy := range []v1.AdoptionPolicy{v1.AdoptionNever, v1.AdoptionConsented} {
			loaded := clustertest.Load(t, "paused")
			loaded.Application.Spec.AdoptionPolicy = policy
			deployment := childOf(t, loaded, child.Deployment.Kind)
			deployment.SetOwnerReferences(nil)
			deployment.SetAnnotations(nil)
			setResource(loaded, child.Deployment.Kind, v1.ResourceConflict, "It exists.")
			remove(loaded, child.Service)
			addForeign(loaded, child.Service, &corev1.Service{Spec: test.spec}, v1.ResourceConflict, "It exists.")
			never := test.never
			wantParts(t, name, shown(t, loaded), map[string]bool{
				"fairlead adopt web": !never, "The Service cannot be adopted": never, test.evidence: never,
				"   → First move the clients of Service web to the same Service under another name, and delete this one, since no Application can adopt it. " +
					"Then see how to adopt the Deployment: kubectl fairlead why web\n" +
					"   → Or replace the Deployment without stopping its pods: see 'Move an existing Deployment' in docs/applications.md\n" +
					"   → Or delete the Deployment with --cascade=orphan": never,
				"   → Keep the Service until its clients use another one, since no Application can adopt it. Then delete it.\n   → Or give the Application another name.\n": never,
				"until the Application has adopted": false,
			})
		}
	}
}
