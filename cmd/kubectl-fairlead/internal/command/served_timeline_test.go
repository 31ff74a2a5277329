// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

// TestServedTimeline: what the server says comes out as what a controller says, and without a server the plugin asks a controller.
func TestServedTimeline(t *testing.T) {
	noon := time.Date(2026, time.January, 2, 12, 0, 0, 0, time.UTC)
	answer := &v1alpha1.ApplicationTimeline{Instance: "one", Truncated: true, Events: []v1alpha1.TimelineEvent{{
		Sequence: 7, Time: metav1.NewMicroTime(noon), Stage: "apply", Type: "Wrote", Sync: 3, Resource: "deployments.apps", Object: "web", Reason: "changed",
		Result: "Success", Fields: []string{"spec.replicas"}, Verb: "apply", Code: 200, Count: 1, Failures: 2, Microseconds: 2500,
	}}}
	for name, failure := range map[string]error{"served": nil, "not served": errors.New("404 page not found")} {
		fairlead := fake.NewClientset()
		fairlead.PrependReactor("get", "applications", func(clienttesting.Action) (bool, runtime.Object, error) { return true, answer, failure })
		got, served := (&tool{connected: &cluster.Clients{Fairlead: fairlead}}).servedTimeline(t.Context(), "shop", "web")
		if served != (failure == nil) {
			t.Fatalf("%s: served %v", name, served)
		}
		if !served {
			continue
		}
		web := debug.Name{Namespace: "shop", Name: "web"}
		want := debug.Timeline{Version: debug.Version, Instance: "one", Truncated: true, Sequence: 7, Key: debug.Key{Name: web}, Events: []debug.Event{{
			Sequence: 7, Time: noon, Stage: debug.StageApply, Type: debug.TypeWrote, Key: &web, Sync: 3, Resource: "deployments.apps", Object: &web, Reason: "changed",
			Result: "Success", Fields: []string{"spec.replicas"}, Verb: "apply", Code: 200, Count: 1, Failures: 2, Milliseconds: 2.5,
		}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}
