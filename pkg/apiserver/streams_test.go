// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

// endless is a log of so many bytes, which exist only as they are read.
type endless struct {
	left  int
	lines *strings.Reader
	ended func()
}

const logLine = "2026-01-02T12:00:00.5Z one line of a container that has much to say, and says it again and again without end\n"

func (l *endless) Read(into []byte) (int, error) {
	if l.left <= 0 {
		l.ended()
		return 0, io.EOF
	}
	if l.lines == nil || l.lines.Len() == 0 {
		l.lines = strings.NewReader(logLine)
	}
	n, err := l.lines.Read(into)
	l.left -= n
	return n, err
}

func (l *endless) Close() error { return nil }

// TestManyStreams opens as many streams as the server allows, none of which is read, while the containers write more than
// fits into memory many times over. The memory stays within the limits, and every client is told what it missed.
func TestManyStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const (
			count   = 500
			written = 256 << 10 // of each container: 125 MiB in all
			kept    = 8 << 10   // of each stream: 4 MiB in all
			bound   = 20 << 20
		)
		caches, err := newCaches(kubefake.NewClientset(), fake.NewClientset())
		if err != nil {
			t.Fatal(err)
		}
		logged := &pod{Pod: &child.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart-1"}, Application: "cart"}, Containers: []string{"app"}}
		if err := caches.pods.GetTypedIndexer().Add(logged); err != nil {
			t.Fatal(err)
		}
		var ended atomic.Int64
		registry := &logs{
			caches: caches, streams: newQuota("streams", 1, count), readers: make(readers, count),
			limits: Limits{BufferedBytes: kept, IdleTime: time.Hour, TotalTime: time.Hour, PodsPerRequest: 1, ContainersPerRequest: 1},
			open: func(_ context.Context, _, _ string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
				left := written
				if options.SinceTime != nil {
					left = 0 // It was read to its end before.
				}
				return &endless{left: left, ended: func() { ended.Add(1) }}, nil
			},
		}
		open := func(name string) (io.ReadCloser, error) {
			stream := &logStream{registry: registry, application: cache.ObjectName{Namespace: "shop", Name: "cart"}, options: &v1alpha1.ApplicationLogOptions{Follow: true}}
			reader, _, _, err := stream.InputStream(request.WithUser(t.Context(), &user.DefaultInfo{Name: name}), "", "")
			return reader, err
		}
		before := heap()
		var streams []io.ReadCloser
		for i := range count {
			stream, err := open(fmt.Sprint("user-", i))
			if err != nil {
				t.Fatal(err)
			}
			streams = append(streams, stream)
		}
		synctest.Wait()
		if got := ended.Load(); got != count {
			t.Errorf("%d of %d logs were read to their end", got, count)
		}
		if grown := heap() - before; grown > bound {
			t.Errorf("%d streams that nobody reads take %d KiB, want at most %d KiB", count, grown>>10, bound>>10)
		}
		if _, err := open("one-more"); !apierrors.IsTooManyRequests(err) {
			t.Errorf("one stream more: %v, want 429", err)
		}
		for _, stream := range streams {
			if !saysDropped(stream) {
				t.Error("a stream does not say that lines were dropped")
			}
			if err := stream.Close(); err != nil {
				t.Error(err)
			}
		}
		if registry.streams.open != 0 || len(registry.streams.users) != 0 || len(registry.readers) != 0 {
			t.Errorf("after the end %d streams are open, of %d users, and %d logs", registry.streams.open, len(registry.streams.users), len(registry.readers))
		}
	})
}

// saysDropped reads what is queued.
func saysDropped(stream io.Reader) bool {
	for lines := bufio.NewScanner(stream); lines.Scan(); {
		if strings.Contains(lines.Text(), "lines were dropped") {
			return true
		}
	}
	return false
}

// heap is what is in use after a garbage collection.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
