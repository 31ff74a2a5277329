// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

func (f *fixture) delete(kind child.Kind) plan.Step {
	return plan.Step{Action: plan.Delete, Ref: ref(kind), Live: f.cached(kind)}
}

func (f *fixture) replace(kind child.Kind) {
	f.server.Delete(kind, "shop", "web")
	applytest.Put(f.server, kind, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})
}

func TestDelete(t *testing.T) {
	for _, test := range []struct {
		name   string
		happen func(*fixture)
		is     func(error) bool
		left   bool
		waits  bool
	}{
		{"as it was planned", func(*fixture) {}, isNil, false, true},
		{"gone already", func(f *fixture) { f.server.Delete(child.ConfigMap, "shop", "web") }, isNil, false, true},
		{"changed meanwhile", func(f *fixture) {
			applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Data = map[string]string{"a": "2"} })
		}, apierrors.IsConflict, true, false},
		{"replaced meanwhile", func(f *fixture) { f.replace(child.ConfigMap) }, apierrors.IsConflict, true, false},
		{"refused", func(f *fixture) { f.on("delete", func() error { return errBroken }) },
			func(err error) bool { return errors.Is(err, errBroken) }, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.do(f.create(child.ConfigMap, owned+"data: {a: '1'}"))
			f.store.Clear(cache.MetaObjectToName(f.application))
			step := f.delete(child.ConfigMap)
			test.happen(f)
			result := f.try(step)
			if !test.is(result.Err) {
				t.Errorf("the error is %v", result.Err)
			}
			if left := len(f.server.All()) > 0; left != test.left {
				t.Errorf("something is left: %t, want %t", left, test.left)
			}
			if got := f.waits(child.ConfigMap); got != test.waits {
				t.Errorf("the next sync waits until the cache lets go of it: %t, want %t", got, test.waits)
			}
		})
	}
}

func TestRelease(t *testing.T) {
	f := newFixture(t)
	f.do(f.create(child.ConfigMap, owned+"data: {a: '1'}"))
	applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) {
		c.OwnerReferences = append(c.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: "other", UID: "other-uid"})
	})
	if err := f.writer.Release(t.Context(), f.application, ref(child.ConfigMap), f.cached(child.ConfigMap)); err != nil {
		t.Fatal(err)
	}
	stored := applytest.Get[*corev1.ConfigMap](f.server, child.ConfigMap, "shop", "web")
	if owners := stored.OwnerReferences; len(owners) != 1 || owners[0].UID != "other-uid" {
		t.Errorf("the owners are %v, want the other one", owners)
	}
	if stored.Labels["apps.fairlead.dev/application"] != "web" || stored.Data["a"] != "1" {
		t.Errorf("the labels are %v and the data %v; they should have stayed", stored.Labels, stored.Data)
	}
	if !f.waits(child.ConfigMap) {
		t.Error("the next sync does not wait for the write")
	}
}

func TestReleaseMeetsAnotherObject(t *testing.T) {
	for _, test := range []struct {
		name   string
		happen func(*fixture)
		is     func(error) bool
	}{
		{"gone already", func(f *fixture) { f.server.Delete(child.ConfigMap, "shop", "web") }, isNil},
		{"replaced meanwhile", func(f *fixture) { f.replace(child.ConfigMap) }, apierrors.IsConflict},
		{"the connection breaks", func(f *fixture) { f.on("patch", func() error { return errBroken }) },
			func(err error) bool { return errors.Is(err, errBroken) }},
		{"changed meanwhile, which does not matter", func(f *fixture) {
			applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Data = map[string]string{"a": "2"} })
		}, isNil},
		{"released already", func(f *fixture) {
			applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.OwnerReferences = nil })
		}, isNil},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.do(f.create(child.ConfigMap, owned+"data: {a: '1'}"))
			live := f.cached(child.ConfigMap)
			test.happen(f)
			if err := f.writer.Release(t.Context(), f.application, ref(child.ConfigMap), live); !test.is(err) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestReleaseOfAForeignObject(t *testing.T) {
	f := newFixture(t)
	applytest.Put(f.server, child.ConfigMap, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})
	if err := f.writer.Release(t.Context(), f.application, ref(child.ConfigMap), f.cached(child.ConfigMap)); !errors.Is(err, ErrNotOwned) {
		t.Errorf("the error is %v, want %v", err, ErrNotOwned)
	}
	if got := f.requests(); !slices.Equal(got, []string{}) {
		t.Errorf("the requests were %q, want none", got)
	}
}

func isNil(err error) bool { return err == nil }
