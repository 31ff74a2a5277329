// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lister corrupts a cache, and shows how to detect that.
package lister

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// Lab changes what a lister returned: first the object itself, then a copy.
func Lab(ctx context.Context, l *lab.Lab) error {
	maps := l.Client.CoreV1().ConfigMaps(l.Namespace)
	for _, name := range []string{"ida", "moby"} {
		boat := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"sails": "white"}}}
		if _, err := maps.Create(ctx, boat, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	factory := informers.NewSharedInformerFactoryWithOptions(l.Client, 0, informers.WithNamespace(l.Namespace))
	informer := factory.Core().V1().ConfigMaps()
	boats := informer.Lister().ConfigMaps(l.Namespace)
	synced := informer.Informer().HasSyncedChecker()
	running, cancel := context.WithCancel(ctx)
	defer factory.Shutdown()
	defer cancel()
	factory.StartWithContext(running)
	if !cache.WaitFor(ctx, "", synced) {
		return context.Cause(ctx)
	}

	l.Step("a lister returns the cache's own object")
	one, err := boats.Get("ida")
	if err != nil {
		return err
	}
	two, err := boats.Get("ida")
	if err != nil {
		return err
	}
	l.Say("the same pointer twice: %t", one == two)

	l.Step("a controller paints the cached ida black, and its write fails")
	one.Labels["sails"] = "black"
	if err := say(ctx, l, boats, "ida"); err != nil {
		return err
	}
	l.Say("a sync that compares desired (black) with cached never finds anything to do")

	l.Step("the same with moby, on a copy")
	moby, err := boats.Get("moby")
	if err != nil {
		return err
	}
	moby = moby.DeepCopy()
	moby.Labels["sails"] = "black"
	if err := say(ctx, l, boats, "moby"); err != nil {
		return err
	}
	return detect(ctx, l)
}

// say prints the colour in the cache, by a selector too, and on the server.
func say(ctx context.Context, l *lab.Lab, boats corelisters.ConfigMapNamespaceLister, name string) error {
	cached, err := boats.Get(name)
	if err != nil {
		return err
	}
	black, err := boats.List(labels.SelectorFromSet(labels.Set{"sails": "black"}))
	if err != nil {
		return err
	}
	live, err := l.Client.CoreV1().ConfigMaps(l.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	l.Say("%s: cache %s, server %s; black boats by the lister: %d", name, cached.Labels["sails"], live.Labels["sails"], len(black))
	return nil
}

// PartCorrupt names the part of the lab that runs in a separate process, since the detector ends it.
const PartCorrupt = "corrupt"

// detect runs Corrupt with the mutation detector, which is switched on when a process starts.
func detect(ctx context.Context, l *lab.Lab) error {
	l.Step("the same mistake with KUBE_CACHE_MUTATION_DETECTOR=true")
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	command := l.Child(ctx, PartCorrupt)
	command.Env = append(command.Env, "KUBE_CACHE_MUTATION_DETECTOR=true")
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return err
	}
	l.Say("the process ended with an error: %t", err != nil)
	for line := range strings.Lines(output.String()) {
		if strings.HasPrefix(line, "CACHE ") || strings.HasPrefix(line, "panic: ") {
			l.Say("%s", strings.TrimSpace(line))
		}
	}
	return nil
}
