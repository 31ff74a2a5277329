// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// begin is the first version of the histories here.
const begin = 1000

func view(name string, ready int32) *v1alpha1.ApplicationRuntime {
	return &v1alpha1.ApplicationRuntime{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Pods:       v1alpha1.PodCounts{Ready: ready},
	}
}

func set(h *history, name string, view *v1alpha1.ApplicationRuntime) {
	h.set(cache.ObjectName{Namespace: "shop", Name: name}, view)
}

func everything(*v1alpha1.ApplicationRuntime) bool { return true }

func TestHistory(t *testing.T) {
	h := newHistory(time.Unix(0, begin))
	if err := h.ready(); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("before the first list: %v", err)
	}
	h.markFilled()
	if err := h.ready(); err != nil {
		t.Errorf("after the first list: %v", err)
	}
	set(h, "b", view("b", 1)) // 1001
	set(h, "a", view("a", 1)) // 1002
	set(h, "b", view("b", 1)) // no change
	set(h, "b", view("b", 2)) // 1003
	set(h, "b", nil)          // 1004
	set(h, "b", nil)          // no change
	found, version := h.list(everything)
	if len(found) != 1 || found[0].Name != "a" || found[0].ResourceVersion != "1002" || version != 1004 {
		t.Errorf("list %v at %d", found, version)
	}
	for _, test := range []struct {
		after   uint64
		expired bool
		want    []string
	}{
		{999, true, nil},
		{1000, false, []string{"ADDED b 1001", "ADDED a 1002", "MODIFIED b 1003", "DELETED b 1004"}},
		{1003, false, []string{"DELETED b 1004"}},
		{1004, false, nil},
		{1005, true, nil},
	} {
		changes, _, err := h.since(test.after)
		if apierrors.IsResourceExpired(err) != test.expired {
			t.Errorf("since %d: %v", test.after, err)
		}
		var got []string
		for _, c := range changes {
			event, _ := c.event(everything)
			got = append(got, describe(event))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("since %d: %q, want %q", test.after, got, test.want)
		}
	}
}

func describe(event watch.Event) string {
	if view, ok := event.Object.(*v1alpha1.ApplicationRuntime); ok {
		return fmt.Sprintf("%s %s %s", event.Type, view.Name, view.ResourceVersion)
	}
	return fmt.Sprintf("%s %T", event.Type, event.Object)
}

// TestRecreated: an Application that is deleted and created again between two computations is another one for a watch.
func TestRecreated(t *testing.T) {
	h := newHistory(time.Unix(0, begin))
	for _, uid := range []types.UID{"first", "second"} {
		created := view("a", 1)
		created.UID = uid
		set(h, "a", created)
	}
	changes, _, err := h.since(begin)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		event, _ := c.event(everything)
		got = append(got, describe(event))
	}
	if want := []string{"ADDED a 1001", "DELETED a 1002", "ADDED a 1003"}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// TestSelectedEvents: a view that begins to match is added, one that ceases to match is deleted.
func TestSelectedEvents(t *testing.T) {
	matches := func(v *v1alpha1.ApplicationRuntime) bool { return v.Pods.Ready > 1 }
	h := newHistory(time.Unix(0, begin))
	for _, ready := range []int32{1, 2, 3, 1} {
		set(h, "a", view("a", ready))
	}
	set(h, "a", nil)
	changes, _, err := h.since(begin)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		if event, visible := c.event(matches); visible {
			got = append(got, describe(event))
		}
	}
	if want := []string{"ADDED a 1002", "MODIFIED a 1003", "DELETED a 1004"}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// TestSlowWatch: a client that does not read costs no memory, and gets 410 once the changes have moved on.
func TestSlowWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(time.Unix(0, begin))
		w := &watcher{history: h, version: begin, match: everything, show: asIs, ended: func() {}, ctx: t.Context()}
		slow := w.start()
		set(h, "a", view("a", 0))
		synctest.Wait() // It has taken this change, and waits for its client.
		for i := range int32(3 * keptChanges) {
			set(h, "a", view("a", i+1))
		}
		if kept := len(h.changes); kept > 2*keptChanges {
			t.Errorf("the history keeps %d changes", kept)
		}
		var last watch.Event
		for event := range slow.ResultChan() {
			last = event
		}
		status, ok := last.Object.(*metav1.Status)
		if last.Type != watch.Error || !ok || status.Code != 410 {
			t.Errorf("last event %v", describe(last))
		}
	})
}

// TestShownViews: the encoder sets and clears the kind of the object that it encodes, so each request needs a view of its own.
func TestShownViews(t *testing.T) {
	for name, decision := range map[string]authorizer.Decision{"measured": authorizer.DecisionAllow, "unmeasured": authorizer.DecisionDeny} {
		decide := authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return decision, "", nil
		})
		registry := &applications{access: access{authorizer: decide}}
		show, err := registry.show(request.WithUser(t.Context(), &user.DefaultInfo{Name: "reader"}))
		if err != nil {
			t.Fatal(err)
		}
		kept := view("a", 1)
		kept.CPU.Used = resource.NewQuantity(1, resource.DecimalSI)
		shown := show(kept)
		if measured := shown.CPU.Used != nil; measured != (decision == authorizer.DecisionAllow) || shown.Pods.Ready != 1 {
			t.Errorf("%s: shown is %+v", name, shown)
		}
		shown.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("ApplicationRuntime"))
		if kept.Kind != "" || kept.CPU.Used == nil {
			t.Errorf("%s: the request changed the kept view to %+v", name, kept)
		}
	}
}

func asIs(view *v1alpha1.ApplicationRuntime) *v1alpha1.ApplicationRuntime { return view }

func TestWatchBookmarksAndStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		h := newHistory(time.Unix(0, begin))
		set(h, "a", view("a", 1))
		initial, version := h.list(everything)
		ended := false
		w := &watcher{
			history: h, version: version, match: everything, show: asIs, bookmarks: true, initial: initial, endInitial: true,
			ended: func() { ended = true }, ctx: ctx,
		}
		watching := w.start()
		var got []string
		for range 2 {
			got = append(got, describe(<-watching.ResultChan()))
		}
		set(h, "b", view("b", 1))
		got = append(got, describe(<-watching.ResultChan()), describe(<-watching.ResultChan()))
		want := []string{"ADDED a 1001", "BOOKMARK  1001", "ADDED b 1002", "BOOKMARK  1002"}
		if !slices.Equal(got, want) {
			t.Errorf("events %q, want %q", got, want)
		}
		watching.Stop()
		if event, open := <-watching.ResultChan(); open {
			t.Errorf("after Stop: %v", describe(event))
		}
		if !ended {
			t.Error("the watch still counts as open")
		}
	})
}
