// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package applytest_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ apply.Client = (*applytest.Client)(nil)

func configMap(labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Labels: labels}, Data: map[string]string{"a": "1"}}
}

// The server refuses a write with the error that a real API server of v1.37 returned.
func TestAnswers(t *testing.T) {
	s := applytest.NewServer(t)
	applytest.Put(s, child.ConfigMap, configMap(nil))
	ref := child.Ref{Kind: child.ConfigMap, Namespace: "shop", Name: "web"}
	none := child.Ref{Kind: child.ConfigMap, Namespace: "shop", Name: "none"}
	otherUID, otherVersion := types.UID("11111111-2222-3333-4444-555555555555"), "1"
	patch := func(ref child.Ref, kind types.PatchType, body string) error {
		_, err := s.Client().Patch(t.Context(), ref, kind, []byte(body), "fairlead")
		return err
	}
	for name, test := range map[string]struct {
		err  error
		want metav1.StatusReason
	}{
		"apply with another UID": {patch(ref, types.ApplyPatchType,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","namespace":"shop","uid":"`+string(otherUID)+`"}}`), metav1.StatusReasonInvalid},
		"apply with a UID where nothing is": {patch(none, types.ApplyPatchType,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"none","namespace":"shop","uid":"`+string(otherUID)+`"}}`), metav1.StatusReasonConflict},
		"apply with an old version": {patch(ref, types.ApplyPatchType,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","namespace":"shop","resourceVersion":"1"},"data":{"b":"2"}}`), metav1.StatusReasonConflict},
		"patch with another UID":    {patch(ref, types.StrategicMergePatchType, `{"metadata":{"uid":"`+string(otherUID)+`"}}`), metav1.StatusReasonInvalid},
		"patch with an old version": {patch(ref, types.StrategicMergePatchType, `{"metadata":{"resourceVersion":"1"}}`), metav1.StatusReasonConflict},
		"JSON patch, old version":   {patch(ref, types.JSONPatchType, `[{"op":"replace","path":"/metadata/resourceVersion","value":"1"}]`), metav1.StatusReasonConflict},
		"patch of nothing":          {patch(none, types.StrategicMergePatchType, `{}`), metav1.StatusReasonNotFound},
		"delete another UID":        {s.Client().Delete(t.Context(), ref, metav1.Preconditions{UID: &otherUID}), metav1.StatusReasonConflict},
		"delete an old version":     {s.Client().Delete(t.Context(), ref, metav1.Preconditions{ResourceVersion: &otherVersion}), metav1.StatusReasonConflict},
		"delete nothing":            {s.Client().Delete(t.Context(), none, metav1.Preconditions{}), metav1.StatusReasonNotFound},
	} {
		if got := apierrors.ReasonForError(test.err); got != test.want {
			t.Errorf("%s: %v, want %s", name, test.err, test.want)
		}
	}
	if stored := applytest.Get[*corev1.ConfigMap](s, child.ConfigMap, "shop", "web"); len(stored.Data) != 1 {
		t.Errorf("something was written: %v", stored.Data)
	}
}

func TestWritesThatChangeNothing(t *testing.T) {
	s := applytest.NewServer(t)
	ref := child.Ref{Kind: child.ConfigMap, Namespace: "shop", Name: "web"}
	body := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","namespace":"shop"},"data":{"a":"1"}}`)
	first, err := s.Client().Patch(t.Context(), ref, types.ApplyPatchType, body, "fairlead")
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Client().Patch(t.Context(), ref, types.ApplyPatchType, body, "fairlead")
	if err != nil {
		t.Fatal(err)
	}
	if first.ResourceVersion != second.ResourceVersion || s.Changes(child.ConfigMap, "shop", "web") != 1 {
		t.Errorf("an apply that changes nothing went from version %s to %s", first.ResourceVersion, second.ResourceVersion)
	}
}

func TestStatusAndGeneration(t *testing.T) {
	s := applytest.NewServer(t)
	created := applytest.Put(s, child.Deployment, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Status: appsv1.DeploymentStatus{Replicas: 7},
	})
	if created.Status.Replicas != 0 || *created.Spec.Replicas != 1 || created.Generation != 1 {
		t.Errorf("created is generation %d with %v and %v", created.Generation, created.Spec, created.Status)
	}
	both := func(d *appsv1.Deployment) { d.Spec.Replicas, d.Status.Replicas = new(int32(2)), 2 }
	if d := applytest.EditStatus(s, child.Deployment, "shop", "web", both); *d.Spec.Replicas != 1 || d.Status.Replicas != 2 || d.Generation != 1 {
		t.Errorf("after a write of the status: generation %d with %v and %v", d.Generation, *d.Spec.Replicas, d.Status)
	}
	if d := applytest.Edit(s, child.Deployment, "shop", "web", func(d *appsv1.Deployment) {
		d.Spec.Replicas, d.Status.Replicas = new(int32(3)), 3
	}); *d.Spec.Replicas != 3 || d.Status.Replicas != 2 || d.Generation != 2 {
		t.Errorf("after a write of the spec: generation %d with %v and %v", d.Generation, *d.Spec.Replicas, d.Status)
	}
	if d := applytest.Edit(s, child.Deployment, "shop", "web", func(d *appsv1.Deployment) { d.Annotations = map[string]string{"team": "shop"} }); d.Generation != 3 {
		t.Errorf("after a write of an annotation: generation %d", d.Generation)
	}
	application := applytest.Put(s, applytest.Applications, &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})
	if application.Status.ObservedGeneration != -1 || application.Spec.ReconcilePolicy != v1.ReconcileEnforce {
		t.Errorf("the defaults of the CRD are missing: %+v", application)
	}
}

func TestFinalizersAndGarbage(t *testing.T) {
	s := applytest.NewServer(t)
	owner := applytest.Put(s, applytest.Applications, &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Finalizers: []string{"a/b"}}})
	child1 := configMap(nil)
	child1.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))}
	applytest.Put(s, child.ConfigMap, child1)
	s.Delete(applytest.Applications, "shop", "web")
	s.CollectGarbage()
	if len(s.All(applytest.Applications)) != 1 || len(s.All()) != 1 {
		t.Error("what has a finalizer is gone")
	}
	applytest.Edit(s, applytest.Applications, "shop", "web", func(a *v1.Application) { a.Finalizers = nil })
	if len(s.All(applytest.Applications)) != 0 {
		t.Error("it stays without finalizers")
	}
	s.CollectGarbage()
	if len(s.All()) != 0 {
		t.Error("its child was not collected")
	}
}

// A watch by label, as the informers use it, is held, released and expired.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := applytest.NewServer(t)
		mine := map[string]string{"mine": "yes"}
		client := s.Kube().CoreV1().ConfigMaps("shop")
		list, err := client.List(t.Context(), metav1.ListOptions{LabelSelector: "mine"})
		if err != nil {
			t.Fatal(err)
		}
		w, err := client.Watch(t.Context(), metav1.ListOptions{LabelSelector: "mine", ResourceVersion: list.ResourceVersion})
		if err != nil {
			t.Fatal(err)
		}
		var events []string
		go func() {
			for e := range w.ResultChan() {
				version := ""
				if accessor, err := meta.Accessor(e.Object); err == nil {
					version = accessor.GetResourceVersion()
				}
				events = append(events, strings.TrimSpace(string(e.Type)+" "+version))
			}
		}()
		expect := func(want ...string) {
			t.Helper()
			synctest.Wait()
			if diff := cmp.Diff(want, events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			events = nil
		}
		applytest.Put(s, child.ConfigMap, configMap(nil))
		expect()
		applytest.Edit(s, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Labels = mine })
		applytest.Edit(s, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Data = nil })
		applytest.Edit(s, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Labels = nil })
		expect("ADDED 102", "MODIFIED 103", "DELETED 104")
		s.HoldWatch(child.ConfigMap)
		applytest.Edit(s, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Labels = mine })
		s.Delete(child.ConfigMap, "shop", "web")
		expect()
		s.ReleaseWatch(child.ConfigMap)
		expect("ADDED 105", "DELETED 106")
		s.HoldWatch(child.ConfigMap)
		applytest.Put(s, child.ConfigMap, configMap(mine))
		s.ExpireWatch(child.ConfigMap)
		expect(string(watch.Error))
		if _, err := client.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "106"}); !apierrors.IsResourceExpired(err) {
			t.Errorf("a watch from a forgotten version: %v", err)
		}
	})
}
