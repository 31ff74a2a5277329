// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestEjectResetsPolicy: an ejection that deletes nothing leaves the Application as it was, and the error says so.
func TestEjectResetsPolicy(t *testing.T) {
	const (
		noPromise = "the controller did not promise within 1m0s that the objects stay, so nothing was deleted: see 'kubectl fairlead doctor', and run the command again"
		again     = ". The deletionPolicy of the Application is Delete again"
		patch     = `To set it back: kubectl -n shop patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"deletionPolicy":"Delete"}}'`
	)
	for name, test := range map[string]struct {
		meanwhile func(stored *v1.Application) // What another client does before the controller could promise.
		interrupt bool
		refused   bool // Whether the second change is.
		want      string
		policy    v1.DeletionPolicy
	}{
		"no controller":     {want: noPromise + again, policy: v1.DeletionDelete},
		"interrupted":       {interrupt: true, want: "delete the Application: context canceled" + again, policy: v1.DeletionDelete},
		"the image changed": {meanwhile: func(stored *v1.Application) { stored.Spec.Image = "web:2" }, want: noPromise + again, policy: v1.DeletionDelete},
		"the policy changed": {
			meanwhile: func(stored *v1.Application) { stored.Spec.DeletionPolicy = "Other" },
			want:      "delete the Application: " + errChanged.Error(), policy: "Other",
		},
		"it is being deleted": {meanwhile: func(stored *v1.Application) { stored.DeletionTimestamp = new(metav1.Now()) }, want: noPromise, policy: v1.DeletionOrphan},
		"the change is refused": {
			refused: true, policy: v1.DeletionOrphan, want: noPromise + ". The deletionPolicy of the Application is Orphan now, and could not be set back to Delete: " +
				`Patch "http://cluster.invalid/apis/apps.fairlead.dev/v1/namespaces/shop/applications/web?fieldManager=kubectl-fairlead": no answer. ` + patch,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				stored := policyStored()
				read := stored.DeepCopy()
				if test.interrupt {
					time.AfterFunc(controllerTimeout/2, interrupt)
				}
				begin, meanwhile := time.Now(), test.meanwhile
				refuse := func(stored *v1.Application, method string) error {
					if meanwhile != nil && time.Since(begin) > controllerTimeout/2 {
						meanwhile(stored)
						meanwhile = nil
					}
					if test.refused && method == http.MethodPatch && stored.Spec.DeletionPolicy == v1.DeletionOrphan {
						return errors.New("no answer")
					}
					return nil
				}
				e := &ejecting{tool: toolWith(*clientcmdapi.NewConfig(), "shop"), clients: storing(t, stored, refuse), namespace: "shop", name: "web"}
				if err := e.delete(ctx, read, nil); err == nil || err.Error() != test.want {
					t.Errorf("got\n%v\nwant\n%s", err, test.want)
				}
				if stored.Spec.DeletionPolicy != test.policy {
					t.Errorf("the deletionPolicy is %s, want %s", stored.Spec.DeletionPolicy, test.policy)
				}
			})
		})
	}
}

// TestEjectResetsPolicyWithoutAnswer: the answer to a write may be lost, and another client may delete the Application between a read and a
// write. Then deletionPolicy Delete would delete the objects.
func TestEjectResetsPolicyWithoutAnswer(t *testing.T) {
	const (
		lost = `set deletionPolicy to Orphan: Patch "http://cluster.invalid/apis/apps.fairlead.dev/v1/namespaces/shop/applications/web?fieldManager=kubectl-fairlead": no answer`
		read = `Get "http://cluster.invalid/apis/apps.fairlead.dev/v1/namespaces/shop/applications/web": no answer`
	)
	refusal := func(code int32, reason metav1.StatusReason) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: "no"}}
	}
	for name, test := range map[string]struct {
		// answer may change what is stored. The request goes on if it returns nil.
		answer func(stored *v1.Application, method string, writes int) error
		want   string
		policy v1.DeletionPolicy
	}{
		"stored, and the answer lost": {
			func(stored *v1.Application, method string, writes int) error {
				if method == http.MethodPatch && writes == 1 {
					stored.Spec.DeletionPolicy = v1.DeletionOrphan
					return errors.New("no answer")
				}
				return nil
			}, lost + ". The deletionPolicy of the Application is Delete again", v1.DeletionDelete,
		},
		"not stored": {
			func(_ *v1.Application, method string, _ int) error {
				if method == http.MethodPatch {
					return errors.New("no answer")
				}
				return nil
			}, lost, v1.DeletionDelete,
		},
		"no answer at all": {
			func(*v1.Application, string, int) error { return errors.New("no answer") },
			lost + ". The deletionPolicy of the Application may be Orphan now, and could not be set back to Delete: " + read + ". To set it back, unless the Application is being deleted: " +
				`kubectl -n shop patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"deletionPolicy":"Delete"}}'`, v1.DeletionDelete,
		},
		"refused, while another client sets Orphan": {
			func(stored *v1.Application, _ string, _ int) error {
				stored.Spec.DeletionPolicy = v1.DeletionOrphan
				return refusal(http.StatusForbidden, metav1.StatusReasonForbidden)
			}, "set deletionPolicy to Orphan: unknown (patch applications.apps.fairlead.dev web)", v1.DeletionOrphan,
		},
		"deleted before it is set back": {
			func(stored *v1.Application, method string, writes int) error {
				switch {
				case method == http.MethodPatch && writes == 1:
					stored.Spec.DeletionPolicy = v1.DeletionOrphan
					return errors.New("no answer")
				case method == http.MethodPatch:
					stored.DeletionTimestamp = new(metav1.Now())
					stored.Generation++
					return refusal(http.StatusConflict, metav1.StatusReasonConflict)
				}
				return nil
			}, lost, v1.DeletionOrphan,
		},
		"changed before it is set back": {
			func(stored *v1.Application, method string, writes int) error {
				switch {
				case method == http.MethodPatch && writes == 1:
					stored.Spec.DeletionPolicy = v1.DeletionOrphan
					return errors.New("no answer")
				case method == http.MethodPatch && writes == 2:
					stored.Spec.Image = "web:2"
					stored.Generation++
					return refusal(http.StatusConflict, metav1.StatusReasonConflict)
				}
				return nil
			}, lost + ". The deletionPolicy of the Application is Delete again", v1.DeletionDelete,
		},
	} {
		t.Run(name, func(t *testing.T) {
			stored := policyStored()
			writes := 0
			answer := func(stored *v1.Application, method string) error {
				if method == http.MethodPatch {
					writes++
				}
				return test.answer(stored, method, writes)
			}
			e := &ejecting{tool: toolWith(*clientcmdapi.NewConfig(), "shop"), clients: storing(t, stored, answer), namespace: "shop", name: "web"}
			if err := e.delete(t.Context(), stored.DeepCopy(), nil); err == nil || err.Error() != test.want {
				t.Errorf("got\n%v\nwant\n%s", err, test.want)
			}
			if stored.Spec.DeletionPolicy != test.policy {
				t.Errorf("the deletionPolicy is %s, want %s", stored.Spec.DeletionPolicy, test.policy)
			}
		})
	}
}

func policyStored() *v1.Application {
	return &v1.Application{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.ApplicationKind},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1", Generation: 1},
		Spec:       v1.ApplicationSpec{Image: "web", DeletionPolicy: v1.DeletionDelete},
	}
}

// storing are clients of an API server with one Application, which no controller sees.
func storing(t *testing.T, stored *v1.Application, refuse func(stored *v1.Application, method string) error) *cluster.Clients {
	t.Helper()
	clients, err := cluster.New(&rest.Config{Host: "http://cluster.invalid", Transport: transport(func(request *http.Request) (*http.Response, error) {
		header := http.Header{"Content-Type": {"application/json"}}
		if err := refuse(stored, request.Method); err != nil {
			var status *apierrors.StatusError
			if !errors.As(err, &status) {
				return nil, err
			}
			body, err := json.Marshal(status.ErrStatus)
			return &http.Response{StatusCode: int(status.ErrStatus.Code), Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: request}, err
		}
		if request.Method == http.MethodPatch {
			patch, err := io.ReadAll(request.Body)
			if err != nil {
				return nil, err
			}
			before, err := json.Marshal(stored)
			if err != nil {
				return nil, err
			}
			after, err := jsonpatch.MergePatch(before, patch)
			if err != nil {
				return nil, err
			}
			if err := json.Unmarshal(after, stored); err != nil {
				return nil, err
			}
			stored.Generation++
		}
		body, err := json.Marshal(stored)
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: request}, err
	})})
	if err != nil {
		t.Fatal(err)
	}
	return clients
}
