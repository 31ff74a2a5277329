// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
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
	module, err := repositoryFile(kustomizeModule)
	if err != nil {
		return nil, err
	}
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, "go", "tool", "-modfile="+module, "kustomize", "build", overlay)
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("render %s: %w\n%s", overlay, err, &stderr)
	}
	objects, err := decode(&stdout)
	if err != nil {
		return nil, fmt.Errorf("parse what %s renders: %w", overlay, err)
	}
	sortForApply(objects)
	return objects, nil
}

// repositoryFile finds a file from the working directory or a directory above, so that tests
// find it too.
func repositoryFile(file string) (string, error) {
	directory, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(directory, filepath.FromSlash(file))
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		parent := filepath.Dir(directory)
		if parent == directory {
			return "", fmt.Errorf("find %s: run this inside of the repository", file)
		}
		directory = parent
	}
}

func decode(documents io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(documents, 4<<10); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// setImage makes the controller run another image than the overlay names.
func setImage(objects []*unstructured.Unstructured, image string) error {
	for _, object := range objects {
		if object.GetKind() != deploymentKind || object.GetName() != controllerName {
			continue
		}
		path := []string{"spec", "template", "spec", "containers"}
		containers, _, err := unstructured.NestedSlice(object.Object, path...)
		if err != nil {
			return fmt.Errorf("read the containers of %s: %w", name(object), err)
		}
		for _, container := range containers {
			if c, ok := container.(map[string]any); ok && c["name"] == controllerContainer {
				c["image"] = image
				return unstructured.SetNestedSlice(object.Object, containers, path...)
			}
		}
	}
	return fmt.Errorf("set the image: the overlay has no %s %s with a container %s", deploymentKind, controllerName, controllerContainer)
}
