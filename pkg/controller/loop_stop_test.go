// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// gate holds the first creation of a Deployment until it is opened, or until its context ends.
// entered is closed when it arrives.
func gate(s *applytest.Server) (entered, open chan struct{}) {
	entered, open = make(chan struct{}), make(chan struct{})
	var arrived atomic.Bool // Requests come from several goroutines.
	s.Intercept(func(ctx context.Context, r applytest.Request) error {
		if !createOf(child.Deployment)(r) || !arrived.CompareAndSwap(false, true) {
			return nil
		}
		close(entered)
		select {
		case <-open:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return entered, open
}

// A stop waits for the sync that runs, and takes no further key. That no goroutine is left, the
// bubble sees to: it fails where one is.
func TestStopDuringWrite(t *testing.T) {
	inWorld(t, setup{}, func(w *world) {
		entered, open := gate(w.server)
		applytest.Put(w.server, applytest.Applications, application("web"))
		<-entered
		applytest.Put(w.server, applytest.Applications, application("api"))
		synctest.Wait()
		w.stop()
		pass(5 * time.Second)
		select {
		case <-w.stopped:
			t.Fatal("Run returned before the write did")
		default:
		}
		close(open)
		start := time.Now()
		<-w.stopped
		if waited := time.Since(start); waited != 0 {
			t.Errorf("Run returned %s after the write", waited)
		}
		for _, ref := range []child.Ref{
			{Kind: child.Deployment, Namespace: namespace, Name: "web"},
			{Kind: child.Service, Namespace: namespace, Name: "web"},
		} {
			if applytest.Get[child.Object](w.server, ref.Kind, ref.Namespace, ref.Name) == nil {
				t.Errorf("%s was not written", ref)
			}
		}
		if w.deployment("api") != nil {
			t.Error("a key was taken after the stop")
		}
		if failures := w.log.errors(); len(failures) > 0 {
			t.Errorf("logged:\n%s", strings.Join(failures, "\n"))
		}
	})
}

// A write that hangs does not hold up a stop for ever. It is interrupted, which is no error.
func TestStopDuringWriteThatHangs(t *testing.T) {
	inWorld(t, setup{}, func(w *world) {
		entered, _ := gate(w.server)
		applytest.Put(w.server, applytest.Applications, application("web"))
		<-entered
		start := time.Now()
		w.stop()
		<-w.stopped
		if waited := time.Since(start); waited != drainTimeout {
			t.Errorf("Run returned after %s, want %s", waited, drainTimeout)
		}
		if w.deployment("web") != nil {
			t.Error("the interrupted write was carried out")
		}
		if got := w.log.find("Interrupted by shutdown", `application="shop/web"`); len(got) != 1 || len(w.log.errors()) > 0 {
			t.Errorf("logged is %q, with the errors %q", got, w.log.errors())
		}
	})
}

// Before all lists are there no worker starts: a sync would take children for missing.
func TestStopBeforeCachesAreFilled(t *testing.T) {
	inWorld(t, setup{begin: func(s *applytest.Server) {
		applytest.Put(s, applytest.Applications, application("web"))
		s.Intercept(func(_ context.Context, r applytest.Request) error {
			if r.Verb == "list" && r.Kind == child.Ingress {
				return errors.New("no answer")
			}
			return nil
		})
	}}, func(w *world) {
		pass(time.Hour)
		if got := w.count(applytest.Request.Writes); got > 0 {
			t.Errorf("%d writes before the caches are filled", got)
		}
		w.end()
		if len(w.log.find("Stopped before the caches synced")) != 1 {
			t.Error("it does not say that it stopped early")
		}
	})
}

func TestStopAtOnce(t *testing.T) {
	inWorld(t, setup{}, func(w *world) { w.end() })
}

func TestNewNeedsWorkers(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("a controller without workers was made")
	}
}
