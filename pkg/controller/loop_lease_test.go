// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
)

// startUnder runs a new controller that waits for elected, and may write until the returned function
// is called.
func (w *world) startUnder(elected <-chan struct{}) (lose context.CancelFunc) {
	w.Helper()
	w.make()
	ctx, stop := context.WithCancel(klog.NewContext(w.Context(), w.log.logger()))
	lease, lose := context.WithCancel(w.Context())
	w.stop, w.stopped = func() { stop(); lose() }, make(chan struct{})
	go func() {
		defer close(w.stopped)
		w.err = w.controller.Run(ctx, func(ctx context.Context, work func(ctx, lease context.Context)) error {
			select {
			case <-elected:
				work(ctx, lease)
			case <-ctx.Done():
			}
			return nil
		})
	}()
	return lose
}

// A replica that does not lead has its caches filled, and writes nothing until it does.
func TestFollower(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		w.end()
		elected := make(chan struct{})
		w.startUnder(elected)
		written := w.count(applytest.Request.Writes)
		pass(time.Hour)
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:2" })
		pass(time.Hour)
		if got := w.count(applytest.Request.Writes) - written; got != 0 {
			t.Errorf("%d writes without the lease", got)
		}
		if err := w.controller.CachesSynced(); err != nil {
			t.Error(err)
		}
		if err := w.controller.CheckWorkers(); err != nil {
			t.Errorf("a replica that waits is stuck: %v", err)
		}
		listed := w.count(func(r applytest.Request) bool { return r.Verb == "list" })
		start := time.Now()
		close(elected)
		synctest.Wait()
		if got := w.image("web"); got != "registry.example.com/web:2" || time.Since(start) != 0 {
			t.Errorf("the Deployment runs %q %s after the election", got, time.Since(start))
		}
		if got := w.count(func(r applytest.Request) bool { return r.Verb == "list" }) - listed; got != 0 {
			t.Errorf("%d lists to take over", got)
		}
	})
}

// A lease that ends interrupts a sync in the middle of its writes. A stop does not: TestStopDuringWrite.
func TestLeaseEndsDuringWrite(t *testing.T) {
	inWorld(t, setup{}, func(w *world) {
		w.end()
		elected := make(chan struct{})
		close(elected)
		lose := w.startUnder(elected)
		entered, _ := gate(w.server)
		applytest.Put(w.server, applytest.Applications, application("web"))
		<-entered
		start := time.Now()
		lose()
		<-w.stopped
		if waited := time.Since(start); waited != 0 {
			t.Errorf("the work went on for %s", waited)
		}
		if w.deployment("web") != nil {
			t.Error("the interrupted write was carried out")
		}
	})
}
