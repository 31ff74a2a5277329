// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/hack/internal/objects"
	"fairlead.dev/fairlead/hack/internal/root"
)

const (
	deploymentKind = "Deployment"
	// controllerName is the name of the Deployment, and controllerContainer that of its container.
	controllerName      = "fairlead-controller"
	controllerContainer = "controller"
	// kustomizeModule pins kustomize, relative to the root of the repository.
	kustomizeModule = "hack/tools/kustomize/go.mod"
)

// render returns the objects of an overlay, in the order in which to apply them.
func render(ctx context.Context, overlay string) ([]*unstructured.Unstructured, error) {
	repository, err := root.Find()
	if err != nil {
		return nil, err
	}
	module := filepath.Join(repository, kustomizeModule)
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, "go", "tool", "-modfile="+module, "kustomize", "build", overlay)
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("render %s: %w\n%s", overlay, err, &stderr)
	}
	rendered, err := objects.Decode(&stdout)
	if err != nil {
		return nil, fmt.Errorf("parse what %s renders: %w", overlay, err)
	}
	sortForApply(rendered)
	return rendered, nil
}

// setImage makes the controller, and what else runs from its image, run another one than the overlay names.
func setImage(rendered []*unstructured.Unstructured, image string) error {
	var before any
	err := forEachContainer(rendered, func(deployment string, container map[string]any) {
		if deployment == controllerName && container["name"] == controllerContainer {
			before = container["image"]
		}
	})
	if err != nil {
		return err
	}
	if before == nil {
		return fmt.Errorf("set the image: the overlay has no %s %s with a container %s", deploymentKind, controllerName, controllerContainer)
	}
	return forEachContainer(rendered, func(_ string, container map[string]any) {
		if container["image"] == before {
			container["image"] = image
		}
	})
}

// forEachContainer visits the containers of the Deployments, and keeps what visit changes.
func forEachContainer(rendered []*unstructured.Unstructured, visit func(deployment string, container map[string]any)) error {
	path := []string{"spec", "template", "spec", "containers"}
	for _, object := range rendered {
		if object.GetKind() != deploymentKind {
			continue
		}
		containers, _, err := unstructured.NestedSlice(object.Object, path...)
		if err != nil {
			return fmt.Errorf("read the containers of %s: %w", objects.Name(object), err)
		}
		for _, container := range containers {
			if c, ok := container.(map[string]any); ok {
				visit(object.GetName(), c)
			}
		}
		if err := unstructured.SetNestedSlice(object.Object, containers, path...); err != nil {
			return fmt.Errorf("write the containers of %s: %w", objects.Name(object), err)
		}
	}
	return nil
}
