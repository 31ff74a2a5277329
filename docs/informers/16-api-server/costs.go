// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

//go:embed visits.yaml
var definition []byte

// samples is how many objects each kind is measured with.
const samples = 100

// Costs measures what the table of the chapter compares: the same object as a custom resource and as a session, and the same
// list as JSON and as protobuf.
func Costs(ctx context.Context, l *lab.Lab) (err error) {
	group := schema.GroupVersion{Group: "labs.fairlead.dev", Version: "v1"}
	visits := group.WithResource("visits")
	remove, err := l.WithCRD(ctx, definition, visits)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	resources, err := dynamic.NewForConfig(l.Config)
	if err != nil {
		return err
	}
	return withServer(ctx, l, func(c client) error {
		l.Step("%d objects: medians", samples)
		custom := client{Lab: l, ResourceInterface: resources.Resource(visits).Namespace(l.Namespace)}
		if err := custom.measure(ctx, "custom resource", group, func(name string) (runtime.Object, error) {
			visit := object(group, "Visit", name, map[string]string{"user": "ida"})
			visit.Object["minutes"] = int64(5)
			return custom.Create(ctx, visit, metav1.CreateOptions{})
		}); err != nil {
			return err
		}
		if err := c.measure(ctx, "session", groupVersion, func(name string) (runtime.Object, error) {
			return c.Create(ctx, object(groupVersion, "Session", name, map[string]string{"user": "ida"}), metav1.CreateOptions{})
		}); err != nil {
			return err
		}
		return encodings(l)
	})
}

// measure creates objects, and gets each.
func (c client) measure(ctx context.Context, what string, group schema.GroupVersion, create func(name string) (runtime.Object, error)) error {
	before, err := c.stored(ctx, group.Group)
	if err != nil {
		return err
	}
	var created, got []time.Duration
	for i := range samples {
		name, start := fmt.Sprintf("object-%d", i), time.Now()
		if _, err := create(name); err != nil {
			return err
		}
		created, start = append(created, time.Since(start)), time.Now()
		if _, err := c.Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		got = append(got, time.Since(start))
	}
	after, err := c.stored(ctx, group.Group)
	if err != nil {
		return err
	}
	c.Say("%-15s  create %s, get %s, written to etcd: %d", what, c.Took(median(created)), c.Took(median(got)), after-before)
	return nil
}

// creation is what kube-apiserver's metrics say of objects that it has created in etcd.
var creation = regexp.MustCompile(`etcd_requests_total\{group="([^"]*)",operation="create",resource="[^"]*"\} (\d+)`)

// stored is how many objects of a group kube-apiserver has created in etcd.
func (c client) stored(ctx context.Context, group string) (objects int, err error) {
	metrics, err := c.Client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, err
	}
	for _, found := range creation.FindAllStringSubmatch(string(metrics), -1) {
		if found[1] == group {
			n, err := strconv.Atoi(found[2])
			if err != nil {
				return 0, err
			}
			objects += n
		}
	}
	return objects, nil
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// encodings encodes a list of pods in the two forms that an API server of its own can serve; of custom resources there is
// only JSON.
func encodings(l *lab.Lab) error {
	l.Step("a list of 1,000 pods")
	for _, form := range []struct{ name, mediaType string }{{"JSON", runtime.ContentTypeJSON}, {"protobuf", runtime.ContentTypeProtobuf}} {
		info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), form.mediaType)
		if !ok {
			return fmt.Errorf("there is no codec for %s", form.mediaType)
		}
		codec := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
		list := pods(1000)
		var times []time.Duration
		var size counter
		for range 10 {
			size = 0
			start := time.Now()
			if err := codec.Encode(list, &size); err != nil {
				return err
			}
			times = append(times, time.Since(start))
		}
		l.Say("%-8s  %d bytes, encoded in %s", form.name, size, l.Took(median(times)))
	}
	return nil
}

func pods(count int) *corev1.PodList {
	list := &corev1.PodList{}
	for i := range count {
		list.Items = append(list.Items, corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("cart-%04d", i), Labels: map[string]string{"app": "cart"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "app", Image: "example.com/cart:1",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: apiresource.MustParse("100m")}},
			}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"},
		})
	}
	return list
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(written []byte) (int, error) {
	*c += counter(len(written))
	return len(written), nil
}
