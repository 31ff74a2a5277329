// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	externalversions "fairlead.dev/fairlead/pkg/generated/informers/externalversions"
)

// bareSync fills caches as the controller does, with the same selectors and encodings, and does nothing with them: no
// transform, no index, no handler. What it takes is what any controller must take.
func bareSync(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	config.UserAgent = agent + "-" + bareCommand
	config.DisableCompression = true
	fairlead, err := versioned.NewForConfig(config)
	if err != nil {
		return err
	}
	protobuf := rest.CopyConfig(config)
	protobuf.ContentType = "application/vnd.kubernetes.protobuf"
	protobuf.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	kube, err := kubernetes.NewForConfig(protobuf)
	if err != nil {
		return err
	}
	own := externalversions.NewSharedInformerFactory(fairlead, 0)
	own.Apps().V1().Applications().Informer()
	own.Apps().V1().ApplicationClasses().Informer()
	owned := informers.NewSharedInformerFactoryWithOptions(kube, 0, selecting(labels.Set{v1.LabelManagedBy: v1.ManagedBy}.String()))
	for _, kind := range child.Kinds() {
		informer, err := owned.ForResource(kind.GroupVersionResource())
		if err != nil {
			return err
		}
		informer.Informer()
	}
	pods := informers.NewSharedInformerFactoryWithOptions(kube, 0, selecting(v1.LabelApplication))
	pods.Core().V1().Pods().Informer()
	pods.Apps().V1().ReplicaSets().Informer()

	own.StartWithContext(ctx)
	owned.StartWithContext(ctx)
	pods.StartWithContext(ctx)
	for _, result := range []error{
		own.WaitForCacheSyncWithContext(ctx).AsError(),
		owned.WaitForCacheSyncWithContext(ctx).AsError(),
		pods.WaitForCacheSyncWithContext(ctx).AsError(),
	} {
		if err := errors.Join(result, context.Cause(ctx)); err != nil {
			return err
		}
	}
	return nil
}

func selecting(selector string) informers.SharedInformerOption {
	return informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = selector })
}
