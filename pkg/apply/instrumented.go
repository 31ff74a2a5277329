// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
)

// Request is a request of the Writer that the API server answered.
type Request struct {
	// Verb is create, apply, patch, delete or get.
	Verb  string
	Ref   child.Ref
	Began time.Time
	// ResourceVersion is that of the response, if it has one.
	ResourceVersion string
	Err             error
}

// Observer is called after each request, with the context of the sync that made it.
type Observer func(ctx context.Context, request Request)

// Instrument returns a client that calls the observers after each request.
func Instrument(client Client, observers ...Observer) Client {
	return instrumentedClient{client, observers}
}

// Record is an Observer that records a request in the debug record of its sync; see debug.SyncRecorder.Context.
func Record(ctx context.Context, request Request) {
	debug.Requested(ctx, debug.Request{
		Verb: request.Verb, Resource: request.Ref.Kind.GroupVersionResource().GroupResource().String(),
		Object:  cache.ObjectName{Namespace: request.Ref.Namespace, Name: request.Ref.Name},
		Version: request.ResourceVersion, Began: request.Began, Err: request.Err,
	})
}

type instrumentedClient struct {
	client    Client
	observers []Observer
}

func (c instrumentedClient) Create(ctx context.Context, ref child.Ref, body []byte, manager string) (*metav1.PartialObjectMetadata, error) {
	began := time.Now()
	object, err := c.client.Create(ctx, ref, body, manager)
	c.observe(ctx, "create", ref, began, object, err)
	return object, err
}

func (c instrumentedClient) Patch(ctx context.Context, ref child.Ref, kind types.PatchType, body []byte, manager string) (*metav1.PartialObjectMetadata, error) {
	verb := "patch"
	if kind == types.ApplyPatchType {
		verb = "apply"
	}
	began := time.Now()
	object, err := c.client.Patch(ctx, ref, kind, body, manager)
	c.observe(ctx, verb, ref, began, object, err)
	return object, err
}

func (c instrumentedClient) Get(ctx context.Context, ref child.Ref) (*metav1.PartialObjectMetadata, error) {
	began := time.Now()
	object, err := c.client.Get(ctx, ref)
	c.observe(ctx, "get", ref, began, object, err)
	return object, err
}

func (c instrumentedClient) Selection(ctx context.Context, ref child.Ref) (*appsv1.DeploymentSpec, error) {
	began := time.Now()
	selection, err := c.client.Selection(ctx, ref)
	c.observe(ctx, "get", ref, began, nil, err)
	return selection, err
}

// ListPods is not observed: requests are recorded by the child that they are about.
func (c instrumentedClient) ListPods(ctx context.Context, namespace string, selector map[string]string) ([]metav1.PartialObjectMetadata, error) {
	return c.client.ListPods(ctx, namespace, selector)
}

func (c instrumentedClient) Delete(ctx context.Context, ref child.Ref, preconditions metav1.Preconditions) error {
	began := time.Now()
	err := c.client.Delete(ctx, ref, preconditions)
	c.observe(ctx, "delete", ref, began, nil, err)
	return err
}

func (c instrumentedClient) observe(ctx context.Context, verb string, ref child.Ref, began time.Time, answer *metav1.PartialObjectMetadata, err error) {
	request := Request{Verb: verb, Ref: ref, Began: began, Err: err}
	if err == nil && answer != nil {
		request.ResourceVersion = answer.ResourceVersion
	}
	for _, observe := range c.observers {
		observe(ctx, request)
	}
}
