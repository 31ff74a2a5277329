// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// A delete, a repair of what the garbage collector may have done, and each change of an unconfirmed Application need a
// live look at it. Creates that repair nothing need none, nor does the end of an old revision.
func TestRecheckOwner(t *testing.T) {
	revision := func(name string) child.Ref {
		return child.Ref{Kind: child.ControllerRevision, Namespace: "shop", Name: name}
	}
	for _, confirmed := range []bool{false, true} {
		snapshot := settled(t, application(t, fullSpec))
		known(snapshot)
		resources := snapshot.Application.Status.Resources
		snapshot.Application = application(t, `
replicas: 3
ports: [{name: http, containerPort: 8080}]
config: {mountPath: /etc/web, data: {a: '1'}}
`)
		snapshot.Application.Labels = map[string]string{"team": "shop"} // Every child gets it.
		snapshot.Application.Status.Resources = resources
		snapshot.Children[ref(child.ServiceAccount)].SetOwnerReferences(nil)
		delete(snapshot.Children, ref(child.Service))
		old := snapshot.Children[revision("web-1")].DeepCopyObject().(child.Object)
		old.SetName("web-0")
		snapshot.Children[revision("web-0")] = old

		var got []string
		for _, s := range computeFrom(t, plan.Input{Snapshot: snapshot, Confirmed: confirmed}) {
			if s.RecheckOwner {
				got = append(got, string(s.Action)+" "+s.Ref.Kind.Kind+" "+s.Ref.Name)
			}
		}
		want := []string{
			"Delete HorizontalPodAutoscaler web",
			"Apply ServiceAccount web", // It lost its owner.
			"Create Service web",       // It is gone.
			"Delete Ingress web",
			"Delete Ingress web-admin",
			"Delete NetworkPolicy web",
		}
		if !confirmed {
			want = []string{
				"Delete HorizontalPodAutoscaler web",
				"Apply ServiceAccount web",
				"Apply ConfigMap web-config",
				"Apply ControllerRevision web-1",
				"Apply Deployment web",
				"Create Service web",
				"Apply PodDisruptionBudget web",
				"Delete Ingress web",
				"Delete Ingress web-admin",
				"Delete NetworkPolicy web",
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("confirmed is %t: steps that need a live look (-want +got):\n%s", confirmed, diff)
		}
	}
}
