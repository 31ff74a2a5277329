// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/fairlead/hack/internal/cluster"
	"fairlead.dev/fairlead/hack/internal/objects"
	"fairlead.dev/fairlead/hack/internal/process"
	"fairlead.dev/fairlead/hack/internal/steps"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
)

// simulatedNodes is how many nodes the demo's own cluster has, and simulatedRegion what fairlead-cluster labels them with.
const (
	simulatedNodes  = 3
	simulatedRegion = "simulated"
)

// abilities are what a cluster can do.
type abilities struct {
	// simulate says that pods only seem to run, and behave as their annotation asks.
	simulate bool
	// provision says that a PersistentVolumeClaim gets a volume without one being made for it.
	provision bool
}

// openCluster starts the cluster, unless the user chose the current one, and finds out what it can do.
func (d *demo) openCluster(ctx context.Context) error {
	began := time.Now()
	var err error
	if d.config == nil {
		stop := d.out.While("etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok", nil)
		defer stop()
		d.cluster, err = cluster.Start(d.options.binary("fairlead-cluster"), d.files.cluster(), d.files.kubeconfig(), d.files.logs(), d.died,
			"--nodes="+strconv.Itoa(simulatedNodes),
			// A claim that comes before its volume is looked at again then; the default is 15 seconds.
			"--component-flag=kube-controller-manager=--pvclaimbinder-sync-period=1s")
		if err != nil {
			return err
		}
		if d.config, err = d.cluster.Config(ctx, fieldManager); err != nil {
			return err
		}
	}
	if d.kube, err = kubernetes.NewForConfig(d.config); err != nil {
		return err
	}
	if d.fairlead, err = versioned.NewForConfig(d.config); err != nil {
		return err
	}
	if d.objects, err = objects.NewClient(d.config, fieldManager); err != nil {
		return err
	}
	server, err := d.kube.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("cannot reach the API server at %s: %w", d.config.Host, err)
	}
	nodes, err := d.inspect(ctx)
	if err != nil {
		return err
	}
	kind := "nodes"
	if d.can.simulate {
		kind = "simulated nodes"
	}
	d.out.Good("Kubernetes %s at %s, %d %s (%s)", server.GitVersion, d.config.Host, nodes, kind, steps.Since(began))
	return nil
}

// inspect finds out what the cluster can do, and returns how many nodes can run pods.
func (d *demo) inspect(ctx context.Context) (usable int, err error) {
	nodes, err := d.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, fmt.Errorf("list nodes: %w", err)
	}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		if isReady(node) && !node.Spec.Unschedulable {
			usable++
		}
		d.can.simulate = d.can.simulate || node.Labels[corev1.LabelTopologyRegion] == simulatedRegion
	}
	if usable == 0 {
		return 0, fmt.Errorf("the cluster at %s has no node that could run a pod; unset %s to have a cluster with simulated nodes started", d.config.Host, clusterEnv)
	}
	classes, err := d.kube.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, fmt.Errorf("list StorageClasses: %w", err)
	}
	for i := range classes.Items {
		d.can.provision = d.can.provision || classes.Items[i].Annotations["storageclass.kubernetes.io/is-default-class"] == "true"
	}
	return usable, nil
}

func isReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
		return condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
	})
}

func (d *demo) installCRDs(ctx context.Context) error {
	crds, err := objects.ReadDir(d.options.artifacts("crds"))
	if err != nil {
		return err
	}
	return d.install(ctx, crds)
}

func (d *demo) install(ctx context.Context, crds []*unstructured.Unstructured) error {
	began := time.Now()
	for _, crd := range crds {
		if err := d.objects.InstallCRD(ctx, crd); err != nil {
			return err
		}
		d.out.Good("%s (%s)", crd.GetName(), steps.Since(began))
	}
	return nil
}

// startController runs the real executable. On a cluster of others it watches the demo's namespace alone: what is in the
// others is none of the demo's business.
func (d *demo) startController(ctx context.Context) error {
	flags := []string{"--v=2", "--debug-bind-address=127.0.0.1:0"}
	if d.cluster == nil {
		flags = append(flags, "--namespace="+namespace)
	} else {
		// This cluster's API server runs on this machine, so it reaches the webhooks.
		flags = append(flags, "--kubeconfig="+d.cluster.Kubeconfig, "--webhook-bind-address=127.0.0.1:0", "--webhook-url=https://127.0.0.1:0")
	}
	var err error
	d.controller, err = process.Start(exec.Command(d.options.binary("fairlead-controller"), flags...), d.files.log("fairlead-controller"), d.died)
	if err != nil {
		return err
	}
	d.out.Good("%s", strings.Join(d.controller.Cmd.Args, " "))
	d.out.Good("process %d, log in %s", d.controller.Cmd.Process.Pid, d.controller.Log)
	found, err := d.controller.AwaitLog(ctx, liveView)
	if err != nil {
		return fmt.Errorf("find the live view of the controller: %w", err)
	}
	d.out.Good("watch it work: %s", found[1])
	return nil
}

// liveView is what the controller logs of where its live view is: the port is a free one.
var liveView = regexp.MustCompile(`"Serving the live view" url="([^"]+)"`)

// How long each part of stopping may take.
const (
	cleanTimeout   = 2 * time.Minute
	processTimeout = 30 * time.Second // The controller waits for running syncs up to 20 seconds.
	clusterTimeout = time.Minute
)

// stop undoes the steps as far as they went: what a cluster of others must not keep, the controller, the cluster. failed means that there is an error already; then a
// process that is gone is no news.
func (d *demo) stop(ctx context.Context, failed bool) error {
	d.out.Title("Stop")
	var errs []error
	if d.cluster == nil {
		// The namespace comes first: a PersistentVolume stays while its claim does.
		for _, object := range d.made {
			errs = append(errs, d.stopOne(ctx, cleanTimeout, objects.Name(object)+" deleted", func(ctx context.Context) error {
				_, err := d.objects.Delete(ctx, object, metav1.DeleteOptions{})
				return err
			}))
		}
	}
	errs = append(errs, d.stopProcess(ctx, d.apiServer, "the aggregated API server", failed), d.stopProcess(ctx, d.controller, "the controller", failed))
	if d.cluster != nil && (d.cluster.Err() == nil || !failed) {
		errs = append(errs, d.stopOne(ctx, clusterTimeout, "the cluster stopped", d.cluster.Stop))
	}
	return errors.Join(errs...)
}

// stopProcess stops one that was started. How it ends is not judged if the demo failed: it may have only just started.
func (d *demo) stopProcess(ctx context.Context, p *process.Process, name string, failed bool) error {
	if p == nil || failed && p.Err() != nil {
		return nil //nolint:nilerr // The demo failed because it ended, and says so.
	}
	return d.stopOne(ctx, processTimeout, name+" ended after SIGTERM", func(ctx context.Context) error {
		err := p.Stop(ctx)
		if failed {
			return nil
		}
		return err
	})
}

func (d *demo) stopOne(ctx context.Context, limit time.Duration, done string, stop func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not within %s", limit))
	defer cancel()
	began := time.Now()
	stopWaiting := d.out.While("until "+done, nil)
	err := stop(ctx)
	stopWaiting()
	if err != nil {
		d.out.Bad("Not as expected: %s: %v", done, err)
		return err
	}
	d.out.Good("%s (%s)", done, steps.Since(began))
	return nil
}
