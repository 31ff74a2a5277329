// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestReady is the shortest way through everything: an Application with a child of every kind
// becomes Ready, with pods that run. It is the example to begin with.
func TestReady(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(full)
	application := e.waitReady("web")
	for _, kind := range namedKinds() {
		if got := resourceStatus(application, kind, childName(kind, "web")); got.State != v1.ResourceSynced || got.UID == "" {
			t.Errorf("status says of the %s: %+v, want %s with a UID", kind, got, v1.ResourceSynced)
		}
	}
	if got := get[appsv1.Deployment](e, "web").Status.AvailableReplicas; got != 2 {
		t.Errorf("%d pods are available, want 2", got)
	}
}

// TestAllNamespaces watches all namespaces, as the controller does by default. It is not parallel,
// because the controllers of other tests would have to share their Applications with this one.
func TestAllNamespaces(t *testing.T) {
	e := start(t, func(s *setup) { s.Namespaces = nil })
	other := newEnv(t, e.cluster)
	e.apply(small)
	other.apply(small)
	e.waitReady("web")
	other.waitReady("web")
	remove[v1.Application](other, "web")
	waitGone[v1.Application](other, "web")
	if application := e.waitReady("web"); application.UID != get[appsv1.Deployment](e, "web").OwnerReferences[0].UID {
		t.Errorf("the Deployment of %s belongs to another Application", e.namespace)
	}
}
