// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/pkg/child"
)

// Client is the API as the Writer needs it: bodies are JSON, responses are metadata. NewClient returns the real
// one.
type Client interface {
	// Create posts a new object for the field manager.
	Create(ctx context.Context, ref child.Ref, body []byte, manager string) (*metav1.PartialObjectMetadata, error)
	// Patch sends a patch. An apply patch takes over fields of other managers (force).
	Patch(ctx context.Context, ref child.Ref, kind types.PatchType, body []byte, manager string) (*metav1.PartialObjectMetadata, error)
	// Get reads the metadata, managedFields included.
	Get(ctx context.Context, ref child.Ref) (*metav1.PartialObjectMetadata, error)
	// Selection reads what decides which pods a Deployment has: the selector, and the labels of the template.
	Selection(ctx context.Context, ref child.Ref) (*appsv1.DeploymentSpec, error)
	// ListPods lists the metadata of the pods that carry the labels of the selector.
	ListPods(ctx context.Context, namespace string, selector map[string]string) ([]metav1.PartialObjectMetadata, error)
	// Delete deletes in the background if the preconditions hold.
	Delete(ctx context.Context, ref child.Ref, preconditions metav1.Preconditions) error
}

// restClient requests metadata in every response: a sync needs the UID and the resourceVersion of what it wrote,
// and the informers deliver the rest. This saves encoding and decoding each child.
type restClient struct {
	client rest.Interface
}

// acceptMetadata prefers protobuf; a server without it responds in JSON.
const acceptMetadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1," +
	"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// NewClient returns the Client for an API server. All clients of the process share the HTTP client, and so its
// connections.
func NewClient(config *rest.Config, httpClient *http.Client) (Client, error) {
	// The metadata client's configuration decodes PartialObjectMetadata of any group.
	config = metadata.ConfigFor(config)
	config.GroupVersion = &schema.GroupVersion{}
	config.APIPath = "/apis"
	client, err := rest.RESTClientForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("create client for children: %w", err)
	}
	return &restClient{client: client}, nil
}

func (c *restClient) Create(ctx context.Context, ref child.Ref, body []byte, manager string) (*metav1.PartialObjectMetadata, error) {
	return do(ctx, c.client.Post().
		AbsPath(collectionPath(ref)...).
		Param("fieldManager", manager).
		SetHeader("Content-Type", "application/json").
		Body(body))
}

func (c *restClient) Patch(ctx context.Context, ref child.Ref, kind types.PatchType, body []byte, manager string) (*metav1.PartialObjectMetadata, error) {
	request := c.client.Patch(kind).
		AbsPath(objectPath(ref)...).
		Param("fieldManager", manager).
		Body(body)
	if kind == types.ApplyPatchType {
		request = request.Param("force", "true")
	}
	return do(ctx, request)
}

func (c *restClient) Get(ctx context.Context, ref child.Ref) (*metav1.PartialObjectMetadata, error) {
	return do(ctx, c.client.Get().AbsPath(objectPath(ref)...))
}

func (c *restClient) Selection(ctx context.Context, ref child.Ref) (*appsv1.DeploymentSpec, error) {
	body, err := c.client.Get().AbsPath(objectPath(ref)...).SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	var deployment struct {
		Spec struct {
			Selector *metav1.LabelSelector `json:"selector"`
			Template struct {
				metav1.ObjectMeta `json:"metadata"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(body, &deployment); err != nil {
		return nil, fmt.Errorf("decode %s: %w", ref, err)
	}
	selection := &appsv1.DeploymentSpec{Selector: deployment.Spec.Selector}
	selection.Template.Labels = deployment.Spec.Template.Labels
	return selection, nil
}

// acceptMetadataList is acceptMetadata for a list.
const acceptMetadataList = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," +
	"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

func (c *restClient) ListPods(ctx context.Context, namespace string, selector map[string]string) ([]metav1.PartialObjectMetadata, error) {
	list := &metav1.PartialObjectMetadataList{}
	err := c.client.Get().
		AbsPath("api", "v1", "namespaces", namespace, "pods").
		Param("labelSelector", labels.SelectorFromSet(selector).String()).
		SetHeader("Accept", acceptMetadataList).
		Do(ctx).Into(list)
	return list.Items, err
}

func (c *restClient) Delete(ctx context.Context, ref child.Ref, preconditions metav1.Preconditions) error {
	background := metav1.DeletePropagationBackground
	body, err := json.Marshal(&metav1.DeleteOptions{
		TypeMeta:          metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions:     &preconditions,
		PropagationPolicy: &background,
	})
	if err != nil {
		return fmt.Errorf("encode delete options: %w", err)
	}
	return c.client.Delete().
		AbsPath(objectPath(ref)...).
		SetHeader("Content-Type", "application/json").
		Body(body).
		Do(ctx).Error()
}

func do(ctx context.Context, request *rest.Request) (*metav1.PartialObjectMetadata, error) {
	object := &metav1.PartialObjectMetadata{}
	if err := request.SetHeader("Accept", acceptMetadata).Do(ctx).Into(object); err != nil {
		return nil, err
	}
	return object, nil
}

func collectionPath(ref child.Ref) []string {
	prefix := []string{"apis", ref.Kind.Group, ref.Kind.Version}
	if ref.Kind.Group == "" {
		prefix = []string{"api", ref.Kind.Version}
	}
	return append(prefix, "namespaces", ref.Namespace, ref.Kind.Resource)
}

func objectPath(ref child.Ref) []string {
	return append(collectionPath(ref), ref.Name)
}
