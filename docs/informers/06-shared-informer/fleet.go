// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package sharedinformer

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// fleet is the boats with one value of the label, so that each part of a lab sees only its own. The name may be empty.
type fleet struct {
	lab  *lab.Lab
	maps typedcore.ConfigMapInterface
	name string
}

func newFleet(l *lab.Lab, name string) *fleet {
	return &fleet{lab: l, maps: l.Client.CoreV1().ConfigMaps(l.Namespace), name: name}
}

func (f *fleet) selector() string { return label + "=" + f.name }

// boat returns a boat of the fleet. Two fleets may use the same name for a boat.
func (f *fleet) boat(name, length string) *corev1.ConfigMap {
	if f.name != "" {
		name = f.name + "-" + name
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{label: f.name}},
		Data:       map[string]string{"length": length},
	}
}

// build creates boats and returns the resourceVersion of the last one.
func (f *fleet) build(ctx context.Context, names ...string) (version string, err error) {
	for _, name := range names {
		built, err := f.maps.Create(ctx, f.boat(name, "1"), metav1.CreateOptions{})
		if err != nil {
			return "", err
		}
		version = built.ResourceVersion
	}
	return version, nil
}

// factory makes informers of the fleet that never resync.
func (f *fleet) factory(options ...informers.SharedInformerOption) informers.SharedInformerFactory {
	options = append(options, informers.WithNamespace(f.lab.Namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = f.selector() }))
	return informers.NewSharedInformerFactoryWithOptions(f.lab.Client, 0, options...)
}

// with runs a part of a lab while the informer runs.
func (f *fleet) with(ctx context.Context, factory informers.SharedInformerFactory, informer cache.SharedInformer, part func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer factory.Shutdown()
	defer cancel()
	factory.StartWithContext(ctx)
	if !cache.WaitFor(ctx, "", informer.HasSyncedChecker()) {
		return context.Cause(ctx)
	}
	return part(ctx)
}

// running runs a part of a lab while something else runs, and stops that.
func (f *fleet) running(ctx context.Context, run func(context.Context), part func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var group wait.Group
	defer group.Wait()
	defer cancel()
	group.StartWithContext(ctx, run)
	return part(ctx)
}

// stored waits until the store has so many boats.
func (f *fleet) stored(ctx context.Context, when string, store cache.Store, boats int) error {
	err := lab.Eventually(ctx, "the boats in the store", func(context.Context) (bool, error) {
		return len(store.ListKeys()) == boats, nil
	})
	f.lab.Say("%s, the store has %d", when, len(store.ListKeys()))
	return err
}

// gate stops every caller of pass until it is open.
type gate struct {
	first, free chan struct{}
	once, freed sync.Once
}

func newGate() *gate { return &gate{first: make(chan struct{}), free: make(chan struct{})} }

func (g *gate) pass() {
	g.once.Do(func() { close(g.first) })
	<-g.free
}

func (g *gate) open() { g.freed.Do(func() { close(g.free) }) }

// reached waits for the first one at the gate.
func (g *gate) reached(ctx context.Context) error {
	reached := make(chan struct{}, 1)
	go func() {
		<-g.first
		reached <- struct{}{}
	}()
	_, err := lab.Receive(ctx, "the call that does not return", reached)
	return err
}
