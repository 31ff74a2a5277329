// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
)

// TestLoadMissingSecrets: a Secret that the user may not read is not missing, and the plugin asks for the content of none.
func TestLoadMissingSecrets(t *testing.T) {
	loaded := clustertest.Load(t, "image")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if accept := r.Header.Get("Accept"); !strings.Contains(accept, "as=PartialObjectMetadata") {
			t.Errorf("%s accepts %q, and so the whole Secret", r.URL.Path, accept)
		}
		var failed *apierrors.StatusError
		switch name := path.Base(r.URL.Path); name {
		case "missing":
			failed = apierrors.NewNotFound(corev1.Resource("secrets"), name)
		case "hidden":
			failed = apierrors.NewForbidden(corev1.Resource("secrets"), name, nil)
		case "broken":
			failed = apierrors.NewUnauthorized("broken")
		}
		var answer any = metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}}
		w.Header().Set("Content-Type", "application/json")
		if failed != nil {
			w.WriteHeader(int(failed.ErrStatus.Code))
			failed.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
			answer = failed.ErrStatus
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	clients, err := cluster.New(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
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
