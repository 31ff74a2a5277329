// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	kubefake "k8s.io/client-go/kubernetes/fake"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

func TestQuota(t *testing.T) {
	q := newQuota("streams", 2, 3)
	var releases []func()
	for _, name := range []string{"a", "a", "b"} {
		release, err := q.acquire(name)
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	for name, want := range map[string]int{"a": noRetry, "b": retryAfter} {
		_, err := q.acquire(name)
		if seconds, _ := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || seconds != want {
			t.Errorf("%s beyond the limit: %v, retry after %d s, want %d s", name, err, seconds, want)
		}
	}
	releases[0]()
	releases[0]() // Closing twice must not open a second place.
	if _, err := q.acquire("a"); err != nil {
		t.Error(err)
	}
	if _, err := q.acquire("a"); err == nil {
		t.Error("a has three streams")
	}
}

// permissions answer what every user may do.
type permissions func() (authorizer.Decision, error)

func (p permissions) access() access {
	return access{authorizer: authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		decision, err := p()
		return decision, "", err
	})}
}

func allowed() (authorizer.Decision, error) { return authorizer.DecisionAllow, nil }

// asReader is the context of a request in the namespace shop.
func asReader(ctx context.Context) context.Context {
	return request.WithNamespace(request.WithUser(ctx, &user.DefaultInfo{Name: "reader"}), "shop")
}

// logsOf is a registry with an Application cart, whose one pod has these containers.
func logsOf(t *testing.T, may permissions, limits Limits, open openLog, containers ...string) *logs {
	t.Helper()
	caches, err := newCaches(kubefake.NewClientset(), fake.NewClientset())
	if err != nil {
		t.Fatal(err)
	}
	if err := caches.applications.GetTypedIndexer().Add(&v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}}); err != nil {
		t.Fatal(err)
	}
	logged := &pod{Pod: &child.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart-1"}, Application: "cart"}, Containers: containers}
	if err := caches.pods.GetTypedIndexer().Add(logged); err != nil {
		t.Fatal(err)
	}
	history := newHistory(time.Now())
	history.markFilled()
	return &logs{
		caches: caches, history: history, access: may.access(), limits: limits, open: open, stopping: make(chan struct{}),
		streams: newQuota("streams", limits.StreamsPerUser, limits.Streams), readers: make(readers, limits.Containers),
	}
}

// silent is a log without a line, which ends at once.
func silent(context.Context, string, string, *corev1.PodLogOptions) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("")), nil
}

// quiet is a log without a line, which does not end.
func quiet(ctx context.Context, _, _ string, _ *corev1.PodLogOptions) (io.ReadCloser, error) {
	reader, writer := io.Pipe()
	context.AfterFunc(ctx, func() { _ = writer.CloseWithError(ctx.Err()) })
	return reader, nil
}

// stream opens a log as the handler of a request does.
func stream(ctx context.Context, registry *logs, options *v1alpha1.ApplicationLogOptions) (io.ReadCloser, error) {
	ctx = asReader(ctx)
	object, err := registry.Get(ctx, "cart", options)
	if err != nil {
		return nil, err
	}
	streamer, ok := object.(*logStream)
	if !ok {
		return nil, fmt.Errorf("get returns %T", object)
	}
	reader, _, _, err := streamer.InputStream(ctx, "", "")
	return reader, err
}

var follow = &v1alpha1.ApplicationLogOptions{Follow: true}

// TestS23Containers: a pod may have many containers, so their number is limited too, in each request and in all.
func TestS23Containers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := DefaultLimits()
		limits.ContainersPerRequest, limits.Containers = 2, 3
		three := logsOf(t, allowed, limits, silent, "app", "proxy", "debug")
		if _, err := stream(t.Context(), three, follow); !apierrors.IsBadRequest(err) {
			t.Errorf("three containers, where two are allowed: %v, want 400", err)
		}
		one, err := stream(t.Context(), three, &v1alpha1.ApplicationLogOptions{Container: "app"})
		if err != nil {
			t.Fatal(err)
		}
		if err := one.Close(); err != nil {
			t.Error(err)
		}

		two := logsOf(t, allowed, limits, quiet, "app", "proxy")
		first, err := stream(t.Context(), two, follow)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := stream(t.Context(), two, &v1alpha1.ApplicationLogOptions{}); !apierrors.IsTooManyRequests(err) {
			t.Errorf("two more logs, where three are allowed: %v, want 429", err)
		}
		second, err := stream(t.Context(), two, follow)
		if err != nil {
			t.Fatal(err)
		}
		told, err := bufio.NewReader(second).ReadString('\n')
		if want := "fairlead: only 1 of 2 containers are read, "; err != nil || !strings.HasPrefix(told, want) {
			t.Errorf("the second stream begins %q, %v; want %q", told, err, want)
		}
		for _, opened := range []io.Closer{first, second} {
			if err := opened.Close(); err != nil {
				t.Error(err)
			}
		}
		if len(two.readers) != 0 || two.streams.open != 0 {
			t.Errorf("after the end %d logs and %d streams are open", len(two.readers), two.streams.open)
		}
	})
}

// TestS23Revoked: a stream ends when its user may no longer read the logs, and goes on while the question has no answer.
func TestS23Revoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answer atomic.Pointer[permissions]
		set := func(p permissions) { answer.Store(&p) }
		set(allowed)
		registry := logsOf(t, func() (authorizer.Decision, error) { return (*answer.Load())() }, DefaultLimits(), silent, "app")
		log, err := stream(t.Context(), registry, follow)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		set(func() (authorizer.Decision, error) { return authorizer.DecisionNoOpinion, errors.New("unavailable") })
		time.AfterFunc(5*accessPeriod+time.Second, func() {
			set(func() (authorizer.Decision, error) { return authorizer.DecisionNoOpinion, nil })
		})
		read, err := io.ReadAll(log)
		if want := "fairlead: " + errRevoked.Error() + "\n"; err != nil || string(read) != want {
			t.Errorf("read %q, %v; want %q", read, err, want)
		}
		if lasted := time.Since(start); lasted != 6*accessPeriod {
			t.Errorf("the stream lasted for %s", lasted)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestLastLine: every stream says why the server ended it.
func TestLastLine(t *testing.T) {
	for name, options := range map[string]*v1alpha1.ApplicationLogOptions{"merged": {}, "followed": follow} {
		for want, stop := range map[endError]bool{errStopping: true, errTotalTime: false} {
			synctest.Test(t, func(t *testing.T) {
				registry := logsOf(t, allowed, DefaultLimits(), quiet, "app")
				stopping := make(chan struct{})
				registry.stopping = stopping
				registry.limits.IdleTime = 2 * registry.limits.TotalTime
				log, err := stream(t.Context(), registry, options)
				if err != nil {
					t.Fatal(err)
				}
				if stop {
					time.AfterFunc(time.Minute+time.Second, func() { close(stopping) })
				}
				read, err := io.ReadAll(log)
				if line := "fairlead: " + want.Error() + "\n"; err != nil || !strings.HasSuffix(string(read), line) {
					t.Errorf("%s: read %q, %v; want %q", name, read, err, line)
				}
				if err := log.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestRestingContainers: a container without a line costs fewer and fewer requests.
func TestRestingContainers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opened atomic.Int64
		open := func(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
			opened.Add(1)
			return silent(ctx, namespace, pod, options)
		}
		registry := logsOf(t, allowed, DefaultLimits(), open, "app")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		log, err := stream(ctx, registry, follow)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(log); err != nil {
			t.Error(err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		// At first after 4 and 8 seconds, and then every 16.
		if got, most := opened.Load(), int64(10*60/16+4); got > most || got < 10 {
			t.Errorf("%d requests in ten minutes, want at most %d", got, most)
		}
	})
}

// TestWatchesPerUser: the watches of one user are limited, and the end of one makes room.
func TestWatchesPerUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		history := newHistory(time.Now())
		history.markFilled()
		registry := &applications{history: history, access: permissions(allowed).access(), watches: newQuota("watches", 1, 10)}
		ctx := asReader(t.Context())
		if _, err := registry.Watch(ctx, &metainternalversion.ListOptions{ResourceVersion: "1"}); !apierrors.IsResourceExpired(err) {
			t.Errorf("watch of another history: %v, want 410", err)
		}
		first, err := registry.Watch(ctx, &metainternalversion.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := registry.Watch(ctx, &metainternalversion.ListOptions{}); !apierrors.IsTooManyRequests(err) {
			t.Errorf("second watch: %v, want 429", err)
		}
		first.Stop()
		synctest.Wait()
		second, err := registry.Watch(ctx, &metainternalversion.ListOptions{})
		if err != nil {
			t.Fatalf("after the first has ended: %v", err)
		}
		second.Stop()
		synctest.Wait()
		if registry.watches.open != 0 {
			t.Errorf("%d watches are open", registry.watches.open)
		}
	})
}
