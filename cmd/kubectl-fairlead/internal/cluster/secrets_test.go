// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
)

// TestLoadMissingSecrets: a Secret that the user may not read is not missing.
func TestLoadMissingSecrets(t *testing.T) {
	loaded := clustertest.Load(t, "image")
	there := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: loaded.Application.Namespace, Name: "there"}}
	kube := fake.NewClientset(there)
	refuse := func(name string, err error) {
		kube.PrependReactor("get", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
			return action.(clienttesting.GetAction).GetName() == name, nil, err
		})
	}
	refuse("hidden", apierrors.NewForbidden(corev1.Resource("secrets"), "hidden", errors.New("no")))
	refuse("broken", errors.New("broken"))
	clients := &cluster.Clients{Kube: kube}
	if err := clients.LoadMissingSecrets(t.Context(), loaded, []string{"missing", "there", "hidden"}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"missing"}; !slices.Equal(loaded.MissingSecrets, want) {
		t.Errorf("missing are %q, want %q", loaded.MissingSecrets, want)
	}
	if err := clients.LoadMissingSecrets(t.Context(), loaded, []string{"broken"}); err == nil || err.Error() != "get Secret broken: broken" {
		t.Errorf("the error is %v", err)
	}
}
