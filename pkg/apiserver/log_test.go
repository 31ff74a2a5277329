// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/child"
)

func podWith(name string, containers ...string) *pod {
	return &pod{Pod: &child.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}, Containers: containers}
}

// at is a line of a kubelet, so many seconds after noon.
func at(seconds int, text string) string {
	return noon.Add(time.Duration(seconds)*time.Second).Format(time.RFC3339Nano) + " " + text + "\n"
}

// fixedLogs serves the log of each "pod/container".
func fixedLogs(logs map[string]string) openLog {
	return func(_ context.Context, _, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
		log, found := logs[pod+"/"+options.Container]
		if !found {
			return nil, apierrors.NewBadRequest("container is waiting to start")
		}
		return io.NopCloser(strings.NewReader(log)), nil
	}
}

func TestMerge(t *testing.T) {
	long := strings.Repeat("x", 2*maxLine)
	open := fixedLogs(map[string]string{
		"a/app":   at(1, "first") + at(4, "fourth"),
		"a/proxy": at(3, "third") + at(5, long) + at(6, "after"),
		"b/app":   at(2, "second") + "no time\n",
	})
	containers := containersOf([]*pod{podWith("a", "app", "proxy"), podWith("b", "app"), podWith("c", "app")}, &v1alpha1.ApplicationLogOptions{})
	var out bytes.Buffer
	if err := merge(t.Context(), open, "shop", containers, &v1alpha1.ApplicationLogOptions{}, &out); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	want := []string{
		"[c/app] fairlead: no log: container is waiting to start",
		"[a/app] first", "[b/app] second", "[b/app] no time", "[a/proxy] third", "[a/app] fourth",
		"[a/proxy] " + long[:maxLine-len(at(5, ""))+1], "[a/proxy] after",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	out.Reset()
	only := containersOf([]*pod{podWith("a", "app", "proxy")}, &v1alpha1.ApplicationLogOptions{Container: "app"})
	if err := merge(t.Context(), open, "shop", only, &v1alpha1.ApplicationLogOptions{Timestamps: true}, &out); err != nil {
		t.Fatal(err)
	}
	if want := "[a/app] " + at(1, "first") + "[a/app] " + at(4, "fourth"); out.String() != want {
		t.Errorf("with timestamps %q, want %q", out.String(), want)
	}
}

// TestFollow: pods that start later are followed too, and a container that starts again is read from where its log ended.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var sinces []string
		present := []*pod{podWith("a", "app")}
		pods := func() []*pod {
			mu.Lock()
			defer mu.Unlock()
			return present
		}
		become := func(names ...string) {
			mu.Lock()
			defer mu.Unlock()
			present = nil
			for _, name := range names {
				present = append(present, podWith(name, "app"))
			}
		}
		open := func(_ context.Context, _, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
			since := "the beginning"
			if options.SinceTime != nil {
				since = options.SinceTime.Sub(noon).String()
			}
			mu.Lock()
			defer mu.Unlock()
			sinces = append(sinces, pod+" from "+since)
			if options.SinceTime != nil {
				return io.NopCloser(strings.NewReader("")), nil
			}
			return io.NopCloser(strings.NewReader(at(1, "hello"))), nil
		}
		queue := newLineQueue(ctx, 1<<10, time.Hour)
		options := &v1alpha1.ApplicationLogOptions{Follow: true}
		f := &follower{
			open: open, namespace: "shop", options: options, present: func() []container { return containersOf(pods(), options) },
			limit: 10, readers: make(readers, 10), queue: queue,
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.run(ctx)
		}()
		synctest.Wait()
		become("b")
		<-time.After(followPeriod + time.Millisecond)
		synctest.Wait()
		become("a", "b")
		<-time.After(followPeriod)
		synctest.Wait()
		cancel()
		<-done
		var out bytes.Buffer
		if _, err := io.Copy(&out, queue); err != nil {
			t.Fatal(err)
		}
		// The first pod is gone for a while, so it is read as a new one.
		if want := "[a/app] hello\n[b/app] hello\n[a/app] hello\n"; out.String() != want {
			t.Errorf("followed %q, want %q", out.String(), want)
		}
		want := map[string]int{"a from the beginning": 2, "b from the beginning": 1, "b from 1.000000001s": 1}
		got := map[string]int{}
		for _, since := range sinces {
			got[since]++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("opened (-want +got):\n%s", diff)
		}
	})
}

// TestSlowReader: the queue keeps what its limit allows, and tells the client how much it dropped.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := newLineQueue(t.Context(), 100, time.Minute)
		for i := range 1000 {
			queue.add(fmt.Sprintf("line %03d\n", i))
		}
		if queue.bytes > 100 {
			t.Errorf("%d bytes are queued", queue.bytes)
		}
		read, err := io.ReadAll(queue) // It ends after a minute without a line.
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(read)), "\n")
		if len(lines) != 13 || lines[10] != "line 010" {
			t.Errorf("lines %q", lines)
		}
		end := lines[len(lines)-2:]
		want := []string{"fairlead: 989 lines were dropped, because this stream is read too slowly", "fairlead: no line for 1m0s; the stream ends"}
		if diff := cmp.Diff(want, end); diff != "" {
			t.Errorf("end (-want +got):\n%s", diff)
		}
	})
}

func TestTotalTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeoutCause(t.Context(), time.Minute, errTotalTime)
		defer stop()
		read, err := io.ReadAll(newLineQueue(ctx, 100, time.Hour))
		if err != nil || !strings.Contains(string(read), "as long as it may") {
			t.Errorf("read %q, %v", read, err)
		}
	})
}

func TestLogOptions(t *testing.T) {
	codec := runtime.NewParameterCodec(newScheme())
	for query, want := range map[string]*v1alpha1.ApplicationLogOptions{
		"":                                     {},
		"follow=true&container=app":            {Follow: true, Container: "app"},
		"previous=1&timestamps=true":           {Previous: true, Timestamps: true},
		"sinceSeconds=60&tailLines=0&pretty=1": {SinceSeconds: new(int64(60)), TailLines: new(int64(0))},
		"follow=perhaps":                       nil,
		"tailLines=many":                       nil,
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		got := &v1alpha1.ApplicationLogOptions{}
		err = codec.DecodeParameters(values, v1alpha1.SchemeGroupVersion, got)
		if want == nil {
			if err == nil {
				t.Errorf("%s: %+v, want an error", query, got)
			}
			continue
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", query, err, diff)
		}
	}
	for _, refused := range []*v1alpha1.ApplicationLogOptions{
		{SinceSeconds: new(int64(0))}, {TailLines: new(int64(-1))}, {Follow: true, Previous: true},
	} {
		if err := checkLogOptions(refused); !apierrors.IsBadRequest(err) {
			t.Errorf("%+v: %v, want 400", refused, err)
		}
	}
}

// TestUnknownContainer: a container that no pod has is a mistake, and no empty log.
func TestUnknownContainer(t *testing.T) {
	registry := logsOf(t, allowed, DefaultLimits(), silent, "proxy", "app")
	for _, options := range []*v1alpha1.ApplicationLogOptions{{Container: "ap"}, {Container: "ap", Follow: true}} {
		_, err := stream(t.Context(), registry, options)
		if !apierrors.IsBadRequest(err) || !strings.HasSuffix(err.Error(), "has a container ap: choose app, proxy") {
			t.Errorf("%+v: %v, want 400", options, err)
		}
	}
}
