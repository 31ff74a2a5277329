// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// How long each part of stopping may take.
const (
	cleanTimeout      = 2 * time.Minute
	controllerTimeout = 30 * time.Second // It waits for running syncs up to 20 seconds.
	clusterTimeout    = time.Minute
)

// stop undoes the steps in the opposite order, as far as they went: the watch, what somebody else's cluster must not
// keep, the controller, the cluster. failed means that there is an error already; then a process that is gone is no news.
func (d *demo) stop(ctx context.Context, failed bool) error {
	d.screen.print(nil, line{toned(strong, "Stop")})
	if d.observer != nil {
		d.unwatch()
		d.observer.close()
	}
	var errs []error
	if d.applier != nil && d.cluster.own == nil {
		errs = append(errs, d.bounded(ctx, cleanTimeout, "deleting the namespace "+namespace, d.clean))
	}
	if d.clients != nil {
		d.clients.close()
	}
	if d.controller != nil && (d.controller.Err() == nil || !failed) {
		errs = append(errs, d.bounded(ctx, controllerTimeout, "the controller ends", func(ctx context.Context) (string, error) {
			return d.stopController(ctx, failed)
		}))
	}
	if d.cluster != nil && d.cluster.own != nil && (d.cluster.own.Err() == nil || !failed) {
		errs = append(errs, d.bounded(ctx, clusterTimeout, "the control plane stops", func(ctx context.Context) (string, error) {
			return "cluster stopped", d.cluster.own.Stop(ctx)
		}))
	}
	return errors.Join(errs...)
}

// bounded performs one part of stopping, and says what goes on and what was done.
func (d *demo) bounded(ctx context.Context, limit time.Duration, doing string, stop func(context.Context) (done string, err error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not within %s", limit))
	defer cancel()
	began := time.Now()
	stopDrawing := drawWait(d.screen, "%s", doing)
	defer stopDrawing()
	done, err := stop(ctx)
	if err != nil {
		d.screen.tellError(err)
		return err
	}
	d.screen.tell(good, "%s (%s)", done, since(began))
	return nil
}

// stopController asks the controller to end, which it must do with exit code 0. How a controller ends that was stopped
// right after it had started, because a step has failed, is not judged.
func (d *demo) stopController(ctx context.Context, failed bool) (done string, err error) {
	err = d.controller.Stop(ctx)
	if failed {
		err = nil
	}
	return fmt.Sprintf("SIGTERM to the controller: %s", d.controller.Cmd.ProcessState), err
}

// clean deletes what the demo made in somebody else's cluster, except the CustomResourceDefinitions: with them would go
// every Application of the cluster.
func (d *demo) clean(ctx context.Context) (done string, err error) {
	namespaces := d.clients.kube.CoreV1().Namespaces()
	err = namespaces.Delete(ctx, namespace, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("delete the namespace %s: %w", namespace, err)
	}
	if err := d.applier.deleteOutside(ctx); err != nil {
		return "", err
	}
	list := cache.NewListWatchFromClient(d.clients.kube.CoreV1().RESTClient(), "namespaces", metav1.NamespaceAll,
		fields.OneTermEqualSelector(metav1.ObjectNameField, namespace))
	_, err = watchtools.UntilWithSync(ctx, list, &corev1.Namespace{},
		func(store cache.Store) (bool, error) { return len(store.List()) == 0, nil },
		func(event watch.Event) (bool, error) { return event.Type == watch.Deleted, nil })
	if err != nil {
		return "", fmt.Errorf("wait until the namespace %s is gone: %w; look at its status: kubectl get namespace %s -o yaml", namespace, causeOf(ctx, err), namespace)
	}
	return fmt.Sprintf("namespace %s and what belongs to it deleted; the CustomResourceDefinitions stay", namespace), nil
}
