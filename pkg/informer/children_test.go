// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// The kinds that are watched are those that are rendered, in the same order.
func TestKindsAreThoseOfChildren(t *testing.T) {
	client := kubefake.NewClientset()
	all, err := (&scope{kube: informers.NewSharedInformerFactory(client, 0)}).newChildren(client)
	if err != nil {
		t.Fatal(err)
	}
	got := []child.Kind{}
	for _, c := range all {
		got = append(got, c.kind)
	}
	if diff := cmp.Diff(child.Kinds(), got); diff != "" {
		t.Errorf("kinds (-rendered +watched):\n%s", diff)
	}
}

// Each kind's events have that kind, and its cache has the object. A mixed-up line in the table would fail here.
func TestEachKindIsWatchedAsItself(t *testing.T) {
	run(t, Options{}, empty, func(f *fixture) {
		for i, kind := range child.Kinds() {
			created, err := scheme.Scheme.New(kind.GroupVersionKind())
			if err != nil {
				f.Fatal(err)
			}
			object := created.(child.Object)
			object.SetNamespace("shop")
			object.SetName("web")
			object.SetLabels(childMeta("shop").Labels)
			applytest.Put(f.server, kind, object)
			f.expect("added " + kind.Kind + " shop/web " + string(uid(i+1)) + ", listed false")

			children, err := f.informers.Children(name("shop"))
			if err != nil {
				f.Fatal(err)
			}
			if len(children) != i+1 {
				f.Errorf("%d children after %d were created", len(children), i+1)
			}
			live := children[child.Ref{Kind: kind, Namespace: "shop", Name: "web"}]
			if live == nil || live.GetObjectKind().GroupVersionKind() != kind.GroupVersionKind() {
				f.Errorf("the %s in the cache is %v", kind, live)
			}
			if !f.informers.HasLive(kind.GroupVersionResource(), name("shop"), uid(i+1)) {
				f.Errorf("the cache does not show the %s", kind)
			}
		}
	})
}

func TestEventsOfAChild(t *testing.T) {
	run(t, Options{}, func(s *applytest.Server) { applytest.Put(s, child.ConfigMap, configMap("shop")) }, func(f *fixture) {
		first, second := string(uid(1)), string(uid(2))
		f.expect("added ConfigMap shop/web " + first + ", listed true")
		applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Data = map[string]string{"a": "1"} })
		f.expect("updated ConfigMap shop/web " + first + " from 101 to 102")

		// To a watch that selects by label, a child that loses it is deleted.
		labels := childMeta("shop").Labels
		applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Labels = nil })
		f.expect("deleted ConfigMap shop/web " + first)
		applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Labels = labels })
		f.expect("added ConfigMap shop/web " + first + ", listed false")

		// A watch that is not interrupted reports the deletion and the new object separately.
		f.server.Delete(child.ConfigMap, "shop", "web")
		applytest.Put(f.server, child.ConfigMap, configMap("shop"))
		f.expect("deleted ConfigMap shop/web "+first, "added ConfigMap shop/web "+second+", listed false")
	})
}

// The watch breaks. Meanwhile the child is deleted and created again, so the new list shows an update from one UID to
// another: a delete that the watch missed, and a create.
func TestMissedDeletion(t *testing.T) {
	run(t, Options{}, func(s *applytest.Server) { applytest.Put(s, child.ConfigMap, configMap("shop")) }, func(f *fixture) {
		f.expect("added ConfigMap shop/web " + string(uid(1)) + ", listed true")
		f.server.HoldWatch(child.ConfigMap)
		f.server.Delete(child.ConfigMap, "shop", "web")
		applytest.Put(f.server, child.ConfigMap, configMap("shop"))
		f.server.ExpireWatch(child.ConfigMap)
		<-time.After(time.Minute) // The reflector waits a little before it lists again.
		f.expect("deleted ConfigMap shop/web "+string(uid(1)), "added ConfigMap shop/web "+string(uid(2))+", listed false")
		if f.informers.HasLive(child.ConfigMap.GroupVersionResource(), name("shop"), uid(1)) {
			f.Error("the cache still shows the one that was deleted")
		}
	})
}

// The same, but the child is not created again. The list lacks it, and the handler gets its last known state.
func TestDeletionFoundByAList(t *testing.T) {
	run(t, Options{}, func(s *applytest.Server) { applytest.Put(s, child.ConfigMap, configMap("shop")) }, func(f *fixture) {
		f.expect("added ConfigMap shop/web " + string(uid(1)) + ", listed true")
		f.server.HoldWatch(child.ConfigMap)
		f.server.Delete(child.ConfigMap, "shop", "web")
		f.server.ExpireWatch(child.ConfigMap)
		<-time.After(time.Minute)
		f.expect("deleted ConfigMap shop/web " + string(uid(1)))
	})
}

// A tombstone without any state is of an object that no handler saw.
func TestTombstoneWithoutState(t *testing.T) {
	var handler cache.ResourceEventHandler
	configMaps := newChildCache[corev1.ConfigMap](child.ConfigMap, informers.NewSharedInformerFactory(kubefake.NewClientset(), 0).Core().V1().ConfigMaps().Informer())
	configMaps.informer = handlerSpy{TypedSharedIndexInformer: configMaps.informer, got: func(h cache.TypedResourceEventHandler[*Encoded]) {
		handler = cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) {
			h.OnDelete(cache.DeletedObject[*Encoded]{FinalStateUnknown: &cache.DeletedFinalStateUnknown{Key: "shop/web"}})
		}}
	}}
	r := &recorder{}
	if _, err := configMaps.handle(r); err != nil {
		t.Fatal(err)
	}
	handler.OnDelete(nil)
	if len(r.lines) != 0 {
		t.Errorf("it was told as %q", r.lines)
	}
}

// handlerSpy passes the registered handler to the test.
type handlerSpy struct {
	cache.TypedSharedIndexInformer[*Encoded]
	got func(cache.TypedResourceEventHandler[*Encoded])
}

func (s handlerSpy) AddTypedEventHandler(handler cache.TypedResourceEventHandler[*Encoded], _ ...cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	s.got(handler)
	return nil, nil
}
