// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/workqueue"
)

// Only what a sync would see queues a key; see TestSamePod for what that is.
func TestKeysOfPods(t *testing.T) {
	pod := func(application, why string) *child.Pod {
		p := &child.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-1-x"}, Application: application}
		if why != "" {
			p.Problems = &child.PodProblems{Failed: &child.ReasonMessage{Reason: why}}
		}
		return p
	}
	replicaSet := func(revision string) *child.ReplicaSet {
		return &child.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-1"}, Application: "web", Revision: revision}
	}
	for _, test := range []struct {
		name  string
		event func(h *handlers)
		want  []string
	}{
		{"pod added", func(h *handlers) { h.PodChanged(nil, pod("web", ""), false) }, nil},
		{"pod added in trouble", func(h *handlers) { h.PodChanged(nil, pod("web", "Evicted"), false) }, []string{"web PodAdded"}},
		{"pod listed in trouble", func(h *handlers) { h.PodChanged(nil, pod("web", "Evicted"), true) }, []string{"web PodListed"}},
		{"pod unchanged", func(h *handlers) { h.PodChanged(pod("web", "Evicted"), pod("web", "Evicted"), false) }, nil},
		{"pod in trouble", func(h *handlers) { h.PodChanged(pod("web", ""), pod("web", "Evicted"), false) }, []string{"web PodUpdated", "web PodUpdated"}},
		{"pod of another Application", func(h *handlers) { h.PodChanged(pod("web", "Evicted"), pod("api", "Evicted"), false) }, []string{"web PodUpdated", "api PodUpdated"}},
		{"pod gone", func(h *handlers) { h.PodChanged(pod("web", "Evicted"), nil, false) }, []string{"web PodDeleted"}},
		{"pod of nobody", func(h *handlers) { h.PodChanged(nil, pod("", "Evicted"), false) }, nil},
		{"ReplicaSet added", func(h *handlers) { h.ReplicaSetChanged(nil, replicaSet("1"), false) }, []string{"web ReplicaSetAdded"}},
		{"ReplicaSet unchanged", func(h *handlers) { h.ReplicaSetChanged(replicaSet("1"), replicaSet("1"), false) }, nil},
		{"ReplicaSet current again", func(h *handlers) { h.ReplicaSetChanged(replicaSet("1"), replicaSet("3"), false) }, []string{"web ReplicaSetUpdated", "web ReplicaSetUpdated"}},
		{"ReplicaSet gone", func(h *handlers) { h.ReplicaSetChanged(replicaSet("1"), nil, false) }, []string{"web ReplicaSetDeleted"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			test.event(&handlers{enqueue: func(key cache.ObjectName, trigger workqueue.Trigger) {
				got = append(got, key.Name+" "+trigger.String())
			}})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("queued (-want +got):\n%s", diff)
			}
		})
	}
}
