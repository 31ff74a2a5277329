// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// TestStopMidStream stops the server while a client follows a log and another one watches. Both streams end, the log with
// the reason. At the next server the watch of the old one is refused, and a new list and watch works. It is not parallel, like
// TestOutage.
func TestStopMidStream(t *testing.T) {
	f := startAlone(t)
	f.apply("followed", 0)
	seen := f.view("followed", func(*v1alpha1.ApplicationRuntime) bool { return true })
	views := f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace)
	log, watching := f.logAndWatch("followed")

	shared.stop()
	read, err := io.ReadAll(log)
	if err != nil || !strings.HasSuffix(string(read), "fairlead: this server stops; ask again, and another one answers\n") {
		t.Errorf("the log ends with %q, %v", read, err)
	}
	for range watching.ResultChan() { // The channel is closed with the connection.
	}

	if err := shared.start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := waitAvailable(t.Context(), dynamic.NewForConfigOrDie(cluster.Config())); err != nil {
		t.Fatal(err)
	}
	// kube-apiserver may notice the stop only now, and answer 503 until it looks again.
	f.eventually("410 for the watch of the server before", func() error {
		refused, err := views.Watch(t.Context(), metav1.ListOptions{ResourceVersion: seen.ResourceVersion})
		if err == nil {
			refused.Stop()
		}
		if code(err) != 410 {
			return fmt.Errorf("it answers %v", err) //nolint:errorlint // It may be nil.
		}
		return nil
	})
	var again watch.Interface
	f.eventually("a new list and watch", func() error {
		list, err := views.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		again, err = views.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		return err
	})
	defer again.Stop()
	f.apply("later", 0)
	f.untilEvent(again, func(kind watch.EventType, view *v1alpha1.ApplicationRuntime) bool {
		return kind == watch.Added && view.Name == "later"
	})
}

// logAndWatch follows the log of an Application, and watches the views of its namespace.
func (f *fixture) logAndWatch(name string) (log io.Reader, watching watch.Interface) {
	f.Helper()
	var stream io.ReadCloser
	// The keeper may delete and create the APIService again, if a server took long to start.
	f.eventually("a log", func() (err error) {
		stream, err = openLog(f.Context(), f.fairlead.SubresourcesV1alpha1(), f.namespace, name, "true")
		return err
	})
	f.Cleanup(func() { _ = stream.Close() })
	watching, err := f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace).Watch(f.Context(), metav1.ListOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(watching.Stop)
	if event := f.next(watching); event.Type != watch.Added {
		f.Errorf("first event %v", event)
	}
	return stream, watching
}
