// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

const (
	benchApplications = 10_000
	benchPods         = 3 // of each Application
)

// filled returns the caches and the views of so many Applications.
func filled(tb testing.TB, applications int) (*caches, *history) {
	tb.Helper()
	caches, err := newCaches(kubefake.NewClientset(), fake.NewClientset())
	if err != nil {
		tb.Fatal(err)
	}
	history := newHistory(time.Now())
	for i := range applications {
		name := cache.ObjectName{Namespace: fmt.Sprintf("team-%02d", i%50), Name: fmt.Sprintf("application-%05d", i)}
		application := &v1.Application{ObjectMeta: metav1.ObjectMeta{
			Namespace: name.Namespace, Name: name.Name, UID: types.UID(name.String()), Labels: map[string]string{"team": name.Namespace}, CreationTimestamp: metav1.Now(),
		}}
		application.Status.Image = "example.com/application:1"
		application.Status.DesiredReplicas = benchPods
		application.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Available", Message: "All pods are ready."}}
		if err := caches.applications.GetTypedIndexer().Add(trimApplication(application)); err != nil {
			tb.Fatal(err)
		}
		for p := range benchPods {
			if err := caches.pods.GetTypedIndexer().Add(newPod(&corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: fmt.Sprintf("%s-%d", name.Name, p), Labels: map[string]string{v1.LabelApplication: name.Name}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
				}}}}},
				Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
			})); err != nil {
				tb.Fatal(err)
			}
		}
		pods, err := caches.podsOf(name)
		if err != nil {
			tb.Fatal(err)
		}
		history.set(name, newRuntime(application, pods, nil, time.Now()))
	}
	history.markFilled()
	return caches, history
}

// BenchmarkList lists all Applications of the cluster, or of one namespace, and encodes them as the handler does.
func BenchmarkList(b *testing.B) {
	_, history := filled(b, benchApplications)
	registry := &applications{history: history, access: permissions(allowed).access()}
	_, codecs := NewScheme()
	for _, test := range []struct{ name, namespace, mediaType string }{
		{"cluster", "", runtime.ContentTypeJSON}, {"namespace", "team-07", runtime.ContentTypeJSON}, {"cluster-protobuf", "", runtime.ContentTypeProtobuf},
	} {
		info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), test.mediaType)
		codec := codecs.EncoderForVersion(info.Serializer, v1alpha1.SchemeGroupVersion)
		b.Run(test.name, func(b *testing.B) {
			ctx := request.WithNamespace(request.WithUser(b.Context(), &user.DefaultInfo{Name: "reader"}), test.namespace)
			b.ReportAllocs()
			var written counted
			for b.Loop() {
				list, err := registry.List(ctx, &metainternalversion.ListOptions{})
				if err != nil {
					b.Fatal(err)
				}
				written = 0
				if err := codec.Encode(list, &written); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(written), "bytes")
		})
	}
}

// encoders are the forms in which the server sends a list of views.
func encoders(tb testing.TB) map[string]runtime.Codec {
	tb.Helper()
	_, codecs := NewScheme()
	forms := map[string]runtime.Codec{}
	for name, mediaType := range map[string]string{"JSON": runtime.ContentTypeJSON, "protobuf": runtime.ContentTypeProtobuf} {
		info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
		if !ok {
			tb.Fatalf("there is no codec for %s", mediaType)
		}
		forms[name] = codecs.CodecForVersions(info.Serializer, info.Serializer, v1alpha1.SchemeGroupVersion, v1alpha1.SchemeGroupVersion)
	}
	return forms
}

// someViews is a list of 1,000 views.
func someViews(tb testing.TB) *v1alpha1.ApplicationRuntimeList {
	tb.Helper()
	_, history := filled(tb, 1000)
	registry := &applications{history: history, access: permissions(allowed).access()}
	list, err := registry.List(request.WithUser(tb.Context(), &user.DefaultInfo{Name: "reader"}), &metainternalversion.ListOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return list.(*v1alpha1.ApplicationRuntimeList)
}

// BenchmarkCodecs encodes and decodes a list of 1,000 views in each form.
func BenchmarkCodecs(b *testing.B) {
	list := someViews(b)
	for name, codec := range encoders(b) {
		encoded, err := runtime.Encode(codec, list)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("encode/"+name, func(b *testing.B) {
			for b.Loop() {
				if err := codec.Encode(list, new(counted)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(encoded)), "bytes")
		})
		b.Run("decode/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := runtime.Decode(codec, encoded); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMemory reports what the caches and views of all Applications take.
func BenchmarkMemory(b *testing.B) {
	before := heap()
	caches, history := filled(b, benchApplications)
	b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
	if len(caches.pods.GetTypedIndexer().ListKeys()) != benchApplications*benchPods || len(history.names()) != benchApplications {
		b.Fatal("the caches are not filled")
	}
}

// counted is how many bytes were written to it.
type counted int

func (c *counted) Write(written []byte) (int, error) {
	*c += counted(len(written))
	return len(written), nil
}
