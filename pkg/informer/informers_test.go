// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	fairleadfake "fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

func done(checkers []cache.DoneChecker) int {
	count := 0
	for _, checker := range checkers {
		select {
		case <-checker.Done():
			count++
		default:
		}
	}
	return count
}

func TestSynced(t *testing.T) {
	run(t, Options{}, func(s *applytest.Server) { applytest.Put(s, applytest.Applications, application("shop")) }, func(f *fixture) {
		if want := len(child.Kinds()) + 1; len(f.synced) != want || done(f.synced) != want {
			f.Errorf("%d of %d handlers have synced, want %d of %d", done(f.synced), len(f.synced), want, want)
		}
	})
}

// If one kind cannot be listed, the informers are not ready: a sync would take its children for missing.
func TestNotSyncedWithoutPermission(t *testing.T) {
	run(t, Options{}, func(s *applytest.Server) { refuse(s, child.Ingress, nil) }, func(f *fixture) {
		<-time.After(time.Minute)
		if want := len(child.Kinds()); done(f.synced) != want {
			f.Errorf("%d handlers have synced, want %d: all but one", done(f.synced), want)
		}
	})
}

func TestApplication(t *testing.T) {
	run(t, Options{}, func(s *applytest.Server) {
		a := application("shop")
		a.Spec.Image = "web:1"
		applytest.Put(s, applytest.Applications, a)
	}, func(f *fixture) {
		f.expect("added Application shop/web, listed true")
		found, exists, err := f.informers.Application(name("shop"))
		if err != nil || !exists || found.Spec.Image != "web:1" || found.UID != uid(1) {
			f.Errorf("found is %v, %t, %v", found, exists, err)
		}
		if found, exists, err := f.informers.Application(name("other")); found != nil || exists || err != nil {
			f.Errorf("of another namespace %v, %t, %v", found, exists, err)
		}
		applytest.Edit(f.server, applytest.Applications, "shop", "web", func(a *v1.Application) { a.Spec.Image = "web:2" })
		f.expect("updated Application shop/web from 101 to 102")
		f.server.Delete(applytest.Applications, "shop", "web")
		f.expect("deleted Application shop/web")
		if _, exists, _ := f.informers.Application(name("shop")); exists {
			f.Error("it is still there")
		}
	})
}

func TestChildren(t *testing.T) {
	run(t, Options{}, empty, func(f *fixture) {
		put := func(namespace, objectName string, change func(*corev1.ConfigMap)) {
			c := configMap(namespace)
			c.Name = objectName
			change(c)
			applytest.Put(f.server, child.ConfigMap, c)
		}
		put("shop", "by-label", func(*corev1.ConfigMap) {})
		put("shop", "by-owner", func(c *corev1.ConfigMap) {
			delete(c.Labels, v1.LabelApplication)
			c.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(application("shop"), v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))}
		})
		put("shop", "of-another", func(c *corev1.ConfigMap) { c.Labels[v1.LabelApplication] = "api" })
		put("other", "by-label", func(*corev1.ConfigMap) {})
		put("shop", "not-ours", func(c *corev1.ConfigMap) { delete(c.Labels, v1.LabelManagedBy) })
		<-time.After(time.Second)

		children, err := f.informers.Children(name("shop"))
		if err != nil {
			f.Fatal(err)
		}
		for _, want := range []string{"by-label", "by-owner"} {
			if children[child.Ref{Kind: child.ConfigMap, Namespace: "shop", Name: want}] == nil {
				f.Errorf("%s is missing", want)
			}
		}
		if len(children) != 2 {
			f.Errorf("children are %v", children)
		}
	})
}

func TestConsistencyCaches(t *testing.T) {
	run(t, Options{}, func(s *applytest.Server) {
		applytest.Put(s, applytest.Applications, application("shop"))
		applytest.Put(s, child.ConfigMap, configMap("shop"))
	}, func(f *fixture) {
		configMaps, applications := child.ConfigMap.GroupVersionResource(), applicationsGVR
		version := func(resource schema.GroupVersionResource) int {
			v, err := strconv.Atoi(f.informers.LastResourceVersion(resource, "shop"))
			if err != nil {
				f.Fatal(err)
			}
			return v
		}
		if version(configMaps) != 102 || version(applications) != 102 {
			f.Errorf("after the lists the versions are %d and %d", version(configMaps), version(applications))
		}
		f.server.HoldWatch(child.ConfigMap)
		applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Data = map[string]string{"a": "1"} })
		f.expect("added Application shop/web, listed true", "added ConfigMap shop/web "+string(uid(2))+", listed true")
		if version(configMaps) != 102 {
			f.Error("the cache has seen what the watch keeps back")
		}
		f.server.ReleaseWatch(child.ConfigMap)
		f.expect("updated ConfigMap shop/web " + string(uid(2)) + " from 102 to 103")
		if version(configMaps) != 103 {
			f.Errorf("after the event the version is %d", version(configMaps))
		}
		for _, test := range []struct {
			resource schema.GroupVersionResource
			uid      int
			want     bool
		}{{configMaps, 2, true}, {configMaps, 1, false}, {applications, 1, true}, {child.Service.GroupVersionResource(), 2, false}} {
			if got := f.informers.HasLive(test.resource, name("shop"), uid(test.uid)); got != test.want {
				f.Errorf("shows %s %d: %t, want %t", test.resource.Resource, test.uid, got, test.want)
			}
		}
		// An object that only waits for another controller's finalizer counts as deleted.
		applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Finalizers = []string{"example.com/wait"} })
		f.server.Delete(child.ConfigMap, "shop", "web")
		f.expect("updated ConfigMap shop/web "+string(uid(2))+" from 103 to 104", "updated ConfigMap shop/web "+string(uid(2))+" from 104 to 105")
		if f.informers.HasLive(configMaps, name("shop"), uid(2)) {
			f.Error("the cache shows what is being deleted")
		}
		unknown := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
		if got := f.informers.LastResourceVersion(unknown, "shop"); got != "" || f.informers.HasLive(unknown, name("shop"), uid(1)) {
			f.Errorf("it knows the version %q of what is not watched", got)
		}
	})
}

// A namespace that is not watched looks empty.
func TestNamespaces(t *testing.T) {
	run(t, Options{Namespaces: []string{"shop", "team-a"}, WithoutNamespaces: true}, func(s *applytest.Server) {
		for _, namespace := range []string{"shop", "team-a", "other"} {
			applytest.Put(s, applytest.Applications, application(namespace))
			applytest.Put(s, child.ConfigMap, configMap(namespace))
		}
	}, func(f *fixture) {
		f.expect(
			"added Application shop/web, listed true", "added ConfigMap shop/web "+string(uid(2))+", listed true",
			"added Application team-a/web, listed true", "added ConfigMap team-a/web "+string(uid(4))+", listed true",
		)
		for namespace, want := range map[string]bool{"shop": true, "team-a": true, "other": false} {
			_, exists, err := f.informers.Application(name(namespace))
			if err != nil || exists != want {
				f.Errorf("the Application of %s is there: %t, %v", namespace, exists, err)
			}
			children, err := f.informers.Children(name(namespace))
			if err != nil || len(children) > 0 != want {
				f.Errorf("the children of %s are %v, %v", namespace, children, err)
			}
			if got := f.informers.LastResourceVersion(applicationsGVR, namespace); (got != "") != want {
				f.Errorf("the cache of %s has the version %q", namespace, got)
			}
			if got := f.informers.HasLive(child.ConfigMap.GroupVersionResource(), name(namespace), uid(2)); got != (namespace == "shop") {
				f.Errorf("%s shows the ConfigMap of shop: %t", namespace, got)
			}
		}
		for _, r := range f.server.Requests(func(r applytest.Request) bool { return r.Verb == "list" || r.Verb == "watch" }) {
			// Classes are cluster-scoped.
			if r.Namespace != "shop" && r.Namespace != "team-a" && r.Kind != applytest.ApplicationClasses {
				f.Errorf("%s of %s in namespace %q; only two may be read", r.Verb, r.Kind, r.Namespace)
			}
		}
	})
}

// After the resync period, handlers get Applications again although nothing changed, but not their children.
func TestResync(t *testing.T) {
	run(t, Options{Resync: time.Hour}, func(s *applytest.Server) {
		applytest.Put(s, applytest.Applications, application("shop"))
		applytest.Put(s, child.ConfigMap, configMap("shop"))
	}, func(f *fixture) {
		f.expect("added Application shop/web, listed true", "added ConfigMap shop/web "+string(uid(2))+", listed true")
		<-time.After(time.Hour + time.Minute)
		f.expect("updated Application shop/web from 101 to 101")
	})
}

func TestBeforeTheStart(t *testing.T) {
	informers, err := New(kubefake.NewClientset(), fairleadfake.NewClientset(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if found, exists, err := informers.Application(name("shop")); found != nil || exists || err != nil {
		t.Errorf("before the start: %v, %t, %v", found, exists, err)
	}
	if got := informers.LastResourceVersion(applicationsGVR, "shop"); got != "" {
		t.Errorf("before the start the cache has the version %q", got)
	}
}
