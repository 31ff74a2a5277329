// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	gateway "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"
	gatewayscheme "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned/scheme"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/scheme"
)

const (
	good = `{"apiVersion":"apps.fairlead.dev/v1","kind":"Application","metadata":{"name":"good","resourceVersion":"7"},"spec":{"image":"web:1"}}`
	bad  = `{"apiVersion":"apps.fairlead.dev/v1","kind":"Application","metadata":{"name":"bad","uid":"0b1c","resourceVersion":"8","generation":3,
		"finalizers":["apps.fairlead.dev/orphan"],"labels":{"a":"b"}},
		"spec":{"image":"web:2","deletionPolicy":"Orphan","resources":{"limits":{"cpu":"1e1.5","memory":"1Gi"}},
			"readinessProbe":{"periodSeconds":5,"tcpSocket":{"port":3000000000}}},
		"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"True","reason":"Ready","message":"","lastTransitionTime":"2026-01-02T03:04:05Z"}]}}`
)

// serve answers every get, list and watch of Applications with these objects.
func serve(t *testing.T, objects ...string) versioned.Interface {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Query().Get("watch") != "":
			for _, object := range objects {
				fmt.Fprintf(w, `{"type":"ADDED","object":%s}`+"\n", object)
			}
		case strings.HasSuffix(r.URL.Path, "s"):
			fmt.Fprintf(w, `{"apiVersion":"apps.fairlead.dev/v1","kind":"ApplicationList","metadata":{"resourceVersion":"9"},"items":[%s]}`, strings.Join(objects, ","))
		default:
			fmt.Fprint(w, objects[0])
		}
	}))
	t.Cleanup(server.Close)
	client, err := NewRESTClient(&rest.Config{Host: server.URL}, server.Client(), v1.SchemeGroupVersion, scheme.Scheme, scheme.Codecs)
	if err != nil {
		t.Fatal(err)
	}
	return versioned.New(client)
}

func names(applications ...v1.Application) (all []string) {
	for _, application := range applications {
		all = append(all, application.Name)
	}
	return all
}

var wantErrors = []v1.DecodeError{
	{Field: "spec.readinessProbe.tcpSocket.port", Value: "3000000000", Detail: "must be a number of type int32"},
	{Field: "spec.resources.limits.cpu", Value: "1e1.5", Detail: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
}

// checkBad expects everything of the bad object except the two fields.
func checkBad(t *testing.T, got *v1.Application) {
	t.Helper()
	if diff := cmp.Diff(wantErrors, got.DecodeErrors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if got.UID != "0b1c" || got.Generation != 3 || len(got.Finalizers) != 1 || got.Labels["a"] != "b" || got.ResourceVersion != "8" {
		t.Errorf("metadata is %+v", got.ObjectMeta)
	}
	if got.Spec.DeletionPolicy != v1.DeletionOrphan || got.Spec.ReadinessProbe.PeriodSeconds == nil || got.Spec.Resources.Limits.Memory().String() != "1Gi" {
		t.Errorf("spec is %+v", got.Spec)
	}
	if got.Status.ObservedGeneration != 2 || len(got.Status.Conditions) != 1 {
		t.Errorf("status is %+v", got.Status)
	}
}

func TestListGoesOn(t *testing.T) {
	list, err := serve(t, good, bad, good).AppsV1().Applications("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"good", "bad", "good"}, names(list.Items...)); diff != "" || list.ResourceVersion != "9" {
		t.Fatalf("resourceVersion %q (-want +got):\n%s", list.ResourceVersion, diff)
	}
	checkBad(t, &list.Items[1])
	if errs := list.Items[2].DecodeErrors; len(errs) > 0 {
		t.Errorf("the other one has the errors %v", errs)
	}
}

func TestWatchGoesOn(t *testing.T) {
	watched, err := serve(t, good, bad, good).AppsV1().Applications("shop").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Stop()
	var all []*v1.Application
	for event := range watched.ResultChan() {
		application, ok := event.Object.(*v1.Application)
		if event.Type != watch.Added || !ok {
			t.Fatalf("event %s with %v", event.Type, event.Object)
		}
		all = append(all, application)
	}
	if len(all) != 3 || all[0].Name != "good" || all[2].Name != "good" {
		t.Fatalf("%d events: %v", len(all), all)
	}
	checkBad(t, all[1])
}

func TestGet(t *testing.T) {
	got, err := serve(t, bad).AppsV1().Applications("shop").Get(t.Context(), "bad", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	checkBad(t, got)
}

// TestUserCannotForgeErrors stores the Go name of the field in every spelling, and writes back what it read.
func TestUserCannotForgeErrors(t *testing.T) {
	forged := strings.Replace(good, `"spec"`, `"DecodeErrors":[{"Field":"spec"}],"decodeErrors":[{"Field":"spec"}],"-":[{"Field":"spec"}],"spec"`, 1)
	got, err := serve(t, forged).AppsV1().Applications("shop").Get(t.Context(), "good", metav1.GetOptions{})
	if err != nil || len(got.DecodeErrors) > 0 {
		t.Errorf("%v, errors %v", err, got.DecodeErrors)
	}
	if written := string(encode(v1.Application{DecodeErrors: wantErrors})); strings.Contains(written, "limits") {
		t.Errorf("written as %s", written)
	}
}

// TestHTTPRoute has a type without a field for the errors.
func TestHTTPRoute(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRouteList","metadata":{},"items":[
			{"metadata":{"name":"a"},"spec":{"hostnames":["a.example.com"],"parentRefs":[{"name":"g","port":"x"}]}},{"metadata":{"name":"b"}}]}`)
	}))
	defer server.Close()
	client, err := NewRESTClient(&rest.Config{Host: server.URL}, server.Client(), gatewayv1.SchemeGroupVersion, gatewayscheme.Scheme, gatewayscheme.Codecs)
	if err != nil {
		t.Fatal(err)
	}
	list, err := gateway.New(client).GatewayV1().HTTPRoutes("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 2 || list.Items[0].Spec.ParentRefs[0].Name != "g" || list.Items[1].Name != "b" {
		t.Errorf("%v: %+v", err, list)
	}
}
