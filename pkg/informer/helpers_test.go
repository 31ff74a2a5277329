// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// recorder records the events of all kinds, one per line.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *recorder) OnAdd(a *v1.Application, initialList bool) {
	r.note("added Application %s/%s, listed %t", a.Namespace, a.Name, initialList)
}

func (r *recorder) OnUpdate(before, after *v1.Application) {
	r.note("updated Application %s/%s from %s to %s", after.Namespace, after.Name, before.ResourceVersion, after.ResourceVersion)
}

func (r *recorder) OnDelete(a cache.DeletedObject[*v1.Application]) {
	r.note("deleted Application %s", a.GetObjectName())
}

func (r *recorder) ChildAdded(kind child.Kind, o *Encoded, initialList bool) {
	r.note("added %s %s/%s %s, listed %t", kind, o.GetNamespace(), o.GetName(), o.GetUID(), initialList)
}

func (r *recorder) ChildUpdated(kind child.Kind, before, after *Encoded) {
	r.note("updated %s %s/%s %s from %s to %s", kind, after.GetNamespace(), after.GetName(), after.GetUID(), before.GetResourceVersion(), after.GetResourceVersion())
}

func (r *recorder) ChildDeleted(kind child.Kind, o *Encoded) {
	r.note("deleted %s %s/%s %s", kind, o.GetNamespace(), o.GetName(), o.GetUID())
}

// fixture has running informers and their API server, in a bubble of synctest.
type fixture struct {
	*testing.T
	server    *applytest.Server
	informers *Informers
	recorder  *recorder
	synced    []cache.DoneChecker
}

// run starts informers of a server with some initial objects, and stops them after the test.
func run(t *testing.T, options Options, begin func(*applytest.Server), test func(*fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{T: t, server: applytest.NewServer(t), recorder: &recorder{}}
		begin(f.server)
		var err error
		if f.informers, err = New(f.server.Kube(), f.server.Fairlead(), options); err != nil {
			t.Fatal(err)
		}
		if f.synced, err = f.informers.Handle(f.recorder, f.recorder); err != nil {
			t.Fatal(err)
		}
		if _, err = f.informers.HandlePods(f.recorder); err != nil {
			t.Fatal(err)
		}
		// The log has only what is unusual, and only if the test fails.
		logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(0)))
		ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logger))
		f.informers.Start(ctx)
		synctest.Wait()
		test(f)
		stop()
		f.informers.Shutdown()
	})
}

// expect compares the events since the last call. Each kind has its own watch, so the order between kinds is
// undefined.
func (f *fixture) expect(want ...string) {
	f.Helper()
	synctest.Wait()
	f.recorder.mu.Lock()
	defer f.recorder.mu.Unlock()
	got := f.recorder.lines
	f.recorder.lines = nil
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("events (-want +got):\n%s", diff)
	}
}

func empty(*applytest.Server) {}

func application(namespace string) *v1.Application {
	return &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
}

// childMeta returns the metadata of a child of the Application web, with the label by which the informers select it.
func childMeta(namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: "web",
		Labels: map[string]string{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: "web"},
	}
}

func configMap(namespace string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: childMeta(namespace)}
}

func name(namespace string) cache.ObjectName {
	return cache.ObjectName{Namespace: namespace, Name: "web"}
}

func uid(number int) types.UID {
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", number))
}
