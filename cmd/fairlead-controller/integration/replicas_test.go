// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const leaseName = "fairlead-controller"

// replica is one of several controllers of a namespace. Its user agent tells which.
type replica struct {
	e     *env
	agent string
	// identity is what it writes into the Lease.
	identity string
	log      *recentLog
	cancel   context.CancelFunc
	done     chan struct{}
	err      error
}

// releasedLease creates the Lease that an installation contains, so that no replica has to wait for a previous
// leader.
func (e *env) releasedLease() {
	e.Helper()
	_, err := e.kube.CoordinationV1().Leases(e.namespace).Create(e.Context(),
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: leaseName}}, metav1.CreateOptions{})
	if err != nil {
		e.Fatal(err)
	}
}

// replica starts a controller that takes part in the leader election.
func (e *env) replica(name string, mutate ...func(*setup)) *replica {
	e.Helper()
	r := &replica{e: e, agent: controllerAgent + name, log: &recentLog{}, done: make(chan struct{})}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), r.log.logger()))
	r.cancel = cancel
	config, err := e.config(ctx, append([]func(*setup){func(s *setup) {
		s.OperatorNamespace = e.namespace
		s.LeaderElection.Enabled = true
		s.LeaderElection.LeaseDuration = 6 * time.Second
		s.LeaderElection.RenewDeadline = 4 * time.Second
		s.LeaderElection.RetryPeriod = 500 * time.Millisecond
		s.Config = func(config *app.Config) {
			config.Client.UserAgent = r.agent
			config.LeaderElection.Identity = name
			r.identity = name
		}
	}}, mutate...)...)
	if err != nil {
		cancel()
		e.Fatalf("start %s: %v", name, err)
	}
	go func() {
		defer close(r.done)
		r.err = app.Run(ctx, config)
	}()
	e.Cleanup(func() {
		cancel()
		<-r.done
	})
	return r
}

// waitFor waits until the replica has logged the text.
func (r *replica) waitFor(text string) string {
	r.e.Helper()
	var line string
	r.e.eventually(fmt.Sprintf("%s says %q", r.identity, text), func() (bool, string) {
		line = r.log.find(text)
		return line != "", r.log.last(20)
	})
	return line
}

// ended waits until the replica has ended, and returns its error.
func (r *replica) ended() error {
	r.e.Helper()
	select {
	case <-r.done:
		return r.err
	case <-time.After(stopTimeout):
		r.e.Fatalf("%s did not end", r.identity)
		return nil
	}
}

// wrote returns what the replica wrote in the namespace, but Leases and Events.
func (r *replica) wrote(since *controlplane.AuditCursor) []controlplane.AuditEvent {
	r.e.Helper()
	return since.Events(r.e.TB, controlplane.FromUserAgent(r.agent), controlplane.InNamespace(r.e.namespace), controlplane.Writes(),
		func(event *controlplane.AuditEvent) bool {
			return event.Resource != "events" && event.Resource != "leases"
		})
}

// oneAfterTheOther fails the test if the replicas wrote at the same time, and returns when the first
// write of the second one was done.
func (e *env) oneAfterTheOther(since *controlplane.AuditCursor, first, second *replica) time.Time {
	e.Helper()
	before, after := first.wrote(since), second.wrote(since)
	if len(before) == 0 || len(after) == 0 {
		e.Fatalf("%s wrote %d times, %s %d times\n%s", first.identity, len(before), second.identity, len(after), second.log.last(40))
	}
	begin := after[0]
	for _, event := range after {
		if event.Received.Before(begin.Received) {
			begin = event
		}
	}
	for _, event := range before {
		if !event.Completed.Before(begin.Received) {
			e.Errorf("%s still wrote: %s, after %s had begun: %s", first.identity, event, second.identity, begin)
		}
	}
	return begin.Completed
}

// TestF12Takeover stops the leader of two replicas while it works (G8).
func TestF12Takeover(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	e.releasedLease()
	since := e.cluster.AuditCursor(t)
	one := e.replica("one")
	one.waitFor("Starting workers")
	two := e.replica("two")
	two.waitFor("Caches synced")
	e.apply(named(small, "before"))
	e.waitReady("before")

	takeover := e.cluster.AuditCursor(t)
	stopped := time.Now()
	one.cancel()
	e.apply(named(small, "meanwhile"))
	e.waitReady("meanwhile")
	if err := one.ended(); err != nil {
		t.Errorf("a stop is no error, but it returned %v", err)
	}
	first := e.oneAfterTheOther(since, one, two)
	t.Logf("first write of the successor %s after the stop", first.Sub(stopped).Round(time.Millisecond))
	lists := takeover.Events(t, controlplane.FromUserAgent(two.agent), controlplane.WithVerb("list"))
	if len(lists) > 0 {
		t.Errorf("the successor's caches were not warm, it listed: %v", lists)
	}
}

// TestF12LeaseTaken changes the Lease under a leader that writes all the time.
func TestF12LeaseTaken(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *env){
		"deleted": func(t *testing.T, e *env) {
			if err := e.kube.CoordinationV1().Leases(e.namespace).Delete(t.Context(), leaseName, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		},
		"given away": func(t *testing.T, e *env) {
			patch := []byte(`{"spec":{"holderIdentity":"two"}}`)
			if _, err := e.kube.CoordinationV1().Leases(e.namespace).Patch(t.Context(), leaseName, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, shared.Get(t))
			e.releasedLease()
			since := e.cluster.AuditCursor(t)
			one := e.replica("one")
			one.waitFor("Starting workers")
			two := e.replica("two")
			two.waitFor("Caches synced")
			stop := e.churn()
			e.eventually("the leader writes", func() (bool, string) { return len(one.wrote(since)) > 5, "" })
			change(t, e)
			// The first replica to create a deleted Lease holds it; often that is the leader.
			e.eventually("somebody leads for longer than a lease lasts", func() (bool, string) {
				if len(two.wrote(since)) > 0 {
					return true, ""
				}
				lease, err := e.kube.CoordinationV1().Leases(e.namespace).Get(t.Context(), leaseName, metav1.GetOptions{})
				if err != nil || lease.Spec.RenewTime == nil || name != "deleted" {
					return false, fmt.Sprint(lease, err)
				}
				return lease.Spec.RenewTime.Sub(lease.CreationTimestamp.Time) > 8*time.Second, lease.String()
			})
			stop()
			if len(two.wrote(since)) == 0 {
				if name != "deleted" {
					t.Errorf("the new holder wrote nothing\n%s", two.log.last(40))
				}
				return
			}
			if err := one.ended(); err == nil || !strings.Contains(err.Error(), "the lease is lost") {
				t.Errorf("the old leader ended with %v", err)
			}
			e.oneAfterTheOther(since, one, two)
		})
	}
}

// churn changes an Application ten times a second, until the returned function is called.
func (e *env) churn() (stop func()) {
	e.Helper()
	e.apply(named(small, "churn"))
	ctx, cancel := context.WithCancel(e.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			patch := fmt.Appendf(nil, `{"spec":{"image":"registry.example.com/churn:%d"}}`, i)
			_, err := e.fairlead.AppsV1().Applications(e.namespace).Patch(ctx, "churn", types.MergePatchType, patch, metav1.PatchOptions{})
			if err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) {
				e.Errorf("change the Application: %v", err)
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
