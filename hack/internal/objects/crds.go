// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

// CRDs is the resource of the definitions.
var CRDs = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// InstallCRD applies a definition, and returns once the API server serves its resource and says so in discovery.
func (c *Client) InstallCRD(ctx context.Context, object *unstructured.Unstructured) error {
	if err := c.Apply(ctx, object); err != nil {
		return err
	}
	crd, err := ToCRD(object)
	if err != nil {
		return err
	}
	last := ""
	err = wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		live, err := c.Resource(CRDs).Get(ctx, crd.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		var established bool
		established, last, err = isEstablished(live)
		return established, err
	})
	if err != nil {
		return fmt.Errorf("wait for CRD %s to be established (%s): %w", crd.Name, last, orCause(ctx, err))
	}
	err = wait.PollUntilContextCancel(ctx, pollInterval, true, func(context.Context) (bool, error) {
		c.mapper.Reset() // What it has cached is older than the definition.
		_, err := c.mapper.RESTMapping(schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind})
		if meta.IsNoMatchError(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("wait for CRD %s to be in discovery: %w", crd.Name, orCause(ctx, err))
	}
	return nil
}

// ToCRD decodes a definition.
func ToCRD(object *unstructured.Unstructured) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, crd); err != nil {
		return nil, fmt.Errorf("decode CRD %s: %w", object.GetName(), err)
	}
	return crd, nil
}

// isEstablished returns also what speaks against it.
func isEstablished(live *unstructured.Unstructured) (established bool, problems string, err error) {
	crd, err := ToCRD(live)
	if err != nil {
		return false, "", err
	}
	var all []string
	for _, condition := range crd.Status.Conditions {
		switch {
		case condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue:
			established = true
		case condition.Status == apiextensionsv1.ConditionFalse:
			all = append(all, fmt.Sprintf("%s is False: %s", condition.Type, condition.Message))
		}
	}
	return established, strings.Join(all, "; "), nil
}
