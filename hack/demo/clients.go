// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
)

// fieldManager is the demo's name as the author of fields.
const fieldManager = "fairlead-demo"

// clients speak to the API server: typed ones to watch, and a dynamic one for YAML files, whose kinds are not known
// beforehand.
type clients struct {
	fairlead      versioned.Interface
	kube          kubernetes.Interface
	apiextensions apiextensions.Interface
	dynamic       dynamic.Interface
	mapper        *restmapper.DeferredDiscoveryRESTMapper
	close         func()
}

func newClients(config *rest.Config) (*clients, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // No limit on our side: the API server knows its load.
	config.UserAgent = fieldManager
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make HTTP client: %w", err)
	}
	c := &clients{close: httpClient.CloseIdleConnections}
	if c.fairlead, err = versioned.NewForConfigAndClient(config, httpClient); err != nil {
		return nil, fmt.Errorf("make Fairlead client: %w", err)
	}
	if c.kube, err = kubernetes.NewForConfigAndClient(config, httpClient); err != nil {
		return nil, fmt.Errorf("make Kubernetes client: %w", err)
	}
	if c.apiextensions, err = apiextensions.NewForConfigAndClient(config, httpClient); err != nil {
		return nil, fmt.Errorf("make CustomResourceDefinition client: %w", err)
	}
	if c.dynamic, err = dynamic.NewForConfigAndClient(config, httpClient); err != nil {
		return nil, fmt.Errorf("make dynamic client: %w", err)
	}
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.kube.Discovery()))
	return c, nil
}
