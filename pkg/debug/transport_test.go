// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"context"
	"net/http"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// While a watch is tried again and again below the reflector, its state says that it is broken, and the attempts do not
// drive everything else out of what is kept.
func TestWatchThatIsTriedAgain(t *testing.T) {
	for _, test := range []struct {
		name      string
		streaming bool
		then      string
	}{
		{"a watch", false, stateWatching},
		{"a watch that begins with the initial state", true, stateListing},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := New()
			rr := r.Resource(ResourceOptions{Resource: "configmaps", Role: "children"})
			rr.SetCache(cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil))
			const refused = 3
			attempts := 0
			transport := r.Transport(roundTripper(func(request *http.Request) (*http.Response, error) {
				attempts++
				if attempts <= refused {
					return nil, syscall.ECONNREFUSED
				}
				return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: request}, nil
			}))
			incoming := watch.NewFake()
			watched := &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://127.0.0.1/api/v1/configmaps?watch=true", http.NoBody)
				if err != nil {
					return nil, err
				}
				for {
					response, err := transport.RoundTrip(request)
					if err == nil {
						return incoming, response.Body.Close()
					}
					if seen := r.Snapshot().Resources[0]; seen.State != stateBroken || seen.Error == "" {
						t.Errorf("after %d attempts it is %s because of %q", attempts, seen.State, seen.Error)
					}
				}
			}}
			opened, err := cache.ToListerWatcherWithContext(rr.ListerWatcher(watched)).WatchWithContext(t.Context(), metav1.ListOptions{SendInitialEvents: &test.streaming})
			if err != nil {
				t.Fatal(err)
			}
			if seen := r.Snapshot().Resources[0]; seen.State != test.then || seen.Error != "" {
				t.Errorf("it is %s because of %q, want %s", seen.State, seen.Error, test.then)
			}
			opened.Stop()
			for range opened.ResultChan() {
				t.Error("an event nobody sent")
			}
			told := 0
			for _, event := range r.Snapshot().Events {
				if event.Type == TypeRequested && event.Error != "" {
					told++
				}
			}
			if told != 1 {
				t.Errorf("%d refused attempts are told %d times, want once", refused, told)
			}
		})
	}
}
