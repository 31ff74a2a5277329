// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"slices"
	"testing"
	"testing/synctest"

	definitionsfake "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayfake "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned/fake"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
)

func serviceMonitor() *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"labels": map[string]any{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: "web"}},
		"spec":     map[string]any{"endpoints": []any{map[string]any{"port": "http"}}},
	}}
	object.SetGroupVersionKind(child.ServiceMonitor.GroupVersionKind())
	object.SetNamespace("shop")
	object.SetName("web")
	object.SetUID(uid(3))
	object.SetResourceVersion("1")
	return object
}

// wantRecorded checks what the recorder shows of a kind.
func wantRecorded(t *testing.T, recorder *debug.Recorder, kind child.Kind, state string, objects int, lists uint64) {
	t.Helper()
	name := kind.GroupVersionResource().GroupResource().String()
	told := slices.DeleteFunc(recorder.Caches().Resources, func(r debug.Resource) bool { return r.Resource != name })
	if len(told) != 1 {
		t.Fatalf("%s is told %d times: %+v", kind, len(told), told)
	}
	if r := told[0]; r.State != state || r.Objects != objects || r.Lists != lists || r.Watches != lists || r.Role != roleChildren || r.Error != "" {
		t.Errorf("%s is %+v, want %s with %d objects after %d lists", kind, r, state, objects, lists)
	}
}

// eventsOf returns short texts about the events that were recorded for a kind since then.
func eventsOf(recorder *debug.Recorder, kind child.Kind, since uint64) (told []string) {
	for _, event := range recorder.Events(debug.Filter{Since: since, Resource: kind.GroupVersionResource().GroupResource().String()}).Events {
		words := string(event.Type)
		if event.Reason != "" {
			words += " " + event.Reason
		}
		if event.Key != nil {
			words += " of " + event.Key.Namespace + "/" + event.Key.Name
		}
		for _, field := range event.Fields {
			words += " " + field
		}
		told = append(told, words)
	}
	return told
}

// The recorder shows the informers of optional kinds like the others, through all lives of their APIs.
func TestOptionalKindsRecorded(t *testing.T) {
	recorder, crds := debug.New(), definitionsfake.NewClientset()
	end := recorder.Viewing()
	defer end()
	monitors := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{child.ServiceMonitor.GroupVersionResource(): "ServiceMonitorList"})
	definitions := crds.ApiextensionsV1().CustomResourceDefinitions()
	withOptional(t, recorder, func(gateway *gatewayfake.Clientset) OptionalAPIs {
		return OptionalAPIs{Gateway: gateway, Dynamic: monitors, CRDs: crds}
	}, func(f *fixture, gateway *gatewayfake.Clientset, _ *openWatches) {
		route, monitor := httpRoute(2), serviceMonitor()
		route.Spec.Hostnames = []gatewayv1.Hostname{"v1.example.com"}
		routes := gateway.GatewayV1().HTTPRoutes("shop")
		own := monitors.Resource(child.ServiceMonitor.GroupVersionResource()).Namespace("shop")
		if _, err := routes.Create(f.Context(), route, metav1.CreateOptions{}); err != nil {
			f.Fatal(err)
		}
		if _, err := own.Create(f.Context(), monitor, metav1.CreateOptions{}); err != nil {
			f.Fatal(err)
		}
		// edit gives both objects another version.
		edit := func(version string) {
			route.ResourceVersion, route.Spec.Hostnames = version, []gatewayv1.Hostname{gatewayv1.Hostname("v" + version + ".example.com")}
			if _, err := routes.Update(f.Context(), route, metav1.UpdateOptions{}); err != nil {
				f.Fatal(err)
			}
			monitor.SetResourceVersion(version)
			monitor.Object["spec"] = map[string]any{"endpoints": []any{map[string]any{"port": "v" + version}}}
			if _, err := own.Update(f.Context(), monitor, metav1.UpdateOptions{}); err != nil {
				f.Fatal(err)
			}
			synctest.Wait()
		}
		changed := map[child.Kind]string{child.HTTPRoute: ".spec.hostnames[0]", child.ServiceMonitor: ".spec.endpoints[0].port"}
		for life, version := range []string{"2", "3"} {
			for kind := range changed {
				wantRecorded(t, recorder, kind, "Waiting", 0, uint64(life))
			}
			before := recorder.Snapshot()
			for kind := range changed {
				if _, err := definitions.Create(f.Context(), definition(kind, types.UID(version)), metav1.CreateOptions{}); err != nil {
					f.Fatal(err)
				}
			}
			synctest.Wait()
			edit(version)
			for kind := range changed {
				wantRecorded(t, recorder, kind, "Watching", 1, uint64(life)+1)
			}
			// The FIFO has metrics only under a name of its own.
			if after := recorder.Snapshot(); after.Stages[1].ID != debug.StageFIFO || after.Stages[1].Total < before.Stages[1].Total+4 {
				t.Errorf("life %d: %d events went through the FIFOs, and %d before", life, after.Stages[1].Total, before.Stages[1].Total)
			}
			for kind := range changed {
				if err := definitions.Delete(f.Context(), definitionName(kind), metav1.DeleteOptions{}); err != nil {
					f.Fatal(err)
				}
			}
			synctest.Wait()
			for kind, field := range changed {
				want := []string{
					"Listed", "WatchStarted", "Handled Listed of shop/web", "WatchEvent MODIFIED of shop/web", "Handled Updated of shop/web " + field, "WatchEnded stopped",
				}
				got := eventsOf(recorder, kind, before.Sequence)
				slices.Sort(want) // The first handler may be called before the watch begins.
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("life %d of %s is told as\n%q, want\n%q", life, kind, got, want)
				}
				wantRecorded(t, recorder, kind, "Waiting", 0, uint64(life)+1)
			}
		}
	})
}
