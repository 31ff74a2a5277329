// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/costly"
)

const (
	// shippedLimit is the limit of memory in artifacts/controller/deployment.yaml.
	shippedLimit = 1 << 30
	// mostStatusBytes is more than any status takes; see pkg/status/bounds.go.
	mostStatusBytes = 64 << 10
)

// TestF22LargestApplications has a hundred of the largest Applications that the schema admits, in ten namespaces, since
// those of one take turns. Each gets a status, and the controller stays within the memory that its Deployment permits. The
// heap is that of the whole test, so no other test may run meanwhile.
func TestF22LargestApplications(t *testing.T) {
	cluster := newRunner(t).cluster
	var namespaces []string
	for range 10 {
		other, err := newNamespace(t.Context(), cluster)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := other.close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		namespaces = append(namespaces, other.namespace)
	}
	w := worldOf(t, cluster, func(config *app.Config) { config.Namespaces = namespaces })
	var peak uint64
	measure := func() {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		peak = max(peak, stats.HeapInuse)
	}
	var unobserved []cache.ObjectName
	for i := range 100 {
		application := largest(i)
		application.Namespace = namespaces[i%len(namespaces)]
		_, err := w.fairlead.AppsV1().Applications(application.Namespace).Create(t.Context(), application, metav1.CreateOptions{FieldManager: user})
		if err != nil {
			t.Fatal(err)
		}
		unobserved = append(unobserved, cache.MetaObjectToName(application))
		measure()
	}
	err := wait.PollUntilContextTimeout(t.Context(), 5*period, convergence, true, func(ctx context.Context) (bool, error) {
		unobserved = slices.DeleteFunc(unobserved, func(name cache.ObjectName) bool {
			measure()
			return w.isObserved(ctx, t, name)
		})
		return len(unobserved) == 0, w.health()
	})
	if err != nil {
		t.Fatalf("no status yet of %v: %v\n%s", unobserved, err, w.log.tail(50))
	}
	for _, kind := range []string{"deployments", "configmaps", "ingresses"} {
		if w.network.created(kind) == 0 {
			t.Errorf("no %s were created", kind)
		}
	}
	if peak > shippedLimit {
		t.Errorf("the heap took %d MiB, more than the limit of %d MiB", peak>>20, shippedLimit>>20)
	}
	t.Logf("the heap took at most %d MiB", peak>>20)
}

// isObserved reports whether an Application has a status of its generation, which must not be too large.
func (w *world) isObserved(ctx context.Context, t *testing.T, name cache.ObjectName) bool {
	t.Helper()
	application, err := w.fairlead.AppsV1().Applications(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if encoded, err := json.Marshal(application.Status); err != nil || len(encoded) > mostStatusBytes {
		t.Errorf("%s has a status of %d bytes (%v), want at most %d", name, len(encoded), err, mostStatusBytes)
	}
	return application.Status.ObservedGeneration == application.Generation
}

// created returns how many objects of a resource the controller created.
func (n *network) created(resource string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	count := 0
	for _, w := range n.writes {
		if w.ok && w.verb == "create" && w.resource == resource {
			count++
		}
	}
	return count
}

// largest is as large as the API server stores it, each in its own way. They have no pods.
func largest(i int) *v1.Application {
	spec := v1.ApplicationSpec{Image: costly.Image, Args: []string{strings.Repeat("x", 1<<20)}} // Too large to be rendered: its status says so.
	if ways := []string{"config", "routes", "env", "affinity"}; i%5 < len(ways) {
		spec = costly.Specs(fmt.Sprintf("n%d.largest.example.com", i))[ways[i%5]]
	}
	spec.Replicas = new(int32(0))
	return &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("largest-%03d", i)}, Spec: spec}
}
