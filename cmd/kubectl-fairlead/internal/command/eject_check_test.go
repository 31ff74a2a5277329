// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestEjectStaying: without its Application, an object that is being deleted is gone for good.
func TestEjectStaying(t *testing.T) {
	object := func(kind child.Kind, finalizers ...string) left {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetKind(kind.Kind)
		o.SetName("web")
		if len(finalizers) > 0 {
			o.SetDeletionTimestamp(new(metav1.Now()))
			o.SetFinalizers(finalizers)
		}
		return left{o, kind}
	}
	objects := []left{object(child.Service), object(child.Deployment, "example.com/x", "example.com/y")}
	const going = "Deployment web is being deleted, and is gone once its finalizers example.com/x, example.com/y are removed"
	var out strings.Builder
	e, application := &ejecting{}, &v1.Application{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
	_, err := e.checkStaying(screen.New(&out, nil), application, objects)
	const want = going + ". Without the Application, no controller creates it again, so nothing was changed. " +
		"Let its deletion end, so that Fairlead creates it again if the spec asks for it, and run the command again"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	application.DeletionTimestamp = new(metav1.Now())
	stay, err := e.checkStaying(screen.New(&out, nil), application, objects)
	if err != nil || len(stay) != 1 || stay[0].GetKind() != "Service" || out.String() != going+". That cannot be undone.\n" {
		t.Errorf("of an Application that is being deleted, %d stay, %v, %q", len(stay), err, out.String())
	}

	e.service = &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", DeletionTimestamp: new(metav1.Now()), Finalizers: []string{"example.com/x"}}}
	e.deployment = &appsv1.Deployment{}
	const restored = "Service web is being deleted, and is gone once its finalizer example.com/x is removed, so nothing was written. " +
		"Let its deletion end, and run the command again, which then creates it again"
	if err := e.checkRestorable(); err == nil || err.Error() != restored {
		t.Errorf("got\n%v\nwant\n%s", err, restored)
	}
	e.service = nil
	if err := e.checkRestorable(); err != nil {
		t.Errorf("without a deletion: %v", err)
	}
}

// frozen are clients of an API server whose controller could not release the Deployment, because a policy refuses every change of it.
func frozen(t *testing.T, application *v1.Application) *cluster.Clients {
	t.Helper()
	refused := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "web", nil).ErrStatus
	refused.Message = "the namespace is frozen"
	return refusing(t, application, refused)
}

// refusing are clients of an API server that answers so to every change of the Deployment.
func refusing(t *testing.T, application *v1.Application, refused metav1.Status) *cluster.Clients {
	t.Helper()
	refused.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	deployment := appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}}
	deployment.Namespace, deployment.Name, deployment.UID = "shop", "web", "2"
	deployment.Labels = map[string]string{v1.LabelManagedBy: v1.ManagedBy}
	deployment.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.ApplicationKind, Name: "web", UID: application.UID}}
	clients, err := cluster.New(&rest.Config{Host: "http://cluster.invalid", Transport: transport(func(request *http.Request) (*http.Response, error) {
		code, object := http.StatusOK, any(application)
		switch {
		case request.Method == http.MethodDelete:
			t.Error("the Application is deleted")
		case !strings.Contains(request.URL.Path, "/deployments/"):
		case request.Method == http.MethodPatch:
			if request.URL.Query().Get("dryRun") != metav1.DryRunAll {
				t.Error("the Deployment is changed")
			}
			code, object = int(refused.Code), refused
		default:
			object = deployment
		}
		body, err := json.Marshal(object)
		header := http.Header{"Content-Type": {"application/json"}}
		return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: request}, err
	})})
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

// TestEjectFrozen: an Application whose objects the controller cannot release is not deleted, and the wait says why.
func TestEjectFrozen(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetKind(child.Deployment.Kind)
	object.SetName("web")
	object.SetUID("2")
	objects := []left{{object, child.Deployment}}
	application := policyStored()
	application.Spec.DeletionPolicy, application.Finalizers = v1.DeletionOrphan, []string{v1.FinalizerOrphan}
	application.Status.ObservedGeneration = application.Generation
	application.Status.Conditions = []metav1.Condition{{
		Type: v1.ConditionReady, Status: metav1.ConditionFalse, ObservedGeneration: 1, Reason: "PolicyDenied", Message: "Deployment web: the namespace is frozen.",
	}}
	const still = "  Still waiting. The Application says: "
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		e := &ejecting{tool: toolWith(*clientcmdapi.NewConfig(), "shop"), clients: frozen(t, application), namespace: "shop", name: "web"}
		e.tool.Out = &out
		const want = "the controller did not release Deployment web within 1m0s, so nothing was deleted. " +
			"The Application says: Deployment web: the namespace is frozen. Solve that, and run the command again"
		if err := e.delete(t.Context(), application, objects); err == nil || err.Error() != want {
			t.Errorf("got\n%v\nwant\n%s", err, want)
		}
		const waits = "  Waiting up to 1m0s for the controller to release Deployment web. If no controller runs, start it: 'kubectl fairlead doctor' looks for one.\n"
		if want := waits + still + "Deployment web: the namespace is frozen.\n"; out.String() != want {
			t.Errorf("meanwhile it says %q, want %q", out.String(), want)
		}
	})

	ending := application.DeepCopy()
	ending.DeletionTimestamp = new(metav1.Now())
	ending.Status.Conditions[0].Message = "Deletion waits to keep Deployment web: the namespace is frozen."
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		tool := toolWith(*clientcmdapi.NewConfig(), "shop")
		tool.Out = &out
		const want = "the Application is being deleted, but was not gone within 1m0s. " +
			"The Application says: Deletion waits to keep Deployment web: the namespace is frozen. Solve that, and run the command again"
		if err := awaitGone(t.Context(), tool, frozen(t, ending), ending); err == nil || err.Error() != want {
			t.Errorf("got\n%v\nwant\n%s", err, want)
		}
		const waits = "  Waiting up to 1m0s for the controller to end the Application. If no controller runs, start it: 'kubectl fairlead doctor' looks for one.\n"
		if want := waits + still + ending.Status.Conditions[0].Message + "\n"; out.String() != want {
			t.Errorf("meanwhile it says %q, want %q", out.String(), want)
		}
	})
}

// TestEjectHeldByOthers: an Application that has released its objects, and that a finalizer of another client holds, is not waited for.
func TestEjectHeldByOthers(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetKind(child.Deployment.Kind)
	object.SetName("web")
	object.SetUID("2")
	for name, test := range map[string]struct {
		finalizers []string
		owned      bool
		want       string
		waits      bool
	}{
		"released": {
			finalizers: []string{"example.com/hold"},
			want: "Application web is being deleted, and is gone once its finalizer example.com/hold is removed. Its objects stay. " +
				"Once it is gone, run the command again, so that they lose Fairlead's marks",
		},
		"not released": {
			finalizers: []string{"example.com/hold"}, owned: true, waits: true,
			want: "the controller did not promise within 1m0s that the objects stay, so nothing was deleted: see 'kubectl fairlead doctor', and run the command again",
		},
		"the garbage collector has not finished": {
			finalizers: []string{metav1.FinalizerDeleteDependents}, waits: true,
			want: "the controller did not promise within 1m0s that the objects stay, so nothing was deleted: see 'kubectl fairlead doctor', and run the command again",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				application := policyStored()
				application.Spec.DeletionPolicy, application.Finalizers, application.DeletionTimestamp = v1.DeletionOrphan, test.finalizers, new(metav1.Now())
				clients := storing(t, application, func(*v1.Application, string) error { return nil })
				if test.owned {
					clients = frozen(t, application)
				}
				e := &ejecting{tool: toolWith(*clientcmdapi.NewConfig(), "shop"), clients: clients, namespace: "shop", name: "web"}
				began := time.Now()
				if err := e.delete(t.Context(), application, []left{{object, child.Deployment}}); err == nil || err.Error() != test.want {
					t.Errorf("got\n%v\nwant\n%s", err, test.want)
				}
				if waited := time.Since(began) > 0; waited != test.waits {
					t.Errorf("it waits: %t, want %t", waited, test.waits)
				}
			})
		})
	}
}

// TestEjectTries: what the API server refuses is known before anything is changed, also in a dry run on the server. A webhook without dry
// runs stops no ejection.
func TestEjectTries(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetKind(child.Deployment.Kind)
	object.SetName("web")
	object.SetUID("2")
	// What a webhook answers has no reason.
	status := func(message string) metav1.Status {
		return metav1.Status{Status: metav1.StatusFailure, Code: http.StatusBadRequest, Message: message}
	}
	const (
		refuses  = "the API server refuses to remove Fairlead's marks from Deployment web, so nothing was changed: "
		noDryRun = `admission webhook "a.example.com" does not support dry run`
		denied   = `admission webhook "a.example.com" denied the request: no`
	)
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "web", nil).ErrStatus
	invalid.Message = "the namespace is frozen"
	for _, test := range []struct {
		answer       metav1.Status
		none, server string
	}{
		{invalid, refuses + "the namespace is frozen", refuses + "the namespace is frozen"},
		{status(denied), refuses + denied, refuses + denied},
		{status(noDryRun), "", "the API server could not try to remove Fairlead's marks from Deployment web: " + noDryRun},
	} {
		for dryRun, want := range map[cmdutil.DryRunStrategy]string{cmdutil.DryRunNone: test.none, cmdutil.DryRunServer: test.server, cmdutil.DryRunClient: ""} {
			e := &ejecting{clients: refusing(t, policyStored(), test.answer), namespace: "shop", name: "web"}
			e.editing.dryRun = dryRun
			got := ""
			if err := e.tryClean(t.Context(), []left{{object, child.Deployment}}); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("dry run %d: %q, want %q", dryRun, got, want)
			}
		}
	}
}
