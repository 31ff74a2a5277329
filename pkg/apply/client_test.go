// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/pkg/child"
)

// exchanged is a request as it was sent.
type exchanged struct {
	Method, Path, Query, ContentType, Accept, Body string
}

// wire returns a Client of a server that answers each request with the next answer, and repeats the last one.
func wire(t *testing.T, answers ...http.HandlerFunc) (Client, *[]exchanged) {
	t.Helper()
	var requests []exchanged
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		answer := answers[min(len(requests), len(answers)-1)]
		requests = append(requests, exchanged{
			Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
			ContentType: r.Header.Get("Content-Type"), Accept: r.Header.Get("Accept"), Body: string(body),
		})
		answer(w, r)
	}))
	config := &rest.Config{Host: server.URL, QPS: -1}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		httpClient.CloseIdleConnections()
		server.Close()
	})
	client, err := NewClient(config, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	return client, &requests
}

func answered() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", UID: "uid-1", ResourceVersion: "42",
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: FieldManager, Operation: metav1.ManagedFieldsOperationUpdate}},
		},
	}
}

func answer(t *testing.T, code int, contentType string, body []byte) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		if _, err := w.Write(body); err != nil {
			t.Error(err)
		}
	}
}

func inJSON(t *testing.T, code int, object any) http.HandlerFunc {
	t.Helper()
	body, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return answer(t, code, "application/json", body)
}

func inProtobuf(t *testing.T, code int, object runtime.Object) http.HandlerFunc {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var body strings.Builder
	if err := protobuf.NewSerializer(scheme, scheme).Encode(object, &body); err != nil {
		t.Fatal(err)
	}
	return answer(t, code, "application/vnd.kubernetes.protobuf", []byte(body.String()))
}

const (
	metadataOnly = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1," +
		"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	deploymentPath = "/apis/apps/v1/namespaces/shop/deployments"
)

func TestRequests(t *testing.T) {
	deployment := ref(child.Deployment)
	patch := func(kind types.PatchType) func(Client) error {
		return func(c Client) error {
			_, err := c.Patch(t.Context(), deployment, kind, []byte(`{"a":1}`), "some-manager")
			return err
		}
	}
	for _, test := range []struct {
		name string
		call func(Client) error
		want exchanged
	}{
		{"create", func(c Client) error {
			_, err := c.Create(t.Context(), deployment, []byte(`{"a":1}`), FieldManager)
			return err
		}, exchanged{http.MethodPost, deploymentPath, "fieldManager=fairlead", "application/json", metadataOnly, `{"a":1}`}},
		{
			"apply", patch(types.ApplyPatchType),
			exchanged{http.MethodPatch, deploymentPath + "/web", "fieldManager=some-manager&force=true", "application/apply-patch+yaml", metadataOnly, `{"a":1}`},
		},
		{
			"JSON patch", patch(types.JSONPatchType),
			exchanged{http.MethodPatch, deploymentPath + "/web", "fieldManager=some-manager", "application/json-patch+json", metadataOnly, `{"a":1}`},
		},
		{
			"strategic merge patch", patch(types.StrategicMergePatchType),
			exchanged{http.MethodPatch, deploymentPath + "/web", "fieldManager=some-manager", "application/strategic-merge-patch+json", metadataOnly, `{"a":1}`},
		},
		{"get", func(c Client) error {
			_, err := c.Get(t.Context(), deployment)
			return err
		}, exchanged{http.MethodGet, deploymentPath + "/web", "", "", metadataOnly, ""}},
		{"get of the core group", func(c Client) error {
			_, err := c.Get(t.Context(), ref(child.ConfigMap))
			return err
		}, exchanged{http.MethodGet, "/api/v1/namespaces/shop/configmaps/web", "", "", metadataOnly, ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, requests := wire(t, inJSON(t, http.StatusOK, answered()))
			if err := test.call(client); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]exchanged{test.want}, *requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeleteRequest(t *testing.T) {
	client, requests := wire(t, inJSON(t, http.StatusOK, metav1.Status{Status: metav1.StatusSuccess}))
	uid, version := types.UID("uid-1"), "42"
	if err := client.Delete(t.Context(), ref(child.Deployment), metav1.Preconditions{UID: &uid, ResourceVersion: &version}); err != nil {
		t.Fatal(err)
	}
	if len(*requests) != 1 {
		t.Fatalf("%d requests", len(*requests))
	}
	got := (*requests)[0]
	if got.Method != http.MethodDelete || got.Path != deploymentPath+"/web" || got.ContentType != "application/json" {
		t.Errorf("the request was %+v", got)
	}
	var options, want map[string]any
	if err := json.Unmarshal([]byte(got.Body), &options); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"apiVersion":"v1","kind":"DeleteOptions",
		"preconditions":{"uid":"uid-1","resourceVersion":"42"},"propagationPolicy":"Background"}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, options); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
	}{
		{"JSON", inJSON(t, http.StatusOK, answered())},
		{"protobuf", inProtobuf(t, http.StatusOK, answered())},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, _ := wire(t, test.answer)
			got, err := client.Get(t.Context(), ref(child.Deployment))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(answered().ObjectMeta, got.ObjectMeta); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorAnswers(t *testing.T) {
	status := func(err *apierrors.StatusError) metav1.Status {
		s := err.Status()
		s.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		return s
	}
	resource := child.Deployment.GroupVersionResource().GroupResource()
	for _, test := range []struct {
		name string
		err  *apierrors.StatusError
		is   func(error) bool
	}{
		{"conflict", apierrors.NewConflict(resource, "web", errBroken), apierrors.IsConflict},
		{"already exists", apierrors.NewAlreadyExists(resource, "web"), apierrors.IsAlreadyExists},
		{"not found", apierrors.NewNotFound(resource, "web"), apierrors.IsNotFound},
		{"forbidden", apierrors.NewForbidden(resource, "web", errBroken), apierrors.IsForbidden},
		{"invalid", apierrors.NewInvalid(child.Deployment.GroupVersionKind().GroupKind(), "web", nil), apierrors.IsInvalid},
		{"too many requests", apierrors.NewTooManyRequests("later", 7), func(err error) bool {
			seconds, asked := apierrors.SuggestsClientDelay(err)
			return apierrors.IsTooManyRequests(err) && asked && seconds == 7
		}},
	} {
		for encoding, handler := range map[string]http.HandlerFunc{
			"JSON":     inJSON(t, int(test.err.ErrStatus.Code), status(test.err)),
			"protobuf": inProtobuf(t, int(test.err.ErrStatus.Code), new(status(test.err))),
		} {
			t.Run(test.name+" in "+encoding, func(t *testing.T) {
				client, _ := wire(t, handler)
				_, got := client.Create(t.Context(), ref(child.Deployment), []byte(`{}`), FieldManager)
				if !test.is(got) {
					t.Errorf("create: the error is %v", got)
				}
				if got := client.Delete(t.Context(), ref(child.Deployment), metav1.Preconditions{}); !test.is(got) {
					t.Errorf("delete: the error is %v", got)
				}
			})
		}
	}
}

func TestBrokenAnswers(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		is     func(error) bool
	}{
		{"no JSON", answer(t, http.StatusOK, "application/json", []byte("<html>")), func(err error) bool { return err != nil }},
		{"an error that is no status", answer(t, http.StatusBadGateway, "text/html", []byte("<html>")), apierrors.IsInternalError},
		{"the connection ends", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, func(err error) bool { return err != nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, _ := wire(t, test.answer)
			if got, err := client.Create(t.Context(), ref(child.Deployment), []byte(`{}`), FieldManager); !test.is(err) || got != nil {
				t.Errorf("got %v and the error %v", got, err)
			}
		})
	}
}

// client-go itself retries what the server asks to retry, with the body.
func TestRetryAfter(t *testing.T) {
	later := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusTooManyRequests)
	}
	client, requests := wire(t, later, inJSON(t, http.StatusCreated, answered()))
	got, err := client.Create(t.Context(), ref(child.Deployment), []byte(`{"a":1}`), FieldManager)
	if err != nil || got.UID != "uid-1" {
		t.Fatalf("got %v, %v", got, err)
	}
	if len(*requests) != 2 || (*requests)[1].Body != `{"a":1}` {
		t.Errorf("the requests were %v", *requests)
	}
}
