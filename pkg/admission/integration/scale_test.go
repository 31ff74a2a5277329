// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// scale returns what kubectl scale does in the test's namespace, and the warnings that it prints.
func (f *fixture) scale() (scale func(name string, replicas int) error, heard *warnings) {
	config, heard := f.cp.Config(), &warnings{}
	config.WarningHandlerWithContext = heard
	client := f.fairlead(config).RESTClient()
	return func(name string, replicas int) error {
		return client.Patch(types.MergePatchType).Namespace(f.namespace).Resource(v1.ApplicationResource).Name(name).SubResource("scale").
			Body(fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)).Do(f.Context()).Error()
	}, heard
}

// cached waits until the webhooks and the API server have the Application in their caches as it is stored.
func (f *fixture) cached(name string) {
	f.Helper()
	stored, err := f.apps().Get(f.Context(), name, metav1.GetOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.eventually(name+" is cached as it is stored", func() (bool, error) {
		ours, found, err := f.caches.Application(cache.ObjectName{Namespace: f.namespace, Name: name})
		if err != nil || !found || ours.ResourceVersion != stored.ResourceVersion {
			return false, err
		}
		// The API server begins a patch with the object of its cache. An older one would be reviewed too, and its warnings kept.
		theirs, err := f.apps().Get(f.Context(), name, metav1.GetOptions{ResourceVersion: "0"})
		return err == nil && theirs.ResourceVersion == stored.ResourceVersion, err
	})
}

// What a user reads at kubectl scale when the number is stored, and the pods stay as they are.
func TestWarningsOfScaling(t *testing.T) {
	const (
		forbidden = `spec.replicas: Invalid value: %d: ApplicationClass "three" allows at most 3`
		overLimit = "the spec is stored, but not applied until this is fixed: " + forbidden
		held      = "spec.reconcilePolicy: it is %s, so this change has no effect until you set it to Enforce"
	)
	suspended, observed := fmt.Sprintf(held, v1.ReconcileSuspend), fmt.Sprintf(held, v1.ReconcileObserve)
	f := serve(t)
	f.class("three", v1.ApplicationClassSpec{Limits: &v1.ApplicationLimits{MaxReplicas: new(int32(3))}})
	f.create("big", inClass("three"), func(a *v1.Application) { a.Spec.Replicas = new(int32(6)) })
	f.create("web", inClass("three"))
	f.register()
	scale, heard := f.scale()
	for _, step := range []struct {
		name     string
		policy   v1.ReconcilePolicy
		replicas int
		refused  string
		want     string
	}{
		{name: "big", replicas: 5, want: fmt.Sprintf(overLimit, 5)},
		{name: "big", replicas: 5, want: ""}, // Nothing changes.
		{name: "big", replicas: 6, refused: fmt.Sprintf(forbidden, 6)},
		{name: "big", replicas: 4, policy: v1.ReconcileSuspend, want: fmt.Sprintf(overLimit, 4) + "\n" + suspended},
		{name: "big", replicas: 4, policy: v1.ReconcileEnforce, want: ""},
		{name: "big", replicas: 2, want: ""},
		{name: "big", replicas: 3, want: ""},
		{name: "big", replicas: 4, refused: fmt.Sprintf(forbidden, 4)},

		{name: "web", replicas: 0, policy: v1.ReconcileSuspend, want: suspended}, // It has no number yet.
		{name: "web", replicas: 0, want: ""},
		{name: "web", replicas: 2, want: suspended},
		{name: "web", replicas: 1, want: suspended},
		{name: "web", replicas: 0, policy: v1.ReconcileObserve, want: observed},
		{name: "web", replicas: 3, want: observed},
		{name: "web", replicas: 4, refused: fmt.Sprintf(forbidden, 4)},
		{name: "web", replicas: 1, policy: v1.ReconcileEnforce, want: ""},
	} {
		if step.policy != "" {
			patch := fmt.Appendf(nil, `{"spec":{"reconcilePolicy":%q}}`, step.policy)
			if _, err := f.apps().Patch(t.Context(), step.name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		f.cached(step.name)
		err := scale(step.name, step.replicas)
		if step.refused != "" {
			f.wantRefused(err, step.refused)
		} else if err != nil {
			t.Errorf("%s, scaled to %d: %v", step.name, step.replicas, err)
		}
		if got := heard.all(); got != step.want {
			t.Errorf("%s, scaled to %d: the warning is %q, want %q", step.name, step.replicas, got, step.want)
		}
	}
}
