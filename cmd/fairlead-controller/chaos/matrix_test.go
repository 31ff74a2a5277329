// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
)

// TestF01Crash ends the process around the nth write of a create, an update and a delete. The explorer tries other writes.
func TestF01Crash(t *testing.T) {
	t.Parallel()
	for _, k := range []string{"1", "3", "8"} {
		for _, when := range []moment{before, sent, answered} {
			t.Run(k+" "+string(when), func(t *testing.T) {
				replay(t, strings.NewReplacer("K", k, "WHEN", string(when)).Replace(`
					crash K WHEN
					create a full
					wait
					crash K WHEN
					edit a no-config
					edit a other-ports
					wait
					crash K WHEN
					delete a background
					wait
					create a orphan
					wait
					crash K WHEN
					delete a foreground
				`))
			})
		}
	}
}

// TestF02StaleChildren freezes the watch of a child while the Application is edited twice.
func TestF02StaleChildren(t *testing.T) {
	t.Parallel()
	for _, resource := range []string{"deployments", "services", "configmaps"} {
		t.Run(resource, func(t *testing.T) {
			replay(t, strings.ReplaceAll(`
				create a full
				wait
				freeze WATCH
				edit a config
				let 300ms
				edit a two-routes
				let 1s
				thaw
			`, "WATCH", resource))
		})
	}
}

// TestF03RecreatedUnseen deletes an Application and creates another of its name, which the controller sees late, or only in
// part.
func TestF03RecreatedUnseen(t *testing.T) {
	t.Parallel()
	for _, resource := range []string{"applications", "deployments", "services"} {
		t.Run(resource, func(t *testing.T) {
			replay(t, strings.ReplaceAll(`
				create a full
				wait
				freeze WATCH
				recreate a orphan
				let 1s
				thaw
				wait
				freeze WATCH
				recreate a small
				let 1s
				thaw
			`, "WATCH", resource))
		})
	}
}

// TestF05Gone ends each watch with 410 Gone. The caches are listed again, and nothing is written.
func TestF05Gone(t *testing.T) {
	undisturbed(t, func(_ context.Context, w *world) {
		for _, resource := range watched {
			w.network.relist(resource)
		}
	})
}

// TestF06SpoiledWatch garbles each watch, or cuts it off in the middle of an event.
func TestF06SpoiledWatch(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"garble", "truncate"} {
		t.Run(how, func(t *testing.T) {
			replay(t, strings.ReplaceAll(`
				create a full
				wait
				spoil applications HOW
				spoil deployments HOW
				spoil services HOW
				edit a image
				edit a config
			`, "HOW", how))
		})
	}
}

// silence is how long the controller may take to follow an edit after its connections went silent. A busy machine needs
// more than the 45 seconds of a ping, and without one the watches would stay for 5 minutes at least.
const silence = 4 * time.Minute

// TestF07BlackHole lets all connections go silent. The controller notices by an HTTP/2 ping.
func TestF07BlackHole(t *testing.T) {
	t.Parallel()
	hole := &blackHole{}
	defer hole.close()
	w := worldOf(t, newRunner(t).cluster, func(config *app.Config) { config.Client.Dial = hole.dial })
	do(t, w, "create a small")
	waitReady(t, w)
	hole.swallow()
	begin := time.Now()
	do(t, w, "edit a image")
	err := wait.PollUntilContextTimeout(t.Context(), period, silence, true, func(ctx context.Context) (bool, error) {
		application, err := w.fairlead.AppsV1().Applications(w.namespace).Get(ctx, "a", metav1.GetOptions{})
		return err == nil && application.Status.ObservedGeneration == application.Generation, err
	})
	took := time.Since(begin).Round(time.Second)
	if err != nil {
		t.Fatalf("the edit was not followed within %s: %v\n%s", took, err, w.log.tail(50))
	}
	t.Logf("the edit was followed %s after the connections went silent", took)
}

// TestF10LostAnswers refuses writes, or loses the answers to those that the API server has carried out.
func TestF10LostAnswers(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"refuse K 409", "refuse K 429", "refuse K 500", "refuse K 503", "lose K before", "lose K sent"} {
		t.Run(fault, func(t *testing.T) {
			replay(t, strings.ReplaceAll(`
				`+strings.ReplaceAll(fault, "K", "1")+`
				FAULT
				create a full
				wait
				FAULT
				edit a no-config
				edit a image
				wait
				FAULT
				deletion a Orphan
			`, "FAULT", strings.ReplaceAll(fault, "K", "3")))
		})
	}
}

// TestF12PausedLeader pauses the leader of two replicas for longer than its lease. The other one takes over, and what the first
// had sent arrives when it goes on.
func TestF12PausedLeader(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]string{
		"idle":          "wait",
		"with an edit":  "edit a config",
		"killed":        "kill",
		"taken back":    "edit a no-config",
		"created again": "recreate a small",
	} {
		t.Run(name, func(t *testing.T) {
			replay(t, strings.ReplaceAll(`
				replicas 2
				create a full
				create b orphan
				wait
				edit a other-ports
				edit a no-config
				pause takeover
				edit a config
				BETWEEN
				resume
				edit a image
				wait
				edit b image
				pause briefly
				BETWEEN
				resume
			`, "BETWEEN", between))
		})
	}
}

// TestF12LeaseOfTwo deletes the Lease of two replicas, and gives it away.
func TestF12LeaseOfTwo(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"delete", "give"} {
		t.Run(how, func(t *testing.T) {
			replay(t, strings.ReplaceAll(`
				replicas 2
				create a full
				lease HOW
				edit a config
				let 3s
				edit a image
				wait
				lease HOW
				edit a no-ports
				kill
				edit a ports
				replicas 1
				wait
			`, "HOW", how))
		})
	}
}

// TestF15Revoked takes the permission for one kind away. The others go on.
func TestF15Revoked(t *testing.T) {
	t.Parallel()
	for _, resource := range []string{"services", "configmaps", "pods"} {
		t.Run(resource, func(t *testing.T) {
			replay(t, strings.ReplaceAll(`
				create a full
				wait
				forbid KIND
				edit a image
				edit a config
				edit a no-ports
				let 3s
				permit
			`, "KIND", resource))
		})
	}
}

// TestF17Killed kills the process, as the kernel does when memory runs out, while it creates, changes and deletes. The next
// one is killed soon after its start.
func TestF17Killed(t *testing.T) {
	t.Parallel()
	for _, moment := range []string{"50ms", "300ms", "1s"} {
		t.Run(moment, func(t *testing.T) {
			replay(t, strings.ReplaceAll(`
				create a full
				create b orphan
				let MOMENT
				kill
				let MOMENT
				kill
				wait
				edit a no-config
				edit a other-ports
				deletion b Delete
				let MOMENT
				kill
				wait
				recreate a small
				delete b background
				let MOMENT
				kill
				let MOMENT
				kill
			`, "MOMENT", moment))
		})
	}
}

// TestF20BlockedDeletion deletes an Application that another controller's finalizer holds, and a child that one holds.
func TestF20BlockedDeletion(t *testing.T) {
	t.Parallel()
	for _, propagation := range propagations {
		t.Run(propagation, func(t *testing.T) {
			replay(t, strings.ReplaceAll(`
				create a full
				create b orphan
				wait
				child a services hold
				hold a on
				hold b on
				delete a HOW
				delete b HOW
				let 1s
				restart
				let 1s
				hold b off
			`, "HOW", propagation))
		})
	}
}
