// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
)

// CountWrites counts what is written through the client, by verb and kind.
func (m *Metrics) CountWrites(client apply.Client) apply.Client {
	return countingClient{Client: client, metrics: m}
}

// countingClient leaves reads to the client that it embeds.
type countingClient struct {
	apply.Client
	metrics *Metrics
}

func (c countingClient) Create(ctx context.Context, ref child.Ref, body []byte, manager string) (*metav1.PartialObjectMetadata, error) {
	object, err := c.Client.Create(ctx, ref, body, manager)
	c.metrics.wrote("create", ref, err)
	return object, err
}

func (c countingClient) Patch(ctx context.Context, ref child.Ref, kind types.PatchType, body []byte, manager string) (*metav1.PartialObjectMetadata, error) {
	verb := "patch"
	if kind == types.ApplyPatchType {
		verb = "apply"
	}
	object, err := c.Client.Patch(ctx, ref, kind, body, manager)
	c.metrics.wrote(verb, ref, err)
	return object, err
}

func (c countingClient) Delete(ctx context.Context, ref child.Ref, preconditions metav1.Preconditions) error {
	err := c.Client.Delete(ctx, ref, preconditions)
	c.metrics.wrote("delete", ref, err)
	return err
}

func (m *Metrics) wrote(verb string, ref child.Ref, err error) {
	result := "Success"
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err):
		// Somebody else was there first. The next sync sees what there is.
		result = "Lost"
	case err != nil:
		result = "Failed"
	}
	m.writes.WithLabelValues(verb, ref.Kind.Kind, result).Inc()
}
