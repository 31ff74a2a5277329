// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command install-crds installs the CRDs of artifacts/crds into a cluster, or deletes them, without
// kubectl. `make install` and `make uninstall` run it.
//
// It applies on the server's side: kubectl's default keeps the whole object in an annotation, and
// the CRD of Application is larger than annotations may be.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

const (
	fieldManager = "fairlead-install"
	pollInterval = 200 * time.Millisecond
)

var crdResource = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

type options struct {
	kubeconfig, context, directory string
	remove                         bool
	timeout                        time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "Path of a kubeconfig file. Default: $KUBECONFIG, or ~/.kube/config.")
	flag.StringVar(&o.context, "context", "", "Context of the kubeconfig. Default: its current context.")
	flag.StringVar(&o.directory, "crds", filepath.Join("artifacts", "crds"), "Directory with the CRDs.")
	flag.BoolVar(&o.remove, "delete", false, "Delete the CRDs, and with them every object of their kinds.")
	flag.DurationVar(&o.timeout, "timeout", time.Minute, "How long to wait for the cluster.")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "install-crds:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer) error {
	config, err := clientConfig(o)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	crds, err := read(o.directory)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	fmt.Fprintln(out, "cluster:", config.Host)
	for _, crd := range crds {
		if o.remove {
			err = remove(ctx, client, crd, out)
		} else {
			err = install(ctx, client, crd, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func clientConfig(o options) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.context}).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("no cluster: there is neither --kubeconfig, nor $KUBECONFIG, nor ~/.kube/config")
	}
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	return config, nil
}

func read(directory string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(directory, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", directory, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no *.yaml in %s", directory)
	}
	var crds []*unstructured.Unstructured
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		crd := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(data, &crd.Object); err != nil {
			return nil, fmt.Errorf("parse %s: %w", file, err)
		}
		crds = append(crds, crd)
	}
	return crds, nil
}

// install applies a CRD and returns once the API server serves it. Fields that another manager
// owns, from an earlier kubectl apply say, are taken over: an upgrade must not stop half-way.
func install(ctx context.Context, client dynamic.Interface, crd *unstructured.Unstructured, out io.Writer) error {
	name := crd.GetName()
	_, err := client.Resource(crdResource).Apply(ctx, name, crd, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err != nil {
		return fmt.Errorf("apply CRD %s: %w", name, err)
	}
	var last string
	err = wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		live, err := client.Resource(crdResource).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		var established bool
		established, last, err = isEstablished(live)
		return established, err
	})
	if err != nil {
		return fmt.Errorf("wait for CRD %s to be established (%s): %w", name, last, err)
	}
	fmt.Fprintln(out, "installed:", name)
	return nil
}

// isEstablished returns also what speaks against it.
func isEstablished(live *unstructured.Unstructured) (bool, string, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, crd); err != nil {
		return false, "", fmt.Errorf("decode CRD %s: %w", live.GetName(), err)
	}
	established := false
	var problems []string
	for _, condition := range crd.Status.Conditions {
		switch {
		case condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue:
			established = true
		case condition.Status == apiextensionsv1.ConditionFalse:
			problems = append(problems, fmt.Sprintf("%s is False: %s", condition.Type, condition.Message))
		}
	}
	return established, strings.Join(problems, "; "), nil
}

// remove deletes a CRD and returns once it is gone. The API server deletes all objects of its kind
// first; it waits for those that have a finalizer.
func remove(ctx context.Context, client dynamic.Interface, crd *unstructured.Unstructured, out io.Writer) error {
	name := crd.GetName()
	objects, err := list(ctx, client, crd)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "deleting: %s and %d objects of it, with what they own\n", name, len(objects))
	for _, object := range objects {
		fmt.Fprintf(out, "deleting: %s %s/%s\n", object.GetKind(), object.GetNamespace(), object.GetName())
	}
	err = client.Resource(crdResource).Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		fmt.Fprintln(out, "not there:", name)
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete CRD %s: %w", name, err)
	}
	err = wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		_, err := client.Resource(crdResource).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("wait for CRD %s to go (an Application with deletionPolicy Orphan goes only while the controller runs): %w", name, err)
	}
	fmt.Fprintln(out, "deleted:", name)
	return nil
}

// list returns the objects of the CRD's kind, and none if the cluster does not know it.
func list(ctx context.Context, client dynamic.Interface, crd *unstructured.Unstructured) ([]unstructured.Unstructured, error) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(crd.Object, definition); err != nil {
		return nil, fmt.Errorf("decode CRD %s: %w", crd.GetName(), err)
	}
	for _, version := range definition.Spec.Versions {
		if !version.Storage {
			continue
		}
		resource := schema.GroupVersionResource{Group: definition.Spec.Group, Version: version.Name, Resource: definition.Spec.Names.Plural}
		objects, err := client.Resource(resource).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", resource.Resource, err)
		}
		return objects.Items, nil
	}
	return nil, fmt.Errorf("CRD %s has no storage version", crd.GetName())
}
