// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func TestApplicationsOf(t *testing.T) {
	reference := func(change func(*metav1.OwnerReference)) []metav1.OwnerReference {
		r := metav1.OwnerReference{APIVersion: "apps.fairlead.dev/v1", Kind: "Application", Name: "web", UID: "uid-1", Controller: new(true)}
		change(&r)
		return []metav1.OwnerReference{r}
	}
	same := func(*metav1.OwnerReference) {}
	for _, test := range []struct {
		name   string
		owners []metav1.OwnerReference
		label  string
		want   []string
	}{
		{"neither owner nor label", nil, "", nil},
		{"owner and label agree", reference(same), "web", []string{"web"}},
		{"the label was removed", reference(same), "", []string{"web"}},
		{"the owner was removed", nil, "web", []string{"web"}},
		{"owner and label differ: it concerns both", reference(same), "blocked", []string{"web", "blocked"}},
		{"not the controller", reference(func(r *metav1.OwnerReference) { r.Controller = nil }), "", nil},
		{"of another kind", reference(func(r *metav1.OwnerReference) { r.Kind = "Deployment" }), "", nil},
		{"of another group", reference(func(r *metav1.OwnerReference) { r.APIVersion = "apps/v1" }), "", nil},
		{"of another group, but labelled", reference(func(r *metav1.OwnerReference) { r.APIVersion = "apps/v1" }), "web", []string{"web"}},
		{"of another UID: that is the sync's to see", reference(func(r *metav1.OwnerReference) { r.UID = "uid-2" }), "", []string{"web"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "any", OwnerReferences: test.owners}}
			if test.label != "" {
				object.Labels = map[string]string{v1.LabelApplication: test.label}
			}
			var want []cache.ObjectName
			keys := []string{}
			for _, name := range test.want {
				want = append(want, cache.ObjectName{Namespace: "shop", Name: name})
				keys = append(keys, "shop/"+name)
			}
			encoded, err := Encode(object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, ApplicationsOf(encoded)); diff != "" {
				t.Errorf("Applications (-want +got):\n%s", diff)
			}
			got, err := applicationIndex(encoded)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(keys, got); diff != "" {
				t.Errorf("keys of the index (-want +got):\n%s", diff)
			}
		})
	}
}
