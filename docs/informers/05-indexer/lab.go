// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package indexer looks objects up by other values than their key.
package indexer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

const (
	byNode  = "node"
	byImage = "image"
	// pods is the number of pods in the largest part of the lab.
	pods = 10_000
)

// Lab needs no cluster: an Indexer is a map with more maps beside it.
func Lab(_ context.Context, l *lab.Lab) error {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.TypedIndexersToIndexers(cache.TypedIndexers[*corev1.Pod]{
		byNode: func(pod *corev1.Pod) ([]string, error) {
			if pod.Spec.NodeName == "" {
				return nil, nil // In no entry of this index.
			}
			return []string{pod.Spec.NodeName}, nil
		},
		byImage: func(pod *corev1.Pod) ([]string, error) {
			var images []string
			for i := range pod.Spec.Containers {
				images = append(images, pod.Spec.Containers[i].Image)
			}
			return images, nil
		},
	}))
	for _, pod := range []*corev1.Pod{pod("ida", "north", "web"), pod("moby", "north", "web", "log"), pod("nemo", "", "web")} {
		if err := indexer.Add(pod); err != nil {
			return err
		}
	}

	l.Step("keys and indexes")
	l.Say("keys            %v", sorted(indexer.ListKeys()))
	if err := say(l, indexer, byNode, "north"); err != nil {
		return err
	}
	for _, image := range []string{"log", "web"} {
		if err := say(l, indexer, byImage, image); err != nil {
			return err
		}
	}

	l.Step("an update moves the entry")
	if err := indexer.Update(pod("nemo", "north", "web")); err != nil {
		return err
	}
	if err := say(l, indexer, byNode, "north"); err != nil {
		return err
	}

	l.Step("a change in place does not: the index still answers for the old value")
	object, _, err := indexer.GetByKey("sea/ida")
	if err != nil {
		return err
	}
	ida, ok := object.(*corev1.Pod)
	if !ok {
		return fmt.Errorf("a %T in a store of pods", object)
	}
	ida.Spec.NodeName = "south"
	for _, node := range []string{"north", "south"} {
		if err := say(l, indexer, byNode, node); err != nil {
			return err
		}
	}

	l.Step("a new index is filled at once")
	if err := indexer.AddIndexers(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}); err != nil {
		return err
	}
	if err := say(l, indexer, cache.NamespaceIndex, "sea"); err != nil {
		return err
	}
	_, err = indexer.ByIndex("colour", "red")
	l.Say("unknown index: %v", err)
	return compare(l)
}

// compare finds ten of many objects, with an index and without.
func compare(l *lab.Lab) error {
	l.Step("the pods of one node of a thousand, of %d pods", pods)
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for i := range pods {
		if err := indexer.Add(pod(fmt.Sprintf("pod-%d", i), fmt.Sprintf("node-%d", i%1000), "web")); err != nil {
			return err
		}
	}
	start := time.Now()
	found := 0
	for _, object := range indexer.List() {
		if pod, ok := object.(*corev1.Pod); ok && pod.Spec.NodeName == "node-7" {
			found++
		}
	}
	l.Say("all pods visited:     %d found, %s", found, l.Took(time.Since(start)))
	if err := indexer.AddIndexers(cache.Indexers{byNode: func(object any) ([]string, error) {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return nil, fmt.Errorf("a %T in a store of pods", object)
		}
		return []string{pod.Spec.NodeName}, nil
	}}); err != nil {
		return err
	}
	start = time.Now()
	objects, err := indexer.ByIndex(byNode, "node-7")
	l.Say("index look-up:        %d found, %s", len(objects), l.Took(time.Since(start)))
	return err
}

func pod(name, node string, images ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "sea", Name: name}, Spec: corev1.PodSpec{NodeName: node}}
	for _, image := range images {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: image, Image: image})
	}
	return pod
}

// say prints one entry of an index. Entries are sets, so it sorts them.
func say(l *lab.Lab, indexer cache.Indexer, index, value string) error {
	keys, err := indexer.IndexKeys(index, value)
	if err != nil {
		return err
	}
	l.Say("%-15s [%s]", index+"="+value, strings.Join(sorted(keys), " "))
	return nil
}

func sorted(keys []string) []string { return slices.Sorted(slices.Values(keys)) }
