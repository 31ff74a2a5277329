// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	definitionsfake "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayfake "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned/fake"

	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
)

// openWatches counts the watches of HTTPRoutes that are still open.
type openWatches struct{ atomic.Int32 }

type countedWatch struct {
	watch.Interface
	open    *openWatches
	stopped atomic.Bool
}

func (w *countedWatch) Stop() {
	if w.stopped.CompareAndSwap(false, true) {
		w.open.Add(-1)
	}
	w.Interface.Stop()
}

func countWatches(client *gatewayfake.Clientset) *openWatches {
	open := &openWatches{}
	client.PrependWatchReactor("httproutes", func(action clienttesting.Action) (bool, watch.Interface, error) {
		w, err := client.Tracker().Watch(action.GetResource(), action.GetNamespace())
		if err != nil {
			return true, nil, err
		}
		open.Add(1)
		return true, &countedWatch{Interface: w, open: open}, nil
	})
	return open
}

// withOptional runs informers with an optional API in a bubble, which ends only when all its goroutines have ended. A
// nil record disables recording.
func withOptional(t *testing.T, record *debug.Recorder, optional func(*gatewayfake.Clientset) OptionalAPIs, test func(f *fixture, gateway *gatewayfake.Clientset, open *openWatches)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		gateway := gatewayfake.NewClientset()
		open := countWatches(gateway)
		f := &fixture{T: t, server: applytest.NewServer(t), recorder: &recorder{}}
		var err error
		if f.informers, err = New(f.server.Kube(), f.server.Fairlead(), Options{Debug: record, Optional: optional(gateway)}); err != nil {
			t.Fatal(err)
		}
		if f.synced, err = f.informers.Handle(f.recorder, f.recorder); err != nil {
			t.Fatal(err)
		}
		f.informers.HandleServed(func(kind child.Kind, _ []cache.ObjectName) { f.recorder.note("%s came or went", kind) })
		ctx, stop := context.WithCancel(klog.NewContext(t.Context(), ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(0)))))
		f.informers.Start(ctx)
		synctest.Wait()
		test(f, gateway, open)
		stop()
		f.informers.Shutdown()
		synctest.Wait()
		if n := open.Load(); n != 0 {
			t.Errorf("%d watches are open at the end", n)
		}
	})
}

// wantServed checks whether HTTPRoutes are served, and how many objects and watches there are.
func (f *fixture) wantServed(open *openWatches, served bool, routes int) {
	f.Helper()
	synctest.Wait()
	why, absent := f.informers.Unavailable()[child.HTTPRoute]
	if absent == served {
		f.Errorf("served is %t (%v), want %t", !absent, why, served)
	}
	want := int32(0)
	if served {
		want = 1
	}
	if got := open.Load(); got != want {
		f.Errorf("%d watches are open, want %d", got, want)
	}
	children, err := f.informers.Children(name("shop"))
	if err != nil || len(children) != routes {
		f.Errorf("%d children are seen, %v; want %d", len(children), err, routes)
	}
}

func httpRoute(number int) *gatewayv1.HTTPRoute {
	route := &gatewayv1.HTTPRoute{ObjectMeta: childMeta("shop")}
	route.UID, route.ResourceVersion = uid(number), "1"
	route.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps.fairlead.dev/v1", Kind: "Application", Name: "web", UID: uid(1), Controller: new(true)}}
	return route
}

func definition(kind child.Kind, uid types.UID) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: definitionName(kind), UID: uid},
		Spec:       apiextensionsv1.CustomResourceDefinitionSpec{Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: kind.Version, Served: true}}},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{
			{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
		}},
	}
}

// The API comes and goes several times. Each of its lives has caches of its own, and leaves none behind.
func TestOptionalAPIComesAndGoes(t *testing.T) {
	crds := definitionsfake.NewClientset()
	definitions := crds.ApiextensionsV1().CustomResourceDefinitions()
	withOptional(t, nil, func(gateway *gatewayfake.Clientset) OptionalAPIs { return OptionalAPIs{Gateway: gateway, CRDs: crds} },
		func(f *fixture, gateway *gatewayfake.Clientset, open *openWatches) {
			if n := done(f.synced); n != len(f.synced) {
				f.Errorf("%d of %d are decided without the API", n, len(f.synced))
			}
			routes := gateway.GatewayV1().HTTPRoutes("shop")
			if _, err := routes.Create(f.Context(), httpRoute(2), metav1.CreateOptions{}); err != nil {
				f.Fatal(err)
			}
			f.wantServed(open, false, 0)
			f.expect()
			for _, life := range []types.UID{"first", "second", "third"} {
				if _, err := definitions.Create(f.Context(), definition(child.HTTPRoute, life), metav1.CreateOptions{}); err != nil {
					f.Fatal(err)
				}
				f.wantServed(open, true, 1)
				f.expect("HTTPRoute came or went", "added HTTPRoute shop/web "+string(uid(2))+", listed true")
				if err := definitions.Delete(f.Context(), definitionName(child.HTTPRoute), metav1.DeleteOptions{}); err != nil {
					f.Fatal(err)
				}
				f.wantServed(open, false, 0)
				f.expect("HTTPRoute came or went")
			}
			// The test ends while the API is served: its informers must stop too.
			if _, err := definitions.Create(f.Context(), definition(child.HTTPRoute, "last"), metav1.CreateOptions{}); err != nil {
				f.Fatal(err)
			}
			f.wantServed(open, true, 1)
		})
}

// An API that is served but cannot be listed delays no other work. Once its list succeeds, it is like any other.
func TestOptionalAPIThatCannotBeListed(t *testing.T) {
	crds := definitionsfake.NewClientset(definition(child.HTTPRoute, "first"))
	var broken atomic.Bool
	broken.Store(true)
	withOptional(t, nil, func(gateway *gatewayfake.Clientset) OptionalAPIs {
		fail := func(clienttesting.Action) (bool, runtime.Object, error) {
			return broken.Load(), nil, apierrors.NewInternalError(errors.New("conversion webhook failed"))
		}
		gateway.PrependReactor("list", "httproutes", fail)
		gateway.PrependWatchReactor("httproutes", func(action clienttesting.Action) (bool, watch.Interface, error) {
			handled, _, err := fail(action)
			return handled, nil, err
		})
		return OptionalAPIs{Gateway: gateway, CRDs: crds}
	}, func(f *fixture, gateway *gatewayfake.Clientset, open *openWatches) {
		if _, err := gateway.GatewayV1().HTTPRoutes("shop").Create(f.Context(), httpRoute(2), metav1.CreateOptions{}); err != nil {
			f.Fatal(err)
		}
		f.wantServed(open, false, 0)
		if n := done(f.synced); n == len(f.synced) {
			f.Error("nobody waits for the first list")
		}
		<-time.After(listTimeout)
		f.wantServed(open, false, 0)
		if n := done(f.synced); n != len(f.synced) {
			f.Errorf("%d of %d are decided", n, len(f.synced))
		}
		if why := f.informers.Unavailable()[child.HTTPRoute]; why != notListed(child.HTTPRoute) {
			f.Errorf("it is unserved because %v", why)
		}
		f.expect("HTTPRoute came or went")
		broken.Store(false)
		<-time.After(time.Minute) // The reflector waits a little before it lists again.
		f.wantServed(open, true, 1)
		f.expect("HTTPRoute came or went", "added HTTPRoute shop/web "+string(uid(2))+", listed true")
	})
}

// discovery answers for one version of an API.
type discovery struct{ served atomic.Bool }

func (d *discovery) ServerResourcesForGroupVersionWithContext(_ context.Context, version string) (*metav1.APIResourceList, error) {
	if !d.served.Load() {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, version)
	}
	return &metav1.APIResourceList{GroupVersion: version, APIResources: []metav1.APIResource{{Name: child.HTTPRoute.Resource}}}, nil
}

// If the controller may not watch definitions, it reads discovery every ten minutes.
func TestOptionalAPIByDiscovery(t *testing.T) {
	asked := &discovery{}
	withOptional(t, nil, func(gateway *gatewayfake.Clientset) OptionalAPIs {
		return OptionalAPIs{Gateway: gateway, Discovery: asked}
	},
		func(f *fixture, _ *gatewayfake.Clientset, open *openWatches) {
			f.wantServed(open, false, 0)
			for _, served := range []bool{true, false, true} {
				asked.served.Store(served)
				f.wantServed(open, !served, 0)
				<-time.After(discoveryInterval)
				f.wantServed(open, served, 0)
				f.expect("HTTPRoute came or went")
			}
		})
}

func TestInstanceOfDefinition(t *testing.T) {
	now := metav1.Now()
	for _, test := range []struct {
		name   string
		change func(*apiextensionsv1.CustomResourceDefinition)
		want   string
	}{
		{"served", func(*apiextensionsv1.CustomResourceDefinition) {}, "a"},
		{"being deleted", func(d *apiextensionsv1.CustomResourceDefinition) { d.DeletionTimestamp = &now }, ""},
		{"not established yet", func(d *apiextensionsv1.CustomResourceDefinition) { d.Status.Conditions = nil }, ""},
		{"not served any more", func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Versions[0].Served = false }, ""},
		{"another version", func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Versions[0].Name = "v1beta1" }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := definition(child.HTTPRoute, "a")
			test.change(d)
			trimmed, err := trimDefinition(d)
			if err != nil {
				t.Fatal(err)
			}
			if got := instanceOf(trimmed.(*apiextensionsv1.CustomResourceDefinition), "v1"); got != test.want {
				t.Errorf("the instance is %q, want %q", got, test.want)
			}
		})
	}
}

// TestNotServed: what a user reads in a condition says what to do.
func TestNotServed(t *testing.T) {
	for kind, want := range map[child.Kind]string{
		child.HTTPRoute:      "the cluster does not serve HTTPRoute of gateway.networking.k8s.io/v1: install the Gateway API, or set type: Ingress in the route, without what only an HTTPRoute has, such as parentRefs",
		child.ServiceMonitor: "the cluster does not serve ServiceMonitor of monitoring.coreos.com/v1: install the Prometheus Operator, or remove spec.monitoring",
	} {
		if got := notServed(kind).Message; got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	if len(child.OptionalKinds()) != 2 {
		t.Errorf("the advice of %v is missing", child.OptionalKinds())
	}
}
