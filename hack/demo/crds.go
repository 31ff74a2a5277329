// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// installCRDs applies the CustomResourceDefinitions of a directory, and returns their names once their resources can be
// used. Server-side, because a definition may be too big for the annotation that client-side apply needs.
func installCRDs(ctx context.Context, c *clients, dir string) ([]string, error) {
	manifests, err := loadDir(dir)
	if err != nil {
		return nil, err
	}
	names, err := installDefinitions(ctx, c, manifests)
	if err != nil {
		return nil, err
	}
	return names, waitServed(ctx, c)
}

// installDefinitions applies CustomResourceDefinitions, and returns their names once they are established.
func installDefinitions(ctx context.Context, c *clients, manifests []manifest) ([]string, error) {
	var names []string
	for _, m := range manifests {
		body, err := yaml.YAMLToJSON(m.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m, err)
		}
		_, err = c.apiextensions.ApiextensionsV1().CustomResourceDefinitions().Patch(ctx, m.object.GetName(), types.ApplyPatchType, body,
			metav1.PatchOptions{FieldManager: fieldManager, Force: new(true)})
		if err != nil {
			return nil, fmt.Errorf("apply %s: %w", m, err)
		}
		if err := waitEstablished(ctx, c, m.object.GetName()); err != nil {
			return nil, fmt.Errorf("wait until %s is established: %w", m, err)
		}
		names = append(names, m.object.GetName())
	}
	return names, nil
}

func waitEstablished(ctx context.Context, c *clients, name string) error {
	crds := cache.NewListWatchFromClient(c.apiextensions.ApiextensionsV1().RESTClient(), "customresourcedefinitions",
		metav1.NamespaceAll, fields.OneTermEqualSelector(metav1.ObjectNameField, name))
	_, err := watchtools.UntilWithSync(ctx, crds, &apiextensionsv1.CustomResourceDefinition{}, nil, func(event watch.Event) (bool, error) {
		crd, ok := event.Object.(*apiextensionsv1.CustomResourceDefinition)
		return ok && established(crd), nil
	})
	return causeOf(ctx, err)
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.Established {
			return condition.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

// waitServed asks again and again, because there is nothing to watch: an established resource appears in discovery, where
// the controller looks for it, a moment later.
func waitServed(ctx context.Context, c *clients) error {
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(context.Context) (bool, error) {
		_, err := c.kube.Discovery().ServerResourcesForGroupVersion(v1.SchemeGroupVersion.String())
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("wait until %s is served: %w", v1.SchemeGroupVersion, causeOf(ctx, err))
	}
	return nil
}

// causeOf prefers the reason for which ctx ended to what a wait made of that.
func causeOf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
