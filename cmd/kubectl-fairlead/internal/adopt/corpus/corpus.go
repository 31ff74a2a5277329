// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package corpus has the shapes of Deployments from public charts and manifests, and what becomes of each when it is adopted.
//
// A shape is written by hand, with names of its own. It has those fields of a Deployment, and of what stands beside it, that
// matter for an adoption. The table names the chart or the manifest, and the commit at which it was read. A chart was
// rendered with its default values.
package corpus

import (
	"bufio"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	podsecurity "k8s.io/pod-security-admission/api"
	"sigs.k8s.io/yaml"
)

//go:embed table.yaml shapes
var files embed.FS

// Result is what becomes of a shape.
type Result string

const (
	// Adopted is adopted as it is.
	Adopted Result = "adopted"
	// Accepted is adopted by a user who accepts that the pods lose the fields.
	Accepted Result = "accepted"
	// Refused has a field that an Application cannot express.
	Refused Result = "refused"
)

// Case is a shape, and what becomes of it.
type Case struct {
	Name string `json:"name"`
	// Repository is its key in the table, Path the chart or the manifest.
	Repository string `json:"repository"`
	Path       string `json:"path"`
	// Platform is the controller's security profile. On a restricted one the adoption hardens the pods; on a privileged one
	// they keep their privileges, because they need some or say nothing.
	Platform podsecurity.Level `json:"platform"`
	// Container is the application's container, if there are several.
	Container string `json:"container,omitempty"`
	Result    Result `json:"result"`
	// At are the fields that are lost, or the one that is refused.
	At []string `json:"at,omitempty"`

	// Deployment is what is adopted, and Service that of its name; nil if there is none. Beside are further objects.
	Deployment *appsv1.Deployment `json:"-"`
	Service    *corev1.Service    `json:"-"`
	Beside     []Object           `json:"-"`
}

// Object is one of those beside a Deployment.
type Object interface {
	metav1.Object
	runtime.Object
}

// Repository is where a case was read.
type Repository struct {
	Name   string `json:"name"`
	Commit string `json:"commit"`
}

// Table has all cases.
type Table struct {
	Repositories map[string]Repository `json:"repositories"`
	Cases        []*Case               `json:"cases"`
}

// Read returns the table, with the shapes. The error is that of a malformed file.
func Read() (*Table, error) {
	content, err := files.ReadFile("table.yaml")
	if err != nil {
		return nil, err
	}
	table := &Table{}
	if err := yaml.UnmarshalStrict(content, table); err != nil {
		return nil, fmt.Errorf("table.yaml: %w", err)
	}
	shapes, err := files.ReadDir("shapes")
	if err != nil {
		return nil, err
	}
	if len(shapes) != len(table.Cases) {
		return nil, fmt.Errorf("table.yaml has %d cases, and there are %d shapes", len(table.Cases), len(shapes))
	}
	for _, c := range table.Cases {
		if err := c.read(); err != nil {
			return nil, fmt.Errorf("%s.yaml: %w", c.Name, err)
		}
	}
	return table, nil
}

func (c *Case) read() error {
	content, err := files.ReadFile("shapes/" + c.Name + ".yaml")
	if err != nil {
		return err
	}
	for documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content))); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		var is metav1.TypeMeta
		if err := yaml.Unmarshal(document, &is); err != nil {
			return err
		}
		object := map[string]Object{
			"Deployment": &appsv1.Deployment{}, "Service": &corev1.Service{},
			"HorizontalPodAutoscaler": &autoscalingv2.HorizontalPodAutoscaler{}, "PodDisruptionBudget": &policyv1.PodDisruptionBudget{},
		}[is.Kind]
		if object == nil {
			return fmt.Errorf("kind %q", is.Kind)
		}
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			return err
		}
		c.add(object)
	}
	if c.Deployment == nil {
		return errors.New("it has no Deployment")
	}
	return nil
}

// add completes an object: with the name of the case, with images, and with what the API server would fill in.
func (c *Case) add(object Object) {
	if object.GetName() == "" {
		object.SetName(c.Name)
	}
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // As clients read it.
	switch object := object.(type) {
	case *appsv1.Deployment:
		c.Deployment = object
		pod := &object.Spec.Template.Spec
		for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
			for i := range containers {
				containers[i].Image = "example.com/" + containers[i].Name + ":1"
			}
		}
	case *corev1.Service:
		complete(object)
		if object.Name == c.Name {
			c.Service = object
			return
		}
		c.Beside = append(c.Beside, object)
	default:
		c.Beside = append(c.Beside, object)
	}
}

func complete(service *corev1.Service) {
	if service.Spec.Type == "" {
		service.Spec.Type = corev1.ServiceTypeClusterIP
	}
	if service.Spec.SessionAffinity == "" {
		service.Spec.SessionAffinity = corev1.ServiceAffinityNone
	}
	for i := range service.Spec.Ports {
		port := &service.Spec.Ports[i]
		if port.Protocol == "" {
			port.Protocol = corev1.ProtocolTCP
		}
		if port.TargetPort.String() == "0" {
			port.TargetPort.IntVal = port.Port
		}
	}
}
