// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// TestStreamsEndFirst holds a stream that cannot say goodbye: the session must not disappear before it.
func TestStreamsEndFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(request.WithNamespace(t.Context(), "shop"))
		defer cancel()
		r := newRegistry(newScheme())
		if _, err := r.Create(ctx, &Session{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "ida", Labels: map[string]string{"user": "ida"}}}, nil, &metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		watching, err := r.Watch(ctx, &metainternalversion.ListOptions{ResourceVersion: "1"})
		if err != nil {
			t.Fatal(err)
		}
		client := &slowClient{reads: make(chan string)}
		handler, err := (&log{r}).Connect(ctx, "ida", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			handler.ServeHTTP(client, nil)
		}()
		if got := <-client.reads; got != "welcome\n" {
			t.Fatalf("the stream begins with %q", got)
		}
		if _, _, err := r.Delete(ctx, "ida", nil, &metav1.DeleteOptions{GracePeriodSeconds: new(int64(60))}); err != nil {
			t.Fatal(err)
		}
		if event := <-watching.ResultChan(); event.Type != watch.Modified {
			t.Fatalf("the first event is %s", event.Type)
		}
		if got := <-client.reads; !strings.Contains(got, "hang up") {
			t.Fatalf("the deletion begins with %q", got)
		}
		// A second request shortens the grace period.
		if _, _, err := r.Delete(ctx, "ida", nil, &metav1.DeleteOptions{GracePeriodSeconds: new(int64(5))}); err != nil {
			t.Fatal(err)
		}
		if event := <-watching.ResultChan(); event.Type != watch.Modified {
			t.Fatalf("the second event is %s", event.Type)
		}
		<-time.After(6 * time.Second)
		synctest.Wait()
		if _, err := r.Get(ctx, "ida", nil); err != nil {
			t.Fatalf("while a stream is open: %v", err)
		}
		select {
		case event := <-watching.ResultChan():
			t.Fatalf("while a stream is open: %s", event.Type)
		default:
		}
		if got := <-client.reads; got != "goodbye\n" {
			t.Fatalf("after the grace period: %q", got)
		}
		<-ended
		if event := <-watching.ResultChan(); event.Type != watch.Deleted {
			t.Fatalf("the last event is %s", event.Type)
		}
		if _, err := r.Get(ctx, "ida", nil); !apierrors.IsNotFound(err) {
			t.Fatalf("at the end: %v", err)
		}
		cancel()
		if _, open := <-watching.ResultChan(); open {
			t.Error("the watch goes on after its request")
		}
	})
}

// slowClient takes a line only when the test reads it.
type slowClient struct{ reads chan string }

func (c *slowClient) Header() http.Header { return http.Header{} }
func (c *slowClient) WriteHeader(int)     {}
func (c *slowClient) Write(line []byte) (int, error) {
	c.reads <- string(line)
	return len(line), nil
}
