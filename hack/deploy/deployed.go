// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// systemNamespace is where make deploy puts the controller, and where one outside of the cluster keeps what it creates for itself.
const systemNamespace = "fairlead-system"

// nameLabel is on the Deployment and on the namespace of a controller. The overlays and the chart set it.
const nameLabel = "app.kubernetes.io/name"

// deployed returns the Deployments of controllers, in any namespace. known is false
// if the user may not list them.
func (c *cluster) deployed(ctx context.Context) (all []appsv1.Deployment, known bool, err error) {
	list, err := c.kube.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: nameLabel + "=" + controllerName})
	switch {
	case apierrors.IsForbidden(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("list deployments: %w", err)
	}
	return list.Items, true, nil
}

// printWhatIsDeployed names what the deletion of the CRDs leaves in the cluster: controllers, or what one outside of the cluster created.
func (c *cluster) printWhatIsDeployed(ctx context.Context) error {
	all, known, err := c.deployed(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		fmt.Fprintf(c.out, "stays: Deployment %s/%s, with the namespace and what else is in it; make undeploy DELETE_CRDS=1, or helm uninstall, deletes it\n",
			all[i].Namespace, all[i].Name)
	}
	if !known || len(all) > 0 {
		return nil
	}
	_, err = c.kube.CoreV1().Namespaces().Get(ctx, systemNamespace, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil
	case err != nil:
		return fmt.Errorf("get namespace %s: %w", systemNamespace, err)
	}
	fmt.Fprintf(c.out, "stays: Namespace %s, with what is in it, such as the Secret that a controller creates; if you need none of it: kubectl delete namespace %s\n",
		systemNamespace, systemNamespace)
	return nil
}

// printNoController says that no controller runs in the cluster, to a user whose deletion needs one.
func (c *cluster) printNoController(ctx context.Context) error {
	all, known, err := c.deployed(ctx)
	if err != nil || !known {
		return err
	}
	for i := range all {
		if all[i].Status.AvailableReplicas > 0 {
			return nil
		}
	}
	fmt.Fprintln(c.out, "no controller runs in the cluster: unless one runs on your machine, start one (make run), or the deletion waits for it")
	return nil
}
