// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	if first, earlier := servingPod(loaded); first == "" || earlier {
		t.Fatalf("%q, earlier %t: want a pod of the current revision", first, earlier)
	}
	loaded.Children, loaded.ReplicaSets = nil, nil
	if got, _ := servingPod(loaded); got != "" {
		t.Errorf("%q, although no Deployment has it", got)
	}
	loaded.Unreadable = map[string]error{"deployments": os.ErrPermission}
	newest := loaded.Pods[1]
	newest.CreationTimestamp.Time = newest.CreationTimestamp.Add(1)
	if got, _ := servingPod(loaded); got != newest.Name {
		t.Errorf("%q, want %q", got, newest.Name)
	}
	now := metav1.Now()
	newest.DeletionTimestamp = &now
	if got, _ := servingPod(loaded); got == "" || got == newest.Name {
		t.Errorf("%q is being deleted", got)
	}
	for _, pod := range loaded.Pods {
		pod.Status.Conditions = nil
	}
	if got, _ := servingPod(loaded); got != "" {
		t.Errorf("%q is not ready", got)
	}
}

// TestServingPodOfAnEarlierRevision: during a stuck rollout only the old pods are ready, and have none of what the user changed.
func TestServingPodOfAnEarlierRevision(t *testing.T) {
	const said = "No pod of the current revision is ready: pod web-old-1 is of an earlier one.\n"
	const (
		apps = "/apis/apps/v1/namespaces/shop/"
		core = "/api/v1/namespaces/shop/"
	)
	for newReady, want := range map[string]string{"False": said, "True": ""} {
		answers := withWeb(map[string]string{
			core + "pods": `{"apiVersion": "v1", "kind": "PodList", "items": [` + podOf("old", "True") + "," + podOf("new", newReady) + `]}`,
			apps + "deployments": `{"apiVersion": "apps/v1", "kind": "DeploymentList", "items": [{"metadata": {"namespace": "shop", "name": "web", "uid": "deployment",
				"annotations": {"deployment.kubernetes.io/revision": "2"},
				"ownerReferences": [{"apiVersion": "apps.fairlead.dev/v1", "kind": "Application", "name": "web", "uid": "web", "controller": true}]}}]}`,
			apps + "replicasets": `{"apiVersion": "apps/v1", "kind": "ReplicaSetList", "items": [` + replicaSetOf("old", "1") + "," + replicaSetOf("new", "2") + `]}`,
		})
		answers["/apis/apps.fairlead.dev/v1/namespaces/shop/applications/web"] = `{"apiVersion": "apps.fairlead.dev/v1", "kind": "Application",
			"metadata": {"namespace": "shop", "name": "web", "uid": "web"}}`
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			answer, found := answers[r.URL.Path]
			if !found {
				answer = `{"kind": "List", "apiVersion": "v1", "metadata": {}, "items": []}`
			}
			_, _ = io.WriteString(w, answer)
		}))
		// The Application has no ports, so port-forward ends before it would last.
		var printed bytes.Buffer
		code := Run(t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: &printed}, []string{
			"-n", "shop", "--server", server.URL, "--kubeconfig", os.DevNull, "--cache-dir", t.TempDir(), "port-forward", "web",
		})
		server.Close()
		if want += "error: web has no ports: name one\n"; code != ExitError || printed.String() != want {
			t.Errorf("new pods ready %s: %d, %q, want %q", newReady, code, printed.String(), want)
		}
	}
}

func replicaSetOf(revision, number string) string {
	return fmt.Sprintf(`{"metadata": {"namespace": "shop", "name": "web-%[1]s", "uid": "%[1]s", "annotations": {"deployment.kubernetes.io/revision": %[2]q},
		"ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "deployment", "controller": true}]},
		"spec": {"replicas": 1}, "status": {"replicas": 1}}`, revision, number)
}

func podOf(revision, ready string) string {
	return fmt.Sprintf(`{"metadata": {"namespace": "shop", "name": "web-%[1]s-1",
		"ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-%[1]s", "uid": "%[1]s", "controller": true}]},
		"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": %[2]q}]}}`, revision, ready)
}
