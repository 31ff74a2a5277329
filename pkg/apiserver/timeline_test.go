// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

var cart = &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}}

func eventOf(sequence uint64, namespace, name string) debug.Event {
	return debug.Event{Sequence: sequence, Key: &debug.Name{Namespace: namespace, Name: name}, Stage: debug.StageApply, Type: debug.TypeWrote}
}

// TestS23TimelineOfOthers: whatever the leader answers, a timeline is about one Application, and names nothing of another namespace.
func TestS23TimelineOfOthers(t *testing.T) {
	foreign := eventOf(5, "shop", "cart")
	foreign.Resource, foreign.Object = "httproutes.gateway.networking.k8s.io", &debug.Name{Namespace: "bank", Name: "vault"}
	own := eventOf(6, "shop", "cart")
	own.Resource, own.Object, own.Milliseconds = "deployments.apps", &debug.Name{Namespace: "shop", Name: "cart"}, 1.5
	recorded := &debug.Timeline{Instance: "one", Sequence: 9, Events: []debug.Event{
		eventOf(1, "shop", "cart"), eventOf(2, "shop", "till"), eventOf(3, "bank", "cart"), {Sequence: 4}, foreign, own,
	}}
	timeline := newTimeline(cart, recorded, 1)
	var got []string
	for _, event := range timeline.Events {
		got = append(got, fmt.Sprintf("%d %q %d", event.Sequence, event.Object, event.Microseconds))
	}
	if want := []string{`5 "" 0`, `6 "cart" 1500`}; !slices.Equal(got, want) || timeline.ResourceVersion != "6" || timeline.Name != "cart" {
		t.Errorf("timeline %+v has %q, want %q", timeline, got, want)
	}
}

// timelinesOf is a registry with the Application cart.
func timelinesOf(t *testing.T, may permissions, recorded func() (*debug.Timeline, error)) *timelines {
	t.Helper()
	caches, err := newCaches(kubefake.NewClientset(), fake.NewClientset())
	if err != nil {
		t.Fatal(err)
	}
	if err := caches.applications.GetTypedIndexer().Add(cart); err != nil {
		t.Fatal(err)
	}
	history := newHistory(time.Now())
	history.markFilled()
	return &timelines{
		caches: caches, history: history, access: may.access(), limits: DefaultLimits(), open: newQuota("timelines", 1, 10), stopping: make(chan struct{}),
		recorded: func(context.Context, cache.ObjectName) (*debug.Timeline, error) { return recorded() },
	}
}

func ofCart() *metainternalversion.ListOptions {
	return &metainternalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", "cart")}
}

// leaderAnswer is what a leader answers, and what the user may do meanwhile.
type leaderAnswer struct {
	mu       sync.Mutex
	timeline *debug.Timeline
	err      error
	revoked  bool
}

func (l *leaderAnswer) set(timeline *debug.Timeline, err error, revoked bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timeline, l.err, l.revoked = timeline, err, revoked
}

func (l *leaderAnswer) recorded() (*debug.Timeline, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.timeline, l.err
}

func (l *leaderAnswer) may() (authorizer.Decision, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.revoked {
		return authorizer.DecisionNoOpinion, nil
	}
	return authorizer.DecisionAllow, nil
}

// TestTimelineWatch: a watch goes on over a time without a leader and to the next leader, sends each event once, and ends with its user's
// permission.
func TestTimelineWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leader := &leaderAnswer{timeline: &debug.Timeline{Instance: "one", Sequence: 5, Events: []debug.Event{eventOf(5, "shop", "cart")}}}
		registry := timelinesOf(t, leader.may, leader.recorded)
		ctx := asReader(t.Context())
		watching, err := registry.Watch(ctx, ofCart())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := registry.Watch(ctx, ofCart()); !apierrors.IsTooManyRequests(err) {
			t.Errorf("second watch: %v, want 429", err)
		}
		if _, err := registry.Get(ctx, "cart", nil); !apierrors.IsTooManyRequests(err) {
			t.Errorf("get beside the watch: %v, want 429", err)
		}
		next := func(want watch.EventType, sequences ...int64) {
			t.Helper()
			event := <-watching.ResultChan()
			timeline, ok := event.Object.(*v1alpha1.ApplicationTimeline)
			if event.Type != want || !ok {
				t.Fatalf("event %+v, want %s", event, want)
			}
			var got []int64
			for _, e := range timeline.Events {
				got = append(got, e.Sequence)
			}
			if !slices.Equal(got, sequences) {
				t.Errorf("events %v, want %v", got, sequences)
			}
		}
		next(watch.Added, 5)
		leader.set(nil, errNoLeader, false)
		<-time.After(3 * timelinePeriod)
		leader.set(&debug.Timeline{Instance: "one", Sequence: 8, Events: []debug.Event{eventOf(5, "shop", "cart"), eventOf(8, "shop", "cart")}}, nil, false)
		next(watch.Modified, 8)
		second := &debug.Timeline{Instance: "two", Sequence: 2, Events: []debug.Event{eventOf(2, "shop", "cart")}}
		leader.set(second, nil, false)
		next(watch.Modified, 2)
		leader.set(second, nil, true)
		if event, open := <-watching.ResultChan(); open {
			t.Errorf("event %+v after the permission was revoked", event)
		}
		if registry.open.open != 0 {
			t.Errorf("%d timelines are open", registry.open.open)
		}
		if _, err := registry.Watch(ctx, ofCart()); !apierrors.IsForbidden(err) {
			t.Errorf("watch without permission: %v, want 403", err)
		}
	})
}

// TestTimelineErrors: what is wrong with a request, or with the leader, is the answer.
func TestTimelineErrors(t *testing.T) {
	registry := timelinesOf(t, allowed, func() (*debug.Timeline, error) { return nil, errNoLeader })
	ctx := asReader(t.Context())
	if _, err := registry.Get(ctx, "cart", nil); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("without a leader: %v, want 503", err)
	}
	if _, err := registry.Get(ctx, "till", nil); !apierrors.IsNotFound(err) {
		t.Errorf("no such Application: %v, want 404", err)
	}
	if _, err := registry.Watch(ctx, &metainternalversion.ListOptions{}); !apierrors.IsBadRequest(err) {
		t.Errorf("watch of all: %v, want 400", err)
	}
}

// TestLeader asks the holder of the Lease, with the token, over TLS with the certificate's name.
func TestLeader(t *testing.T) {
	recorded := debug.Timeline{Instance: "one", Events: []debug.Event{eventOf(1, "shop", "cart")}}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer token":
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
		case r.URL.Path == "/debug/pipeline/v1/keys/shop/cart":
			_ = json.NewEncoder(w).Encode(recorded)
		case r.URL.Path == "/debug/pipeline/v1/keys/shop/moved":
			http.Redirect(w, r, "/debug/pipeline/v1/keys/shop/cart", http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/debug/pipeline/v1/keys/shop/"):
			http.Error(w, unknownKey, http.StatusNotFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(address.Port())
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca := file("ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "operator", Name: name} }
	lease := func(holder string) runtime.Object {
		return &coordinationv1.Lease{ObjectMeta: meta("leader"), Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}}
	}
	pod := func(ip string) runtime.Object {
		return &corev1.Pod{ObjectMeta: meta("controller-1"), Status: corev1.PodStatus{PodIP: ip}}
	}
	leader := Leader{Lease: "operator/leader", Port: port, ServerName: "example.com", CAFile: ca, TokenFile: file("token", "token\n")}
	for _, test := range []struct {
		name, application string
		change            func(*Leader)
		objects           []runtime.Object
		want              func(error) bool
		events            int
	}{
		{"recorded", "cart", nil, []runtime.Object{lease("controller-1_9b"), pod("127.0.0.1")}, nil, 1},
		{"nothing recorded", "till", nil, []runtime.Object{lease("controller-1_9b"), pod("127.0.0.1")}, nil, 0},
		{"a redirect", "moved", nil, []runtime.Object{lease("controller-1_9b"), pod("127.0.0.1")}, apierrors.IsServiceUnavailable, 0},
		{"no Lease", "cart", nil, nil, apierrors.IsServiceUnavailable, 0},
		{"no holder", "cart", nil, []runtime.Object{lease("")}, apierrors.IsServiceUnavailable, 0},
		{"no pod", "cart", nil, []runtime.Object{lease("controller-1_9b")}, apierrors.IsServiceUnavailable, 0},
		{"no address", "cart", nil, []runtime.Object{lease("controller-1_9b"), pod("")}, apierrors.IsServiceUnavailable, 0},
		{"another certificate", "cart", func(l *Leader) { l.ServerName = "other.example.org" }, []runtime.Object{lease("controller-1_9b"), pod("127.0.0.1")}, apierrors.IsServiceUnavailable, 0},
		{"another token", "cart", func(l *Leader) { l.TokenFile = file("token", "other") }, []runtime.Object{lease("controller-1_9b"), pod("127.0.0.1")}, apierrors.IsServiceUnavailable, 0},
		{"no CAs", "cart", func(l *Leader) { l.CAFile = file("ca.crt", "") }, []runtime.Object{lease("controller-1_9b"), pod("127.0.0.1")}, apierrors.IsInternalError, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			changed := leader
			if test.change != nil {
				test.change(&changed)
			}
			r, err := newRecorder(changed, kubefake.NewClientset(test.objects...))
			if err != nil {
				t.Fatal(err)
			}
			timeline, err := r.timeline(t.Context(), cache.ObjectName{Namespace: "shop", Name: test.application})
			if test.want == nil {
				if err != nil || len(timeline.Events) != test.events {
					t.Errorf("%+v, %v; want %d events", timeline, err, test.events)
				}
			} else if !test.want(err) {
				t.Error(err)
			}
		})
	}
	if _, err := newRecorder(Leader{Lease: "leader"}, nil); err == nil {
		t.Error("a Lease without a namespace is no error")
	}
}
