// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package applytest

import (
	"context"
	"encoding/json"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/pkg/child"
)

// Client writes children to a Server. It implements apply.Client.
type Client struct{ server *Server }

// Client returns a client of the server.
func (s *Server) Client() *Client { return &Client{s} }

// Create posts a new object.
func (c *Client) Create(ctx context.Context, ref child.Ref, body []byte, manager string) (*metav1.PartialObjectMetadata, error) {
	k := c.server.kindOf(ref.Kind.GroupVersionResource())
	object := c.server.newObject(k)
	if err := json.Unmarshal(body, object); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	r := request("create", ref)
	r.Manager, r.Body = manager, body
	return c.serve(ctx, r, func() (child.Object, error) { return c.server.create(k, ref.Namespace, object, manager) })
}

// Patch patches an object.
func (c *Client) Patch(ctx context.Context, ref child.Ref, kind types.PatchType, body []byte, manager string) (*metav1.PartialObjectMetadata, error) {
	k := c.server.kindOf(ref.Kind.GroupVersionResource())
	r := request("patch", ref)
	r.Manager, r.Body, r.PatchType = manager, body, kind
	return c.serve(ctx, r, func() (child.Object, error) { return c.server.patch(k, name(r), kind, body, "", manager) })
}

// Get returns the metadata.
func (c *Client) Get(ctx context.Context, ref child.Ref) (*metav1.PartialObjectMetadata, error) {
	k := c.server.kindOf(ref.Kind.GroupVersionResource())
	r := request("get", ref)
	return c.serve(ctx, r, func() (child.Object, error) { return c.server.get(k, name(r)) })
}

// Selection returns the selector of a Deployment, and the labels of its template.
func (c *Client) Selection(ctx context.Context, ref child.Ref) (selection *appsv1.DeploymentSpec, err error) {
	k := c.server.kindOf(ref.Kind.GroupVersionResource())
	r := request("get", ref)
	_, err = c.serve(ctx, r, func() (child.Object, error) {
		object, err := c.server.get(k, name(r))
		if deployment, ok := object.(*appsv1.Deployment); ok && err == nil {
			selection = &appsv1.DeploymentSpec{Selector: deployment.Spec.Selector.DeepCopy()}
			selection.Template.Labels = maps.Clone(deployment.Spec.Template.Labels)
		}
		return object, err
	})
	return selection, err
}

// ListPods lists the pods that carry the labels.
func (c *Client) ListPods(ctx context.Context, namespace string, selector map[string]string) ([]metav1.PartialObjectMetadata, error) {
	k := c.server.kindOf(Pods.GroupVersionResource())
	var found []metav1.PartialObjectMetadata
	err := c.server.serve(ctx, Request{Verb: "list", Kind: Pods, Namespace: namespace}, func() error {
		for name, pod := range k.objects {
			if name.Namespace == namespace && labels.SelectorFromSet(selector).Matches(labels.Set(pod.GetLabels())) {
				found = append(found, *partial(pod))
			}
		}
		return nil
	})
	return found, err
}

// Delete deletes an object, if the preconditions hold.
func (c *Client) Delete(ctx context.Context, ref child.Ref, preconditions metav1.Preconditions) error {
	k := c.server.kindOf(ref.Kind.GroupVersionResource())
	r := request("delete", ref)
	return c.server.serve(ctx, r, func() error { return c.server.delete(k, name(r), &preconditions) })
}

func (c *Client) serve(ctx context.Context, r Request, do func() (child.Object, error)) (*metav1.PartialObjectMetadata, error) {
	var answer *metav1.PartialObjectMetadata
	err := c.server.serve(ctx, r, func() error {
		object, err := do()
		if err == nil {
			answer = partial(object)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// partial returns the metadata of an object, with the kind that the API server gives to this form.
func partial(object child.Object) *metav1.PartialObjectMetadata {
	answer := &metav1.PartialObjectMetadata{}
	answer.SetGroupVersionKind(schema.GroupVersionKind{Group: metav1.GroupName, Version: "v1", Kind: "PartialObjectMetadata"})
	encoded, err := json.Marshal(map[string]any{"metadata": asMap(object)["metadata"]})
	if err == nil {
		err = json.Unmarshal(encoded, answer)
	}
	if err != nil {
		panic(err)
	}
	return answer
}

func request(verb string, ref child.Ref) Request {
	return Request{Verb: verb, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
}
