// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	subresources "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/subresources/v1alpha1"
)

// openLog opens the log of an Application.
func openLog(ctx context.Context, client subresources.SubresourcesV1alpha1Interface, namespace, name string, follow string) (io.ReadCloser, error) {
	return client.RESTClient().Get().Namespace(namespace).Resource("applications").Name(name).SubResource("log").
		Param("follow", follow).Stream(ctx)
}

// TestLog: the simulated nodes have no kubelets, so each container's log is the reason why there is none.
func TestLog(t *testing.T) {
	f := start(t)
	f.apply("logged", 2)
	f.view("logged", running(2))
	log, err := openLog(t.Context(), f.fairlead.SubresourcesV1alpha1(), f.namespace, "logged", "false")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	read, err := io.ReadAll(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(read)), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "[logged-") || !strings.Contains(lines[0], "fairlead: no log: ") {
		t.Errorf("log %q", lines)
	}
	if _, err := openLog(t.Context(), f.fairlead.SubresourcesV1alpha1(), f.namespace, "missing", "false"); code(err) != 404 {
		t.Errorf("log of no Application: %v, want 404", err)
	}
	if _, err := openLog(t.Context(), f.fairlead.SubresourcesV1alpha1(), f.namespace, "logged", "perhaps"); code(err) != 400 {
		t.Errorf("follow=perhaps: %v, want 400", err)
	}
}

// TestUnreadStreams: a client that reads nothing does not keep its streams. It is not parallel, like TestOutage, since it restarts
// the server.
func TestUnreadStreams(t *testing.T) {
	f := startAlone(t)
	f.apply(floodingApplication, 1)
	f.view(floodingApplication, running(1))
	f.podOf(floodingApplication)
	restart := func(idleTime time.Duration) {
		shared.stop()
		shared.idleTime = idleTime
		if err := shared.start(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
		if err := waitAvailable(t.Context(), dynamic.NewForConfigOrDie(cluster.Config())); err != nil {
			t.Fatal(err)
		}
		f.view(floodingApplication, running(1))
	}
	restart(5 * time.Second)
	defer restart(0)
	user := f.client("reads-nothing", rule(group, "applications/log", "get"), rule(v1.GroupName, "applications", "get"), rule("", "pods", "list"), rule("", "pods/log", "get"))
	for _, follow := range []string{"true", "false", "true"} {
		log, err := openLog(t.Context(), user, f.namespace, floodingApplication, follow)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = log.Close() })
	}
	if _, err := openLog(t.Context(), user, f.namespace, floodingApplication, "true"); code(err) != 429 {
		t.Errorf("one more: %v, want 429", err)
	}
	opened := 0
	f.eventually("streams in the place of those that no client reads", func() error {
		for ; opened < streamsPerUser; opened++ {
			log, err := openLog(t.Context(), user, f.namespace, floodingApplication, "true")
			if err != nil {
				return err
			}
			t.Cleanup(func() { _ = log.Close() })
		}
		return nil
	})
}

// TestStreamsPerUser: the streams of one user are limited, and closing one makes room. The answer 429 comes at once: with a
// Retry-After, the client would hide it for ten retries.
func TestStreamsPerUser(t *testing.T) {
	f := start(t)
	f.apply("followed", 0)
	f.view("followed", func(*v1alpha1.ApplicationRuntime) bool { return true })
	user := f.client("follower", rule(group, "applications/log", "get"), rule(v1.GroupName, "applications", "get"), rule("", "pods", "list"), rule("", "pods/log", "get"))
	var open []io.Closer
	for range streamsPerUser {
		log, err := openLog(t.Context(), user, f.namespace, "followed", "true")
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, log)
		t.Cleanup(func() { _ = log.Close() })
	}
	if _, err := openLog(t.Context(), user, f.namespace, "followed", "true"); code(err) != 429 {
		t.Errorf("one more: %v, want 429", err)
	}
	if err := open[0].Close(); err != nil {
		t.Fatal(err)
	}
	f.eventually("a stream in the place of a closed one", func() error {
		log, err := openLog(t.Context(), user, f.namespace, "followed", "true")
		if err == nil {
			defer log.Close()
		}
		return err
	})
}
