// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/hack/internal/objects"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func installCRDs(ctx context.Context, c *cluster, o options) error {
	return forEachCRD(o, func(crd *unstructured.Unstructured) error {
		if err := c.objects.InstallCRD(ctx, crd); err != nil {
			return err
		}
		fmt.Fprintln(c.out, "installed:", crd.GetName())
		return nil
	})
}

// installCRDsAlone is for a user who runs the controller outside of the cluster: the next step is theirs.
func installCRDsAlone(ctx context.Context, c *cluster, o options) error {
	checkDeleted := func(crd *unstructured.Unstructured) error { return c.checkDeleted(ctx, crd) }
	if err := forEachCRD(o, checkDeleted); err != nil {
		return err
	}
	if err := installCRDs(ctx, c, o); err != nil {
		return err
	}
	fmt.Fprintln(c.out, "next: make run, and in another terminal: kubectl apply -f artifacts/examples/minimal.yaml")
	return nil
}

// checkDeleted refuses to install a CRD that is being deleted. It would be established, and gone soon after.
func (c *cluster) checkDeleted(ctx context.Context, crd *unstructured.Unstructured) error {
	live, err := c.objects.Resource(objects.CRDs).Get(ctx, crd.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get CRD %s: %w", crd.GetName(), err)
	}
	if live.GetDeletionTimestamp() == nil {
		return nil
	}
	fmt.Fprint(c.out, c.waiting(ctx, crd))
	return fmt.Errorf("the CRD %s is being deleted, since %s: let that end, then run make install again", crd.GetName(), live.GetDeletionTimestamp().UTC().Format(time.RFC3339))
}

func forEachCRD(o options, do func(*unstructured.Unstructured) error) error {
	crds, err := objects.ReadDir(o.crds)
	if err != nil {
		return err
	}
	for _, crd := range crds {
		if err := do(crd); err != nil {
			return err
		}
	}
	return nil
}

// printWhatStays counts the objects that no controller looks after any more, unless one outside of the cluster does.
func printWhatStays(ctx context.Context, c *cluster, o options) error {
	until := "until Fairlead is deployed again"
	left, err := c.leftWebhooks(ctx)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		until += ", unless the controller outside of the cluster still runs"
	}
	err = forEachCRD(o, func(crd *unstructured.Unstructured) error {
		all, err := c.objectsOf(ctx, crd)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.out, "stays: %s, with %s\n", crd.GetName(), counted(len(all)))
		printWhoEndsDeletions(c, all, until)
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(c.out, "The children of Applications stay too. Nothing repairs or changes them "+until+".")
	return nil
}

// printWhoEndsDeletions counts the objects whose deletion waits for a controller, and says for which one, or until when. It names those
// whose deletion ought to wait for Fairlead: nothing has set the finalizer yet.
func printWhoEndsDeletions(c *cluster, all []unstructured.Unstructured, until string) {
	var ours, theirs int
	var unheld []unstructured.Unstructured
	for i := range all {
		own, others := finalizersOf(&all[i])
		if leavesChildren(&all[i]) && !own && all[i].GetDeletionTimestamp() == nil {
			unheld = append(unheld, all[i])
		}
		if own {
			ours++
		}
		if others != "" {
			theirs++
		}
	}
	if ours > 0 {
		fmt.Fprintf(c.out, "stays: %s with the finalizer %s, so a deletion waits %s\n", counted(ours), v1.FinalizerOrphan, until)
	}
	if len(unheld) > 0 {
		fmt.Fprintf(c.out, "stays: %s with deletionPolicy Orphan and without the finalizer %s (%s). %s, deleting them deletes their children too\n",
			counted(len(unheld)), v1.FinalizerOrphan, someNames(unheld), strings.ToUpper(until[:1])+until[1:])
	}
	if theirs > 0 {
		fmt.Fprintf(c.out, "stays: %s with a finalizer of another tool, so a deletion waits for that tool\n", counted(theirs))
	}
}

// removeCRD deletes a CRD and returns once it is gone. The API server deletes all objects of its
// kind first; it waits for those that have a finalizer.
func (c *cluster) removeCRD(ctx context.Context, crd *unstructured.Unstructured) error {
	all, err := c.objectsOf(ctx, crd)
	if err != nil {
		return err
	}
	if len(all) > 0 {
		fmt.Fprintf(c.out, "deleting: %s and %s of it, with what they own\n", crd.GetName(), counted(len(all)))
	}
	for i := range all {
		fmt.Fprintln(c.out, "deleting:", objects.Name(&all[i]))
	}
	stop := c.reportWaiting(ctx, crd)
	found, err := c.objects.Delete(ctx, crd, metav1.DeleteOptions{})
	stop()
	switch {
	case err != nil:
		return err
	case found:
		fmt.Fprintln(c.out, "deleted:", crd.GetName())
	default:
		fmt.Fprintln(c.out, "not there:", crd.GetName())
	}
	return nil
}

// objectsOf returns the objects of the CRD's kind, and none if the cluster does not know it.
func (c *cluster) objectsOf(ctx context.Context, crd *unstructured.Unstructured) ([]unstructured.Unstructured, error) {
	definition, err := objects.ToCRD(crd)
	if err != nil {
		return nil, err
	}
	for _, version := range definition.Spec.Versions {
		if !version.Storage {
			continue
		}
		resource := schema.GroupVersionResource{Group: definition.Spec.Group, Version: version.Name, Resource: definition.Spec.Names.Plural}
		list, err := c.objects.Resource(resource).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", resource.Resource, err)
		}
		return list.Items, nil
	}
	return nil, fmt.Errorf("CRD %s has no storage version", crd.GetName())
}
