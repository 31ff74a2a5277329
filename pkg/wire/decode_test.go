// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	restwatch "k8s.io/client-go/rest/watch"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/scheme"
)

// sample has what decoding may get wrong: whole numbers, times, owned fields as they are, text that looks like the envelope.
func sample() *v1.Application {
	return &v1.Application{
		TypeMeta: metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.ApplicationKind},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", UID: "0b1c", ResourceVersion: "42", Generation: 7,
			CreationTimestamp: metav1.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			Annotations:       map[string]string{"example.com/note": "{\"type\":\"ADDED\",\"object\":{}}\n<ü>"},
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:image":{}}}`),
			}},
		},
		Spec: v1.ApplicationSpec{
			Image: "registry.example.com/web:1", Replicas: new(int32(3)),
			Ports: []v1.ApplicationPort{{Name: "http", ContainerPort: 8080}},
		},
		Status: v1.ApplicationStatus{ObservedGeneration: 7, Conditions: []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionTrue}}},
	}
}

// event is as the API server writes it, which has the fields of custom resources in the order of their names.
func event(t testing.TB, kind watch.EventType, object runtime.Object) string {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("{\"type\":%q,\"object\":%s}\n", kind, encoded)
}

// received is an event of a stream, or that decoding it failed, which ends the stream.
type received struct {
	kind   watch.EventType
	object runtime.Object
	failed bool
}

// receive decodes a stream as client-go does.
func receive(t testing.TB, serializer runtime.NegotiatedSerializer, stream []byte) (all []received) {
	t.Helper()
	content, events, framer, err := runtime.NewClientNegotiator(serializer, v1.SchemeGroupVersion).StreamDecoder(runtime.ContentTypeJSON, nil)
	if err != nil {
		t.Fatal(err)
	}
	decoder := restwatch.NewDecoder(streaming.NewDecoder(framer.NewFrameReader(io.NopCloser(bytes.NewReader(stream))), events), content)
	defer decoder.Close()
	for {
		kind, object, err := decoder.Decode()
		if errors.Is(err, io.EOF) {
			return all
		}
		all = append(all, received{kind, object, err != nil})
		if err != nil {
			return all
		}
	}
}

func ordinary() runtime.NegotiatedSerializer { return scheme.Codecs.WithoutConversion() }

func TestDecode(t *testing.T) {
	web := event(t, watch.Added, sample())
	bookmark := event(t, watch.Bookmark, &v1.Application{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.ApplicationKind},
		ObjectMeta: metav1.ObjectMeta{ResourceVersion: "43", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}},
	})
	class := event(t, watch.Modified, &v1.ApplicationClass{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: "ApplicationClass"},
		ObjectMeta: metav1.ObjectMeta{Name: "standard"},
	})
	expired := event(t, watch.Error, &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410,
	})
	spaced := strings.NewReplacer(`{"type"`, `{ "type"`, `,"object"`, ` , "object"`).Replace(web)
	var turned map[string]any
	if err := json.Unmarshal([]byte(web), &turned); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(turned) // The object comes before the type.
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		stream string
		// known tells that it begins as what this package decodes.
		known bool
	}{
		"Application":        {web, true},
		"bookmark":           {bookmark, true},
		"deleted":            {event(t, watch.Deleted, sample()), true},
		"one after another":  {web + bookmark + strings.ReplaceAll(web, "shop", "bazaar") + expired, true},
		"class":              {class, false},
		"error":              {expired, false},
		"spaces":             {spaced, false},
		"another order":      {string(sorted), false},
		"unknown type":       {event(t, "CHANGED", sample()), true},
		"no type":            {`{"object":{}}`, false},
		"no object":          {`{"type":"ADDED"}`, false},
		"object of no kind":  {`{"type":"ADDED","object":{"metadata":{}}}`, false},
		"wrong kind of text": {strings.Replace(web, `"image":"`, `"image":1,"imagine":"`, 1), true},
		"further field":      {strings.TrimSuffix(web, "}\n") + `,"more":{"a":[1]}}` + "\n" + bookmark, true},
		"broken off":         {web[:len(web)/2], false},
		"empty":              {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			first, _, _ := strings.Cut(test.stream, "\n")
			if _, _, known := open([]byte(first)); known != test.known {
				t.Errorf("known is %t, want %t", known, test.known)
			}
			want := receive(t, ordinary(), []byte(test.stream))
			got := receive(t, serializers{ordinary()}, []byte(test.stream))
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(received{})); diff != "" {
				t.Errorf("client-go -, got +:\n%s", diff)
			}
		})
	}
}

// What is asked for by get, list and update is decoded into the object that is there for it.
func TestClientset(t *testing.T) {
	application, err := json.Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		switch {
		case r.URL.Query().Get("watch") != "":
			fmt.Fprint(w, event(t, watch.Added, sample()))
		case r.URL.Path == "/apis/apps.fairlead.dev/v1/namespaces/shop/applications/web":
			_, _ = w.Write(application)
		default:
			http.Error(w, r.URL.Path, http.StatusTeapot)
		}
	}))
	defer server.Close()
	client, err := NewClientset(&rest.Config{Host: server.URL}, server.Client())
	if err != nil {
		t.Fatal(err)
	}
	want := sample()
	want.TypeMeta = metav1.TypeMeta{}
	applications := client.AppsV1().Applications("shop")
	got, err := applications.Get(t.Context(), "web", metav1.GetOptions{})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("get: %v; want -, got +:\n%s", err, diff)
	}
	watched, err := applications.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Stop()
	first := <-watched.ResultChan()
	if diff := cmp.Diff(runtime.Object(want), first.Object); first.Type != watch.Added || diff != "" {
		t.Errorf("watch: %s; want -, got +:\n%s", first.Type, diff)
	}
}

func BenchmarkWatch(b *testing.B) {
	object := sample()
	for i := range 20 { // As large as one with its status and its owned fields.
		object.Status.Conditions = append(object.Status.Conditions, metav1.Condition{
			Type: fmt.Sprint("Condition", i), Status: metav1.ConditionTrue, Reason: "Synced", Message: strings.Repeat("as it should be ", 10),
		})
	}
	stream := bytes.Repeat([]byte(event(b, watch.Added, object)), 100)
	for _, by := range []struct {
		name       string
		serializer runtime.NegotiatedSerializer
	}{{"client-go", ordinary()}, {"wire", serializers{ordinary()}}} {
		b.Run(by.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(stream)))
			for b.Loop() {
				if got := len(receive(b, by.serializer, stream)); got != 100 {
					b.Fatalf("%d events", got)
				}
			}
		})
	}
}
