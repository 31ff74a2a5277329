// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// openCluster starts the cluster, unless the user chose the current one, and finds out what it can do.
func (d *demo) openCluster(ctx context.Context) error {
	began := time.Now()
	var err error
	if d.cluster == nil {
		stop := drawWait(d.screen, "etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok")
		defer stop()
		if d.cluster, err = startCluster(ctx, d.options.binary("fairlead-cluster"), d.files, d.died); err != nil {
			return err
		}
	}
	if d.clients, err = newClients(d.cluster.config); err != nil {
		return err
	}
	version, nodes, err := d.cluster.inspect(ctx, d.clients.kube)
	if err != nil {
		return err
	}
	kind := ""
	if d.cluster.simulated {
		kind = "simulated "
	}
	d.screen.tell(good, "Kubernetes %s at %s, %d %s%s (%s)", version, d.cluster.config.Host, nodes, kind, plural(nodes, "node"), since(began))
	return nil
}

func (d *demo) installCRDs(ctx context.Context) error {
	began := time.Now()
	names, err := installCRDs(ctx, d.clients, d.options.artifacts("crds"))
	if err != nil {
		return err
	}
	d.screen.tell(good, "%s (%s)", strings.Join(names, ", "), since(began))
	return nil
}

// startController runs the real binary. On somebody else's cluster it watches the demo's namespace alone: what is in the
// others is none of the demo's business.
func (d *demo) startController(ctx context.Context) error {
	flags := append(d.cluster.kubeconfigFlags(), "--v=2", "--debug-bind-address=127.0.0.1:0")
	if d.cluster.own == nil {
		flags = append(flags, "--namespace="+namespace)
	} else {
		// This cluster's API server runs on this machine, so it reaches the webhooks.
		flags = append(flags, "--webhook-bind-address=127.0.0.1:0", "--webhook-url=https://127.0.0.1:0")
	}
	var err error
	d.controller, err = startBinary(d.options.binary("fairlead-controller"), d.files.log("fairlead-controller"), d.died, flags...)
	if err != nil {
		return err
	}
	d.screen.tell(good, "%s %s", d.controller.Cmd.Path, strings.Join(flags, " "))
	d.screen.tell(good, "process %d, log in %s", d.controller.Cmd.Process.Pid, d.controller.Log)
	found, err := d.controller.AwaitLog(ctx, liveView)
	if err != nil {
		return fmt.Errorf("find the live view of the controller: %w", err)
	}
	d.screen.tell(good, "watch it work: %s", found[1])
	return nil
}

// liveView is what the controller logs of where its live view is: the port is a free one.
var liveView = regexp.MustCompile(`"The live view is served" url="([^"]+)"`)

// openNamespace creates the namespace and begins to watch it.
func (d *demo) openNamespace(ctx context.Context) error {
	_, err := d.clients.kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		metav1.CreateOptions{FieldManager: fieldManager})
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("the namespace %s exists already, perhaps left behind by a demo that was killed; if you need nothing in it: kubectl delete namespace %s", namespace, namespace)
	}
	if err != nil {
		return fmt.Errorf("create the namespace %s: %w", namespace, err)
	}
	d.applier = &applier{clients: d.clients, namespace: namespace}
	// The observer lives longer than this step.
	var watchCtx context.Context
	watchCtx, d.unwatch = context.WithCancel(context.WithoutCancel(ctx))
	firstListIsIn := context.AfterFunc(ctx, d.unwatch) // Until then, the step's deadline holds.
	d.observer, err = observe(watchCtx, d.clients, namespace)
	firstListIsIn()
	return causeOf(ctx, err)
}
