// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package aggregation

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

const name = "v1alpha1.subresources.apps.fairlead.dev"

// server is what the keeper asks. The test changes it while the keeper runs.
type server struct {
	down atomic.Bool
	ca   atomic.Pointer[string]
	// role is the UID of its ClusterRole; empty if it is not installed.
	role atomic.Pointer[types.UID]
}

// newServer returns a server that is down or answers, with a CA bundle.
func newServer(down bool, ca string) *server {
	s := &server{}
	s.down.Store(down)
	s.ca.Store(&ca)
	s.install("first")
	return s
}

func (s *server) install(role types.UID) { s.role.Store(&role) }

func (s *server) owner(context.Context) (metav1.OwnerReference, error) {
	uid := *s.role.Load()
	if uid == "" {
		return metav1.OwnerReference{}, apierrors.NewNotFound(ClusterRoles.GroupResource(), "fairlead-apiserver")
	}
	return metav1.OwnerReference{Kind: "ClusterRole", Name: "fairlead-apiserver", UID: uid}, nil
}

func (s *server) caBundle() []byte { return []byte(*s.ca.Load()) }

func (s *server) probe(context.Context) error {
	if s.down.Load() {
		return errors.New("connection refused")
	}
	return nil
}

// keeping runs a keeper until the test ends.
func keeping(t *testing.T, asked *server) dynamic.ResourceInterface {
	t.Helper()
	simple := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{APIServices: "APIServiceList"})
	simple.PrependReactor("patch", "apiservices", applyTo(simple.Tracker()))
	client := simple.Resource(APIServices)
	keeper := New(Config{
		Client: client, Version: schema.GroupVersion{Group: "subresources.apps.fairlead.dev", Version: "v1alpha1"},
		Service: Service{Namespace: "fairlead-system", Name: "fairlead-apiserver", Port: 443}, CABundle: asked.caBundle, Owner: asked.owner, Probe: asked.probe,
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		keeper.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return client
}

// applyTo lets an apply create an object, which the fake does not, or replace it.
func applyTo(tracker clienttesting.ObjectTracker) clienttesting.ReactionFunc {
	return func(action clienttesting.Action) (bool, runtime.Object, error) {
		patch, ok := action.(clienttesting.PatchAction)
		if !ok || patch.GetPatchType() != types.ApplyPatchType {
			return false, nil, nil
		}
		applied := &unstructured.Unstructured{}
		if err := applied.UnmarshalJSON(patch.GetPatch()); err != nil {
			return true, nil, err
		}
		err := tracker.Create(APIServices, applied, "")
		if apierrors.IsAlreadyExists(err) {
			err = tracker.Update(APIServices, applied, "")
		}
		return true, applied, err
	}
}

// after lets time pass and returns the APIService, or nil.
func after(t *testing.T, d time.Duration, client dynamic.ResourceInterface) *unstructured.Unstructured {
	t.Helper()
	<-time.After(d + time.Millisecond)
	synctest.Wait()
	found, err := client.Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestOutage: the APIService exists only while the server answers; a short outage, such as a rollout, does not count.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := newServer(true, "ca")
		client := keeping(t, asked)
		if found := after(t, time.Hour, client); found != nil {
			t.Error("the APIService exists before the server has answered")
		}
		asked.down.Store(false)
		found := after(t, Period, client)
		if found == nil {
			t.Fatal("there is no APIService although the server answers")
		}
		if minimum, _, _ := unstructured.NestedInt64(found.Object, "spec", "groupPriorityMinimum"); minimum != 100 {
			t.Errorf("groupPriorityMinimum %d", minimum)
		}
		asked.down.Store(true)
		if after(t, MaxDowntime-2*Period, client) == nil {
			t.Error("a short outage removed the APIService")
		}
		asked.down.Store(false)
		after(t, Period, client)
		asked.down.Store(true)
		if after(t, MaxDowntime+Period, client) != nil {
			t.Error("the APIService exists after two minutes without an answer")
		}
		asked.down.Store(false)
		if after(t, Period, client) == nil {
			t.Error("the APIService did not come back with the server")
		}
	})
}

// TestUnreachable: the server answers the keeper but not kube-apiserver, which a firewall may cause. Then the APIService exists for
// two minutes in half an hour, and as long as it likes once kube-apiserver reaches the server.
func TestUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := newServer(false, "ca")
		client := keeping(t, asked)
		says := func(available string) {
			t.Helper()
			live, err := client.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			live.Object["status"] = map[string]any{"conditions": []any{map[string]any{
				"type": "Available", "status": available, "reason": "FailedDiscoveryCheck", "message": "context deadline exceeded",
			}}}
			if _, err := client.Update(t.Context(), live, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		after(t, Period, client)
		says("False")
		if after(t, MaxDowntime-Period, client) == nil {
			t.Error("a short time without availability removed the APIService")
		}
		says("True")
		after(t, Period, client)
		// The server comes back after an outage, and kube-apiserver notices it later.
		asked.down.Store(true)
		says("False")
		after(t, MaxDowntime-2*Period, client)
		asked.down.Store(false)
		if after(t, MaxDowntime-Period, client) == nil {
			t.Error("the time of an outage counts as one in which kube-apiserver did not reach the server")
		}
		if after(t, 2*Period, client) != nil {
			t.Error("the APIService exists after two minutes in which kube-apiserver did not reach the server")
		}
		if after(t, RetryAfter-2*Period, client) != nil {
			t.Error("the APIService came back at once")
		}
		if after(t, 3*Period, client) == nil {
			t.Error("the APIService does not come back")
		}
		if after(t, RetryAfter, client) == nil {
			t.Error("without a condition, the APIService is removed")
		}
	})
}

// TestNewCA: a rotation reaches the APIService within one period.
func TestNewCA(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := newServer(false, "")
		client := keeping(t, asked)
		if after(t, Period, client) != nil {
			t.Error("the APIService exists before there is a CA")
		}
		one, two := "one", "one, two"
		asked.ca.Store(&one)
		after(t, Period, client)
		asked.ca.Store(&two)
		if found := after(t, Period, client); found == nil || string(caBundleOf(found)) != two {
			t.Errorf("the APIService is %v", found)
		}
	})
}

// TestForeign: an APIService of another owner is neither changed nor deleted.
func TestForeign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := newServer(true, "ca")
		client := keeping(t, asked)
		foreign := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": name}}}
		if _, err := client.Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if after(t, MaxDowntime+Period, client) == nil {
			t.Error("the keeper deleted a foreign APIService")
		}
		asked.down.Store(false)
		if found := after(t, Period, client); found == nil || found.Object["spec"] != nil {
			t.Errorf("the keeper changed a foreign APIService: %v", found)
		}
	})
}

// TestOwner: the APIService belongs to the installation, and a later one takes it over.
func TestOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := newServer(false, "ca")
		asked.install("")
		client := keeping(t, asked)
		if after(t, Period, client) != nil {
			t.Error("the APIService exists although the server is not installed")
		}
		for _, installed := range []types.UID{"first", "second"} {
			asked.install(installed)
			found := after(t, Period, client)
			if found == nil || len(found.GetOwnerReferences()) != 1 || found.GetOwnerReferences()[0].UID != installed {
				t.Errorf("the APIService of the %s installation is %v", installed, found)
			}
		}
	})
}
