// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/hack/bench/internal/report"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// G5: how much memory Applications and other objects take.

const (
	kibibyte = 1 << 10
	mebibyte = 1 << 20
	// foreignNamespace is where the objects of others are.
	foreignNamespace = "foreign"
)

// footprint is the memory of a controller that was started over settled Applications and has come to rest.
type footprint struct {
	applications int
	// peak is the most until it came to rest, rss what stayed after garbage was collected, heap what live objects take of it.
	peak, rss, heap float64
}

// measureSlope makes the Applications that the other goals need too, and weighs a controller that is started over a tenth
// of them, and one that is started over all.
func (b *bench) measureSlope(ctx context.Context, l *lab) error {
	few, err := b.footprintOf(ctx, l, b.options.applications/10)
	if err != nil {
		return err
	}
	many, err := b.footprintOf(ctx, l, b.options.applications)
	if err != nil {
		return err
	}
	b.reportSlope(few, many)
	return nil
}

// footprintOf starts a controller over so many Applications and weighs it.
func (b *bench) footprintOf(ctx context.Context, l *lab, applications int) (footprint, error) {
	if err := b.populate(ctx, l, applications); err != nil {
		return footprint{}, err
	}
	b.progress.step("G5: memory of a controller started over %d Applications", applications)
	f := footprint{applications: applications}
	err := l.withController(ctx, func(c *controller) error {
		if err := l.awaitRest(ctx, c, l.applications); err != nil {
			return err
		}
		peak, err := c.peak()
		if err != nil {
			return err
		}
		f.peak = float64(peak)
		return f.weigh(ctx, c)
	})
	return f, err
}

func (f *footprint) weigh(ctx context.Context, c *controller) error {
	rss, err := c.collectGarbage(ctx, min(time.Second, time.Duration(f.applications)*time.Millisecond))
	if err != nil {
		return err
	}
	f.rss = float64(rss)
	f.heap, err = c.heap(ctx)
	return err
}

// reportSlope is what one more Application takes, from a tenth of them to all.
func (b *bench) reportSlope(few, many footprint) {
	more := float64(many.applications - few.applications)
	b.progress.result("RSS %.1f MiB with %d Applications, %.1f MiB with %d", few.rss/mebibyte, few.applications, many.rss/mebibyte, many.applications)
	b.add(
		report.Row{
			Goal: "G5", What: "memory of an Application (RSS)", Unit: "KiB", Must: report.AtMost(32), Aim: report.AtMost(16),
			Measured: report.Sample{(many.rss - few.rss) / more / kibibyte},
			Note: fmt.Sprintf("slope from %d to %d Applications, of controllers started over them, at rest, after a forced collection; RSS %.1f and %.1f MiB",
				few.applications, many.applications, few.rss/mebibyte, many.rss/mebibyte),
		},
		report.Row{Goal: "G5", What: "memory of an Application (live heap)", Unit: "KiB", Measured: report.Sample{(many.heap - few.heap) / more / kibibyte}},
		report.Row{
			Goal: "G5", What: "peak at the start, against at rest", Unit: "MiB", Aim: report.AtMostTimes(1.3),
			Floor: report.Sample{many.rss / mebibyte}, Measured: report.Sample{many.peak / mebibyte},
		},
	)
}

// measureForeign weighs the controller before and after others make objects that are none of its business. One
// Application refers to a Secret and a ConfigMap, since the controller does not watch these kinds before that.
func (b *bench) measureForeign(ctx context.Context, l *lab) error {
	n := b.options.applications
	b.progress.step("G5: %d Secrets, ConfigMaps and Deployments of others", n)
	const own = 1 << 10 // bytes in each
	if err := l.createNamespace(ctx, foreignNamespace); err != nil {
		return err
	}
	if err := l.createForeign(ctx, "referenced", own); err != nil {
		return err
	}
	referring := newApplication(0)
	referring.Namespace, referring.Name = foreignNamespace, "referring"
	referring.Spec.Mounts = []v1.Mount{
		{MountPath: "/etc/secret", Secret: &corev1.SecretVolumeSource{SecretName: "referenced"}},
		{MountPath: "/etc/config", ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "referenced"}}},
	}
	if _, err := l.clients.fairlead.AppsV1().Applications(foreignNamespace).Create(ctx, referring, metav1.CreateOptions{}); err != nil {
		return err
	}
	before, after := footprint{applications: l.applications}, footprint{applications: l.applications}
	err := l.withController(ctx, func(c *controller) error {
		if err := l.awaitRest(ctx, c, l.applications); err != nil {
			return err
		}
		if err := before.weigh(ctx, c); err != nil {
			return err
		}
		err := inParallel(ctx, l.options.workers, n, func(ctx context.Context, i int) error {
			return l.createForeign(ctx, fmt.Sprintf("foreign-%05d", i), own)
		})
		if err != nil {
			return err
		}
		if err := l.awaitRest(ctx, c, l.applications); err != nil {
			return err
		}
		return after.weigh(ctx, c)
	})
	if err != nil {
		return fmt.Errorf("weigh objects of others: %w", err)
	}
	b.add(report.Row{
		Goal: "G5", What: "memory of objects of others (RSS)", Unit: "MiB", Aim: report.AtMost(5),
		Measured: report.Sample{(after.rss - before.rss) / mebibyte},
		Note: fmt.Sprintf("%d Secrets, as many ConfigMaps and Deployments, while Secrets and ConfigMaps are watched; live heap %+.2f MiB",
			n, (after.heap-before.heap)/mebibyte),
	})
	return nil
}

// createForeign makes a Secret, a ConfigMap and a Deployment that have no controller.
func (l *lab) createForeign(ctx context.Context, name string, size int) error {
	meta := metav1.ObjectMeta{Namespace: foreignNamespace, Name: name}
	selector := map[string]string{"app": name}
	content := strings.Repeat("x", size)
	core := l.clients.kube.CoreV1()
	if _, err := core.Secrets(meta.Namespace).Create(ctx, &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"key": content}}, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create a Secret: %w", err)
	}
	if _, err := core.ConfigMaps(meta.Namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"key": content}}, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create a ConfigMap: %w", err)
	}
	_, err := l.clients.kube.AppsV1().Deployments(meta.Namespace).Create(ctx, &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: selector},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: selector},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.example.com/other:1"}}},
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create a Deployment: %w", err)
	}
	return nil
}
