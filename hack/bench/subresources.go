// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/hack/bench/internal/report"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/testing/aggregated"
)

// G13: what a list costs through the aggregated API server, and how much memory the server takes.

const (
	// podsOfEach is how many pods each Application has here. Nothing runs them; what the server keeps of them is the same.
	podsOfEach = 2
	// listRounds is how often each list is read in a repeat.
	listRounds = 5
	// serverLimit is the limit of memory in artifacts/components/aggregated-api/deployment.yaml, and serverMemoryLimit the
	// GOMEMLIMIT there.
	serverLimit       = 512 // MiB
	serverMemoryLimit = "450MiB"

	asTable    = "application/json;as=Table;v=v1;g=meta.k8s.io"
	asJSON     = "application/json"
	asProtobuf = "application/vnd.kubernetes.protobuf"

	customResources = "/apis/apps.fairlead.dev/v1/applications"
	runtimes        = "/apis/" + v1alpha1.GroupName + "/v1alpha1/applications"
)

// listing is one way to list all Applications.
type listing struct {
	name, path, accept string
	took               report.Sample // ms
	bytes              int
}

// measureSubresources has a lab of its own: pods would be in the way of the other goals.
func (b *bench) measureSubresources(ctx context.Context) error {
	return inLab(ctx, b.options, func(l *lab) error {
		n := b.options.applications
		b.progress.step("G13: memory of the aggregated API server without Applications")
		var empty, full, peak int64
		err := l.withServer(ctx, 0, func(s *subject) (err error) {
			empty, err = s.leastRSS(ctx, time.Second)
			return err
		})
		if err != nil {
			return err
		}
		if err := b.populate(ctx, l, n); err != nil {
			return err
		}
		b.progress.step("G13: %d pods, and lists of %d Applications in turns", podsOfEach*n, n)
		if err := l.createPods(ctx); err != nil {
			return err
		}
		listings := []*listing{
			{name: "custom resource as a table", path: customResources, accept: asTable},
			{name: "view as a table", path: runtimes, accept: asTable},
			{name: "custom resource in JSON", path: customResources, accept: asJSON},
			{name: "view in JSON", path: runtimes, accept: asJSON},
			{name: "view in protobuf", path: runtimes, accept: asProtobuf},
		}
		err = l.withServer(ctx, n, func(s *subject) (err error) {
			if full, err = s.leastRSS(ctx, time.Second); err != nil {
				return err
			}
			if err := l.timeLists(ctx, listings, listRounds*b.options.repeats); err != nil {
				return err
			}
			peak, err = s.peak()
			return err
		})
		if err != nil {
			return err
		}
		for _, each := range listings {
			b.progress.result("%s: %.1f ms, %.2f MB", each.name, each.took.Median(), float64(each.bytes)/1e6)
		}
		b.reportSubresources(listings, empty, full, peak)
		return nil
	})
}

func (b *bench) reportSubresources(listings []*listing, empty, full, peak int64) {
	n := float64(b.options.applications)
	crTable, table, crJSON, viewJSON, protobuf := listings[0], listings[1], listings[2], listings[3], listings[4]
	b.add(
		report.Row{
			Goal: "G13", What: "list of views as a table, against the custom resource's", Unit: "ms",
			Must: report.AtMostTimes(1), Aim: report.AtMostTimes(0.25), Floor: crTable.took, Measured: table.took,
			Note: fmt.Sprintf("%d Applications with %d pods each; %.2f MB against %.2f MB", b.options.applications, podsOfEach, float64(table.bytes)/1e6, float64(crTable.bytes)/1e6),
		},
		report.Row{
			Goal: "G13", What: "list of views in protobuf, against the custom resource in JSON", Unit: "ms",
			Must: report.AtMostTimes(1), Aim: report.AtMostTimes(0.25), Floor: crJSON.took, Measured: protobuf.took,
			Note: fmt.Sprintf("%.2f MB against %.2f MB; the views in JSON are %.2f MB and take %.1f ms", float64(protobuf.bytes)/1e6, float64(crJSON.bytes)/1e6, float64(viewJSON.bytes)/1e6, viewJSON.took.Median()),
		},
		report.Row{
			Goal: "G13", What: "peak memory of the server (RSS)", Unit: "MiB", Must: report.AtMost(serverLimit), Measured: report.Sample{float64(peak) / mebibyte},
			Note: fmt.Sprintf("%d lists included, with GOMEMLIMIT=%s; at rest %.1f MiB, without Applications %.1f MiB",
				len(listings)*len(table.took), serverMemoryLimit, float64(full)/mebibyte, float64(empty)/mebibyte),
		},
		report.Row{
			Goal: "G13", What: "memory of an Application and its pods in the server (RSS)", Unit: "KiB",
			Measured: report.Sample{float64(full-empty) / n / kibibyte},
		},
	)
}

// withServer runs the real executable meanwhile, registered with kube-apiserver, from when it serves so many Applications.
func (l *lab) withServer(ctx context.Context, applications int, run func(*subject) error) (err error) {
	server, err := aggregated.Prepare(l.options.server(), l.plane.Kubeconfig(), l.dir, metav1.NamespaceDefault, v1alpha1.SchemeGroupVersion)
	if err != nil {
		return err
	}
	server.Command.Env = append(os.Environ(), "GOMEMLIMIT="+serverMemoryLimit) // As installed.
	s, err := l.start(server.Command, aggregated.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop(ctx)) }()
	unregister, err := l.register(ctx, server)
	defer func() { err = errors.Join(err, unregister(context.WithoutCancel(ctx))) }()
	if err != nil {
		return err
	}
	err = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		if err := s.Err(); err != nil {
			return false, err
		}
		list, err := l.clients.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == applications, nil // Until kube-apiserver reaches it, there are errors.
	})
	if err != nil {
		return fmt.Errorf("wait for the aggregated API server: %w", err)
	}
	return run(s)
}

// register makes kube-apiserver forward to the server, until unregister is called.
func (l *lab) register(ctx context.Context, server *aggregated.Server) (unregister func(context.Context) error, err error) {
	core := l.clients.kube.CoreV1().RESTClient()
	var created []string
	unregister = func(ctx context.Context) (err error) {
		for _, path := range slices.Backward(created) {
			err = errors.Join(err, core.Delete().AbsPath(path).Do(ctx).Error())
		}
		return err
	}
	for _, part := range []struct {
		path   string
		object *unstructured.Unstructured
	}{
		{"/api/v1/namespaces/" + metav1.NamespaceDefault + "/services", server.Service},
		{"/apis/apiregistration.k8s.io/v1/apiservices", server.Registration},
	} {
		encoded, err := part.object.MarshalJSON()
		if err != nil {
			return unregister, err
		}
		if err := core.Post().AbsPath(part.path).SetHeader("Content-Type", asJSON).Body(encoded).Do(ctx).Error(); err != nil {
			return unregister, fmt.Errorf("create the %s: %w", part.object.GetKind(), err)
		}
		created = append(created, part.path+"/"+part.object.GetName())
	}
	return unregister, nil
}

// createPods makes pods that run, from the templates of the Deployments. No controller and no kubelet does that here.
func (l *lab) createPods(ctx context.Context) error {
	for i := range namespaces {
		namespace := fmt.Sprintf("%s%d", namespacePrefix, i)
		deployments, err := l.clients.kube.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		err = inParallel(ctx, l.options.workers, podsOfEach*len(deployments.Items), func(ctx context.Context, i int) error {
			deployment := &deployments.Items[i/podsOfEach]
			return l.createPod(ctx, namespace, fmt.Sprintf("%s-%d", deployment.Name, i%podsOfEach), &deployment.Spec.Template)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) createPod(ctx context.Context, namespace, name string, template *corev1.PodTemplateSpec) error {
	pod := &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
	pod.Namespace, pod.Name = namespace, name
	created, err := l.clients.kube.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create a pod: %w", err)
	}
	now := metav1.Now()
	created.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "10.0.0.1", StartTime: &now,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: created.Spec.Containers[0].Name, Image: created.Spec.Containers[0].Image, Ready: true, Started: new(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		}},
	}
	if _, err := l.clients.kube.CoreV1().Pods(namespace).UpdateStatus(ctx, created, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("write the status of a pod: %w", err)
	}
	return nil
}

// timeLists reads the lists in turns, from the request to the last byte. The first round is not counted: it fills what is
// cached.
func (l *lab) timeLists(ctx context.Context, listings []*listing, rounds int) error {
	if err := l.collectGarbage(ctx); err != nil {
		return err
	}
	for round := range rounds + 1 {
		for _, each := range listings {
			began := time.Now()
			body, err := l.clients.kube.CoreV1().RESTClient().Get().AbsPath(each.path).SetHeader("Accept", each.accept).DoRaw(ctx)
			if err != nil {
				return fmt.Errorf("list: %s: %w", each.name, err)
			}
			if took := time.Since(began); round > 0 {
				each.took = append(each.took, float64(took)/float64(time.Millisecond))
			}
			each.bytes = len(body)
		}
	}
	return nil
}
