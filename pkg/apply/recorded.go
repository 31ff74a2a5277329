// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
)

// Recorded records the requests that go through a client as those of the sync that makes them; see
// debug.SyncRecorder.Context.
func Recorded(client Client) Client { return recordedClient{client} }

type recordedClient struct{ client Client }

func (c recordedClient) Create(ctx context.Context, ref child.Ref, body []byte, manager string) (*metav1.PartialObjectMetadata, error) {
	began := time.Now()
	object, err := c.client.Create(ctx, ref, body, manager)
	requested(ctx, "create", ref, object, began, err)
	return object, err
}

func (c recordedClient) Patch(ctx context.Context, ref child.Ref, kind types.PatchType, body []byte, manager string) (*metav1.PartialObjectMetadata, error) {
	verb := "patch"
	if kind == types.ApplyPatchType {
		verb = "apply"
	}
	began := time.Now()
	object, err := c.client.Patch(ctx, ref, kind, body, manager)
	requested(ctx, verb, ref, object, began, err)
	return object, err
}

func (c recordedClient) Get(ctx context.Context, ref child.Ref) (*metav1.PartialObjectMetadata, error) {
	began := time.Now()
	object, err := c.client.Get(ctx, ref)
	requested(ctx, "get", ref, object, began, err)
	return object, err
}

func (c recordedClient) Delete(ctx context.Context, ref child.Ref, preconditions metav1.Preconditions) error {
	began := time.Now()
	err := c.client.Delete(ctx, ref, preconditions)
	requested(ctx, "delete", ref, nil, began, err)
	return err
}

func requested(ctx context.Context, verb string, ref child.Ref, answered *metav1.PartialObjectMetadata, began time.Time, err error) {
	request := debug.Request{
		Verb: verb, Resource: ref.Kind.GroupVersionResource().GroupResource().String(),
		Object: cache.ObjectName{Namespace: ref.Namespace, Name: ref.Name}, Began: began, Err: err,
	}
	if err == nil && answered != nil {
		request.Version = answered.ResourceVersion
	}
	debug.Requested(ctx, request)
}
