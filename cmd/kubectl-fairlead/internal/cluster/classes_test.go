// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

// TestLoadClassesMissing: a user without permission to list classes does not learn that there is none.
func TestLoadClassesMissing(t *testing.T) {
	forbidden := fake.NewClientset()
	forbidden.PrependReactor("list", v1.ApplicationClassResource, func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: v1.ApplicationClassResource}, "", nil)
	})
	unserved := fake.NewClientset()
	unserved.PrependReactor("list", v1.ApplicationClassResource, func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewGenericServerResponse(404, "list", schema.GroupResource{Resource: v1.ApplicationClassResource}, "", "", 0, true)
	})
	for _, test := range []struct {
		name   string
		client *fake.Clientset
		want   bool
	}{
		{"none", fake.NewClientset(), true},
		{"one", fake.NewClientset(&v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: "gold"}}), false},
		{"forbidden", forbidden, false},
		{"without the CRD", unserved, true},
	} {
		loaded := clustertest.Load(t, "image")
		if err := (&cluster.Clients{Fairlead: test.client}).LoadClassesMissing(t.Context(), loaded); err != nil || loaded.ClassesMissing != test.want {
			t.Errorf("%s: missing is %t, %v, want %t", test.name, loaded.ClassesMissing, err, test.want)
		}
	}
}

// TestLoadMaxReplicas: a user who cannot read the class does not learn its limit, and nothing fails.
func TestLoadMaxReplicas(t *testing.T) {
	forbidden := fake.NewClientset()
	forbidden.PrependReactor("get", v1.ApplicationClassResource, func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: v1.ApplicationClassResource}, "gold", nil)
	})
	unanswered := fake.NewClientset()
	unanswered.PrependReactor("get", v1.ApplicationClassResource, func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewTimeoutError("the server is overloaded", 1)
	})
	class := func(limits *v1.ApplicationLimits) *fake.Clientset {
		return fake.NewClientset(&v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: "gold"}, Spec: v1.ApplicationClassSpec{Limits: limits}})
	}
	gold := &v1.AppliedClass{Name: "gold"}
	for _, test := range []struct {
		name    string
		client  *fake.Clientset
		applied *v1.AppliedClass
		want    int32 // -1 is none
	}{
		{"a limit", class(&v1.ApplicationLimits{MaxReplicas: new(int32(4))}), gold, 4},
		{"other limits", class(&v1.ApplicationLimits{}), gold, -1},
		{"no limits", class(nil), gold, -1},
		{"no class", forbidden, nil, -1},
		{"a class that is gone", fake.NewClientset(), gold, -1},
		{"forbidden", forbidden, gold, -1},
		{"no answer", unanswered, gold, -1},
	} {
		loaded := clustertest.Load(t, "image")
		loaded.Application.Status.Class = test.applied
		got := int32(-1)
		(&cluster.Clients{Fairlead: test.client}).LoadMaxReplicas(t.Context(), loaded)
		if loaded.MaxReplicas != nil {
			got = *loaded.MaxReplicas
		}
		if got != test.want || len(loaded.Unreadable) > 0 {
			t.Errorf("%s: %d, want %d; unreadable: %v", test.name, got, test.want, loaded.Unreadable)
		}
	}
}
