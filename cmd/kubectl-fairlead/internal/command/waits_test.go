// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// transport answers requests in the process, so that a test can have its own time.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }

// TestWaitsWithoutController: also with a request under way at the end of a wait, the message says what did not happen.
func TestWaitsWithoutController(t *testing.T) {
	orphan := &v1.Application{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.ApplicationKind},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1", Generation: 1},
		Spec:       v1.ApplicationSpec{Image: "web", DeletionPolicy: v1.DeletionOrphan},
	}
	promised := orphan.DeepCopy()
	promised.Finalizers, promised.Status.ObservedGeneration = []string{v1.FinalizerOrphan}, 1
	deployment := &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 2,
			Labels:      map[string]string{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: "web"},
			Annotations: map[string]string{v1.AnnotationAdoptableBy: "1"},
		},
	}
	flags := genericclioptions.NewTestConfigFlags().WithClientConfig(clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), nil))
	const notGone = "the Application is being deleted, but was not gone within 1m0s: see 'kubectl fairlead doctor', and run the command again"
	const notEnded = "  Waiting up to 1m0s for the controller to end the Application. If no controller runs, start it: 'kubectl fairlead doctor' looks for one.\n"
	owned := deployment.DeepCopy()
	owned.Name, owned.OwnerReferences = "owned", []metav1.OwnerReference{*metav1.NewControllerRef(orphan, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))}
	for name, test := range map[string]struct {
		application *v1.Application
		wait        func(*testing.T, *tool, *cluster.Clients) error
		want        string
		said        string // while it waits
	}{
		"eject, before the promise": {orphan, func(t *testing.T, tool *tool, clients *cluster.Clients) error {
			return (&ejecting{tool: tool, clients: clients, namespace: "shop", name: "web"}).delete(t.Context(), orphan, nil)
		}, "the controller did not promise within 1m0s that the objects stay, so nothing was deleted: see 'kubectl fairlead doctor', and run the command again",
			"  Waiting up to 1m0s for the controller to promise that the objects stay. If no controller runs, start it: 'kubectl fairlead doctor' looks for one.\n"},
		"eject, before the release": {promised, func(t *testing.T, tool *tool, clients *cluster.Clients) error {
			objects := []left{{Unstructured: &unstructured.Unstructured{Object: map[string]any{"kind": "Deployment", "metadata": map[string]any{"name": "owned"}}}, kind: child.Deployment}}
			return (&ejecting{tool: tool, clients: clients, namespace: "shop", name: "web"}).delete(t.Context(), orphan, objects)
		}, "the controller did not release Deployment owned within 1m0s, so nothing was deleted: see 'kubectl fairlead doctor', and run the command again",
			"  Waiting up to 1m0s for the controller to release Deployment owned. If no controller runs, start it: 'kubectl fairlead doctor' looks for one.\n"},
		"eject, after the deletion": {promised, func(t *testing.T, tool *tool, clients *cluster.Clients) error {
			return (&ejecting{tool: tool, clients: clients, namespace: "shop", name: "web"}).delete(t.Context(), orphan, nil)
		}, notGone, notEnded},
		"adopt --abort, after the deletion": {promised, func(t *testing.T, tool *tool, clients *cluster.Clients) error {
			return (&adopting{tool: tool, clients: clients, namespace: "shop", name: "web", deployment: deployment}).deleteApplication(t.Context(), orphan)
		}, notGone, notEnded},
		"adopt --abort, of a Deployment": {orphan, func(t *testing.T, tool *tool, clients *cluster.Clients) error {
			return (&adopting{tool: tool, clients: clients, namespace: "shop", name: "web", deployment: deployment}).awaitObserved(t.Context())
		}, "the Deployment controller did not look at the Deployment within 1m0s, so nothing says whether pods are being replaced: " +
			"see whether kube-controller-manager runs, then run the command again", ""},
		"adopt": {orphan, func(t *testing.T, tool *tool, clients *cluster.Clients) error {
			a := &adopting{tool: tool, clients: clients, namespace: "shop", name: "web"}
			_, _, err := a.await(t.Context(), func(string) bool { return false })
			return err
		}, "the controller did not adopt the Deployment within 1m0s: see 'kubectl fairlead -n shop why web', run the command again, or take all of it back with --abort",
			"  Waiting up to 1m0s for the controller to adopt the Deployment. If no controller runs, start it: 'kubectl fairlead doctor' looks for one.\n"},
	} {
		for _, hangs := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, hangs=%t", name, hangs), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var out bytes.Buffer
					tool := &tool{factory: cmdutil.NewFactory(flags), getenv: func(string) string { return "" }}
					tool.Out = &out
					err := test.wait(t, tool, answering(t, hangs, test.application, deployment, owned))
					if err == nil || err.Error() != test.want {
						t.Errorf("got\n%v\nwant\n%s", err, test.want)
					}
					if out.String() != test.said {
						t.Errorf("it says %q, want %q", out.String(), test.said)
					}
				})
			})
		}
	}
}

// answering are clients of an API server that never changes anything. One that hangs stops answering before the end of a wait.
func answering(t *testing.T, hangs bool, application *v1.Application, deployments ...*appsv1.Deployment) *cluster.Clients {
	t.Helper()
	began := time.Now()
	clients, err := cluster.New(&rest.Config{Host: "http://cluster.invalid", Transport: transport(func(request *http.Request) (*http.Response, error) {
		if hangs && time.Since(began) > controllerTimeout-time.Second {
			<-request.Context().Done()
			return nil, request.Context().Err()
		}
		object := any(application)
		for _, deployment := range deployments {
			if strings.HasSuffix(request.URL.Path, "/deployments/"+deployment.Name) {
				object = deployment
			}
		}
		body, err := json.Marshal(object)
		header := http.Header{"Content-Type": {"application/json"}}
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: request}, err
	})})
	if err != nil {
		t.Fatal(err)
	}
	return clients
}
