// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
)

// TestNoServingPod: that the user may not list something does not mean that no pod is ready.
func TestNoServingPod(t *testing.T) {
	const ask = "\nAsk for the permission, or pass another --context or --namespace.\n"
	for hidden, want := range map[string]string{
		"":                        "error: no pod of shop/web is ready: see 'kubectl fairlead -n shop why web'\n",
		"pods":                    `error: pods is forbidden: User "dev" cannot list them` + ask,
		"pods replicasets":        `error: pods is forbidden: User "dev" cannot list them` + ask,
		"replicasets":             "error: no pod of shop/web is known to be ready, because you may not list replicasets\n",
		"deployments":             "error: no pod of shop/web is known to be ready, because you may not list deployments\n",
		"deployments replicasets": "error: no pod of shop/web is known to be ready, because you may not list deployments, replicasets\n",
	} {
		answers := withWeb(map[string]string{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			resource := path.Base(r.URL.Path)
			switch answer, found := answers[r.URL.Path]; {
			case found:
				_, _ = io.WriteString(w, answer)
			case slices.Contains(strings.Fields(hidden), resource):
				w.WriteHeader(http.StatusForbidden)
				_ = json.NewEncoder(w).Encode(metav1.Status{
					TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden, Message: resource + ` is forbidden: User "dev" cannot list them`,
				})
			default:
				_, _ = io.WriteString(w, `{"kind": "List", "apiVersion": "v1", "metadata": {}, "items": []}`)
			}
		}))
		for _, command := range []string{"exec web -- true", "port-forward web 8080"} {
			var said bytes.Buffer
			code := Run(t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: &said}, append([]string{
				"-n", "shop", "--server", server.URL, "--kubeconfig", os.DevNull, "--cache-dir", t.TempDir(),
			}, strings.Fields(command)...))
			if code != ExitError || said.String() != want {
				t.Errorf("%s without %q: %d, %q, want %q", command, hidden, code, said.String(), want)
			}
		}
		server.Close()
	}
}

// TestServingPod: a user with permission to list the pods alone still reaches the newest of those that are ready.
func TestServingPod(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	first := servingPod(loaded)
	if first == "" {
		t.Fatal("no pod serves")
	}
	loaded.Children, loaded.ReplicaSets = nil, nil
	if got := servingPod(loaded); got != "" {
		t.Errorf("%q, although no Deployment has it", got)
	}
	loaded.Unreadable = map[string]error{"deployments": os.ErrPermission}
	newest := loaded.Pods[1]
	newest.CreationTimestamp.Time = newest.CreationTimestamp.Add(1)
	if got := servingPod(loaded); got != newest.Name {
		t.Errorf("%q, want %q", got, newest.Name)
	}
	now := metav1.Now()
	newest.DeletionTimestamp = &now
	if got := servingPod(loaded); got == "" || got == newest.Name {
		t.Errorf("%q is being deleted", got)
	}
	for _, pod := range loaded.Pods {
		pod.Status.Conditions = nil
	}
	if got := servingPod(loaded); got != "" {
		t.Errorf("%q is not ready", got)
	}
}
