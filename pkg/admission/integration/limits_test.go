// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// class creates an ApplicationClass, and waits until the webhooks know it.
func (f *fixture) class(name string, spec v1.ApplicationClassSpec) {
	f.Helper()
	classes := f.fairlead(f.cp.Config()).ApplicationClasses()
	class := &v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	if _, err := classes.Create(f.Context(), class, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = classes.Delete(context.WithoutCancel(f.Context()), name, metav1.DeleteOptions{}) })
	f.eventually("class "+name+" is cached", func() (bool, error) {
		all, err := f.caches.Classes()
		for _, cached := range all {
			if cached.Name == name {
				return true, nil
			}
		}
		return false, err
	})
}

// A limit holds for the scale subresource as for the Application itself. An Application beyond it can still be edited.
func TestClassLimit(t *testing.T) {
	f := serve(t)
	f.class("four", v1.ApplicationClassSpec{Limits: &v1.ApplicationLimits{MaxReplicas: new(int32(4))}})
	f.create("big", inClass("four"), func(a *v1.Application) { a.Spec.Replicas = new(int32(9)) })
	f.register()
	f.create("web", inClass("four"))
	f.eventually("web is cached", func() (bool, error) {
		users, err := f.caches.OfClass("four")
		return len(users) == 2, err
	})

	scale, _ := f.scale()
	err := scale("web", 9)
	want := `admission webhook "validate.scale.applications.apps.fairlead.dev" denied the request: Application.apps.fairlead.dev "web" is invalid: ` +
		`spec.replicas: Invalid value: 9: ApplicationClass "four" allows at most 4`
	if err == nil || err.Error() != want {
		t.Errorf("scaled to 9: %v\nwant %s", err, want)
	}
	for name, replicas := range map[string]int{"web": 4, "big": 8} {
		if err := scale(name, replicas); err != nil {
			t.Errorf("%s, scaled to %d: %v", name, replicas, err)
		}
	}

	apps, heard := f.warned()
	// It begins a patch with the object of its cache. An older one would be reviewed too, and its warnings kept.
	f.eventually("the API server has cached the 8 replicas", func() (bool, error) {
		big, err := apps.Get(t.Context(), "big", metav1.GetOptions{ResourceVersion: "0"})
		return err == nil && *big.Spec.Replicas == 8, err
	})
	const image = `{"spec":{"image":"registry.example.com/web:2"}}`
	for _, test := range []struct{ patch, atOnce string }{
		{`{"spec":{"paused":true}}`, ""},
		{`{"spec":{"reconcilePolicy":"Suspend"}}`, "spec.reconcilePolicy takes effect at once. The rest of "},
		{`{"spec":{"deletionPolicy":"Orphan"}}`, "spec.deletionPolicy takes effect at once. The rest of "},
		{image, ""},
	} {
		patch := test.patch
		if _, err := apps.Patch(t.Context(), "big", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Errorf("%s: %v", patch, err)
		}
		want := test.atOnce + `the spec is stored, but not applied until this is fixed: spec.replicas: Invalid value: 8: ApplicationClass "four" allows at most 4`
		if patch == image {
			want += "\nspec.reconcilePolicy: it is Suspend, so this change of the pods has no effect until you set it to Enforce" +
				"\nspec.paused: the pods stay as they are, so this change of the pods has no effect until you set it to false"
		}
		if got := heard.all(); got != want {
			t.Errorf("%s: the warning is %q, want %q", patch, got, want)
		}
	}
	if _, err := apps.Patch(t.Context(), "big", types.MergePatchType, []byte(`{"spec":{"replicas":10}}`), metav1.PatchOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("further beyond the limit: %v", err)
	}
	if _, err := apps.Patch(t.Context(), "big", types.MergePatchType, []byte(`{"metadata":{"finalizers":null},"spec":{"deletionPolicy":"Delete"}}`), metav1.PatchOptions{}); err != nil {
		t.Error(err)
	}
}

func inClass(name string) func(*v1.Application) {
	return func(a *v1.Application) { a.Spec.ClassName = name }
}
