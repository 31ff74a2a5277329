// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render/rendertest"
)

const webSpec = `
ports: [{name: http, containerPort: 8080, servicePort: 80}]
replicas: 2
`

// Each case begins with a settled Application, its children known by UID from its status.
func TestDecide(t *testing.T) {
	now := metav1.Now()
	for _, test := range []struct {
		name   string
		happen func(child.Snapshot)
		held   []child.Ref
		want   []string
	}{
		{name: "nothing happened", happen: func(child.Snapshot) {}},
		{
			name:   "a child is missing that was never there",
			happen: func(s child.Snapshot) { delete(s.Children, ref(child.Service)); s.Application.Status.Resources = nil },
			want:   []string{"Create Service shop/web: it does not exist"},
		},
		{
			name:   "a child is missing that was there",
			happen: func(s child.Snapshot) { delete(s.Children, ref(child.Service)) },
			want:   []string{"Create Service shop/web: another client deleted it; drift"},
		},
		{
			name: "a child is missing that the status lists without a UID",
			happen: func(s child.Snapshot) {
				delete(s.Children, ref(child.Service))
				for i := range s.Application.Status.Resources {
					s.Application.Status.Resources[i].UID = ""
				}
			},
			want: []string{"Create Service shop/web: it does not exist"},
		},
		{
			name:   "others keep deleting it",
			happen: func(s child.Snapshot) { delete(s.Children, ref(child.Service)) },
			held:   []child.Ref{ref(child.Service)},
			want:   []string{"Backoff Service shop/web: another client keeps reverting what Fairlead sets; drift"},
		},
		{
			name:   "the spec changed",
			happen: func(s child.Snapshot) { s.Application.Spec.Replicas = new(int32(5)) },
			want: []string{
				"Apply Deployment shop/web: the Application changed; " +
					`.metadata.annotations.apps.fairlead.dev/rendered-hash .spec.replicas`,
			},
		},
		{
			name:   "others changed a field",
			happen: func(s child.Snapshot) { live[*appsv1.Deployment](s, child.Deployment).Spec.Replicas = new(int32(9)) },
			want:   []string{"Apply Deployment shop/web: another client changed it; drift; .spec.replicas"},
		},
		{
			name: "others removed a field",
			happen: func(s child.Snapshot) {
				live[*appsv1.Deployment](s, child.Deployment).Spec.Template.Spec.AutomountServiceAccountToken = nil
			},
			want: []string{"Apply Deployment shop/web: another client changed it; drift; .spec.template.spec.automountServiceAccountToken"},
		},
		{
			name:   "others removed the hash, which is like a change of the spec",
			happen: func(s child.Snapshot) { live[*corev1.Service](s, child.Service).Annotations = nil },
			want: []string{
				"Apply Service shop/web: the Application changed; .metadata.annotations .metadata.annotations.apps.fairlead.dev/rendered-hash",
			},
		},
		{
			name:   "others keep changing a field",
			happen: func(s child.Snapshot) { live[*appsv1.Deployment](s, child.Deployment).Spec.Replicas = new(int32(9)) },
			held:   []child.Ref{ref(child.Deployment)},
			want:   []string{"Backoff Deployment shop/web: another client keeps reverting what Fairlead sets; drift; .spec.replicas"},
		},
		{
			name:   "a contended child gets what the spec says all the same",
			happen: func(s child.Snapshot) { s.Application.Spec.Replicas = new(int32(5)) },
			held:   []child.Ref{ref(child.Deployment)},
			want: []string{
				"Apply Deployment shop/web: the Application changed; " +
					`.metadata.annotations.apps.fairlead.dev/rendered-hash .spec.replicas`,
			},
		},
		{
			name: "a held child that is as it should be", held: []child.Ref{ref(child.Deployment)},
			happen: func(child.Snapshot) {},
		},
		{
			name:   "a child is being deleted",
			happen: func(s child.Snapshot) { live[*corev1.Service](s, child.Service).DeletionTimestamp = &now },
			want:   []string{"WaitDeletion Service shop/web: it is being deleted"},
		},
		{
			name: "an object of nobody has the name",
			happen: func(s child.Snapshot) {
				service := live[*corev1.Service](s, child.Service)
				service.OwnerReferences, service.UID, service.Annotations = nil, "another-uid", nil
			},
			want: []string{"NotOwned Service shop/web: Service web exists and does not belong to the Application; let the Application adopt it (spec.adoptionPolicy), which keeps its address, delete it if nothing needs it, or give the Application another name"},
		},
		{
			name: "an object of somebody has the name",
			happen: func(s child.Snapshot) {
				live[*corev1.Service](s, child.Service).OwnerReferences = []metav1.OwnerReference{
					{APIVersion: "example.com/v1", Kind: "Shop", Name: "front", UID: "shop-uid", Controller: new(true)},
				}
			},
			want: []string{"NotOwned Service shop/web: Service web exists and belongs to Shop front (UID shop-uid); give the Application another name"},
		},
		{
			name: "an object of an Application of this name that is gone",
			happen: func(s child.Snapshot) {
				live[*corev1.Service](s, child.Service).OwnerReferences[0].UID = "an-older-uid"
			},
			want: []string{"NotOwned Service shop/web: Service web belongs to an earlier Application of this name, which is gone; Kubernetes deletes it"},
		},
		{
			name: "a foreign object is refused even while it is being deleted",
			happen: func(s child.Snapshot) {
				service := live[*corev1.Service](s, child.Service)
				service.OwnerReferences, service.UID, service.DeletionTimestamp = nil, "another-uid", &now
			},
			want: []string{"NotOwned Service shop/web: Service web exists and does not belong to the Application; delete it if nothing needs it, or give the Application another name"},
		},
		{
			name:   "others removed the ownerReference of a child that is known by its UID",
			happen: func(s child.Snapshot) { live[*corev1.Service](s, child.Service).OwnerReferences = nil },
			want: []string{
				"Apply Service shop/web: another client removed its ownerReference; drift; " +
					`.metadata.ownerReferences .metadata.ownerReferences[uid="application-uid"]`,
			},
		},
		{
			name: "others made it a mere owner",
			happen: func(s child.Snapshot) {
				live[*corev1.Service](s, child.Service).OwnerReferences[0].Controller = nil
			},
			want: []string{`Apply Service shop/web: another client removed its ownerReference; drift; .metadata.ownerReferences[uid="application-uid"]`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := settled(t, application(t, webSpec))
			known(snapshot)
			test.happen(snapshot)
			wantSteps(t, compute(t, snapshot, test.held...), test.want...)
		})
	}
}

// What a step carries beside its reason.
func TestWhatAStepCarries(t *testing.T) {
	snapshot := settled(t, application(t, webSpec))
	deployment := live[*appsv1.Deployment](snapshot, child.Deployment)
	deployment.Spec.Replicas = new(int32(9))
	delete(snapshot.Children, ref(child.ServiceAccount))
	steps := compute(t, snapshot)
	if len(steps) != len(rendered(t, snapshot.Application)) {
		t.Errorf("%d steps", len(steps))
	}
	for _, s := range steps {
		if s.Desired == nil || s.Desired.Ref != s.Ref {
			t.Errorf("%s has not got what was rendered", s.Ref)
		}
		if _, isLive := snapshot.Children[s.Ref]; isLive != (s.Live != nil) {
			t.Errorf("%s has the live object %v", s.Ref, s.Live)
		}
	}
	if s := step(t, steps, ref(child.Deployment)); s.Live != child.Object(deployment) || s.Action != plan.Apply {
		t.Errorf("the Deployment's step is %s of %p, want the object of the snapshot", s.Action, s.Live)
	}
}

// A rendered child that does not fit its schema is a defect of the rendering, and is said so.
func TestRenderedChildThatDoesNotFit(t *testing.T) {
	snapshot := settled(t, application(t, webSpec))
	for _, desired := range rendered(t, snapshot.Application) {
		if desired.Kind != child.Deployment {
			continue
		}
		misfit := rendertest.Object(t, desired)
		misfit.Object["spec"].(map[string]any)["no-such-field"] = "x"
		desired.Configuration = misfit
		_, err := plan.Compute(differ, plan.Input{Snapshot: snapshot, Desired: []child.Desired{desired}})
		if want := "read rendered Deployment shop/web: "; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("the error is %v, want it to begin with %q", err, want)
		}
	}
}
