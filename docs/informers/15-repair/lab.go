// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package repair measures how fast Fairlead repairs its children.
package repair

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

//go:embed application.yaml
var application string

const (
	// applications is how often each damage is done, each time to another Application.
	applications = 5
	managedBy    = "app.kubernetes.io/managed-by"
)

// child is a kind of children, with what follows the name of the Application in its name.
type child struct {
	schema.GroupVersionResource
	suffix string
}

func children() []child {
	of := func(group, version, resource, suffix string) child {
		return child{schema.GroupVersionResource{Group: group, Version: version, Resource: resource}, suffix}
	}
	return []child{
		of("", "v1", "serviceaccounts", ""),
		of("", "v1", "configmaps", "-config"),
		of("apps", "v1", "deployments", ""),
		of("", "v1", "services", ""),
		of("autoscaling", "v2", "horizontalpodautoscalers", ""),
		of("policy", "v1", "poddisruptionbudgets", ""),
		of("networking.k8s.io", "v1", "networkpolicies", ""),
		of("networking.k8s.io", "v1", "ingresses", ""),
	}
}

// bench is where things are broken.
type bench struct {
	lab    *lab.Lab
	client dynamic.Interface
}

// Lab starts the controller, breaks each kind of child of several Applications, and then the controller.
func Lab(ctx context.Context, l *lab.Lab) (err error) {
	client, err := dynamic.NewForConfig(l.Config)
	if err != nil {
		return err
	}
	b := bench{lab: l, client: client}
	root, err := repository()
	if err != nil {
		return err
	}
	remove, err := b.install(ctx, root)
	defer func() { err = errors.Join(err, remove()) }()
	if err != nil {
		return err
	}
	binary, clean, err := build(ctx, root)
	if err != nil {
		return err
	}
	defer clean()
	controller, err := start(ctx, binary, l)
	if err != nil {
		return err
	}
	defer func() { controller.kill() }()
	for i := range applications {
		if err := b.create(ctx, name(i)); err != nil {
			return err
		}
	}
	if err := b.complete(ctx); err != nil {
		return errors.Join(err, controller.failure())
	}

	l.Step("%d Applications; each child is deleted, and then one of its labels changed", applications)
	for _, c := range children() {
		deleted, err := b.times(ctx, c, b.deleted)
		if err != nil {
			return errors.Join(err, controller.failure())
		}
		edited, err := b.times(ctx, c, b.edited)
		if err != nil {
			return errors.Join(err, controller.failure())
		}
		l.Say("%-24s  deleted: %s  edited: %s", c.Resource, b.summary(deleted), b.summary(edited))
	}

	l.Step("the controller is killed, every Deployment deleted, the controller started again")
	controller.kill()
	deployments := children()[2]
	for i := range applications {
		if err := b.at(deployments).Delete(ctx, name(i), metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	begin := time.Now()
	if controller, err = start(ctx, binary, l); err != nil {
		return err
	}
	if err := b.complete(ctx); err != nil {
		return errors.Join(err, controller.failure())
	}
	l.Say("all %d are back, %s after the start of the process", applications, l.Took(time.Since(begin)))
	return nil
}

func name(i int) string { return fmt.Sprintf("boat-%d", i+1) }

func (b bench) at(c child) dynamic.ResourceInterface {
	return b.client.Resource(c.GroupVersionResource).Namespace(b.lab.Namespace)
}

func (b bench) create(ctx context.Context, name string) error {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(application, "$NAME", name)), &object.Object); err != nil {
		return err
	}
	_, err := b.client.Resource(resource()).Namespace(b.lab.Namespace).Create(ctx, object, metav1.CreateOptions{})
	return err
}

// complete waits until every Application has all its children.
func (b bench) complete(ctx context.Context) error {
	for i := range applications {
		for _, c := range children() {
			err := lab.Eventually(ctx, fmt.Sprintf("%s of %s", c.Resource, name(i)), func(ctx context.Context) (bool, error) {
				_, err := b.at(c).Get(ctx, name(i)+c.suffix, metav1.GetOptions{})
				if apierrors.IsNotFound(err) {
					return false, nil
				}
				return err == nil, err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// times damages the child of each Application, and returns how long each repair took.
func (b bench) times(ctx context.Context, c child, damage func(context.Context, child, string) (time.Duration, error)) ([]time.Duration, error) {
	var took []time.Duration
	for i := range applications {
		d, err := damage(ctx, c, name(i)+c.suffix)
		if err != nil {
			return nil, err
		}
		took = append(took, d)
	}
	return took, nil
}

// deleted deletes a child and waits for another one of that name.
func (b bench) deleted(ctx context.Context, c child, name string) (time.Duration, error) {
	before, err := b.at(c).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return 0, err
	}
	return b.measure(ctx, c, before,
		func() error { return b.at(c).Delete(ctx, name, metav1.DeleteOptions{}) },
		func(now *unstructured.Unstructured) bool { return now.GetUID() != before.GetUID() })
}

// edited changes a label and waits until it is restored.
func (b bench) edited(ctx context.Context, c child, name string) (time.Duration, error) {
	before, err := b.at(c).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return 0, err
	}
	edit := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"pirates"}}}`, managedBy)
	broken := false
	return b.measure(ctx, c, before,
		func() error {
			_, err := b.at(c).Patch(ctx, name, types.MergePatchType, edit, metav1.PatchOptions{})
			return err
		},
		func(now *unstructured.Unstructured) bool {
			mine := now.GetLabels()[managedBy] == before.GetLabels()[managedBy]
			broken = broken || !mine
			return broken && mine
		})
}

// measure does the damage and watches for the repair. It measures from the request to the event of the repair.
func (b bench) measure(ctx context.Context, c child, before *unstructured.Unstructured, damage func() error, repaired func(*unstructured.Unstructured) bool) (time.Duration, error) {
	watching, err := b.at(c).Watch(ctx, metav1.ListOptions{
		ResourceVersion: before.GetResourceVersion(),
		FieldSelector:   "metadata.name=" + before.GetName(),
	})
	if err != nil {
		return 0, err
	}
	defer watching.Stop()
	begin := time.Now()
	if err := damage(); err != nil {
		return 0, err
	}
	for {
		event, err := lab.Receive(ctx, fmt.Sprintf("the repair of %s %s", c.Resource, before.GetName()), watching.ResultChan())
		if err != nil {
			return 0, err
		}
		if now, ok := event.Object.(*unstructured.Unstructured); ok && repaired(now) {
			return time.Since(begin), nil
		}
	}
}

func (b bench) summary(took []time.Duration) string {
	slices.Sort(took)
	return fmt.Sprintf("%d repaired, median %s, worst %s", len(took), b.lab.Took(took[len(took)/2]), b.lab.Took(took[len(took)-1]))
}
