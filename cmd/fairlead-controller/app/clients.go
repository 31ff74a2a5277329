// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"net/http"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gateway "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"
	gatewayscheme "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned/scheme"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/codec"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/scheme"
)

// clients are all clients of the API server. They share one pool of connections.
type clients struct {
	kube     kubernetes.Interface
	fairlead versioned.Interface
	metadata metadata.Interface
	gateway  gateway.Interface
	dynamic  dynamic.Interface
	crds     apiextensions.Interface
	children apply.Client
	http     *http.Client
}

// newClients returns the clients. The recorder observes their lists and watches; it may be nil.
func newClients(config *rest.Config, recorder *debug.Recorder) (*clients, error) {
	config = rest.CopyConfig(config)
	if recorder != nil {
		config.Wrap(recorder.Transport)
	}
	config.Wrap(newRetryTransport) // Around the recorder, which thus observes every attempt.
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("create HTTP client: %w", err)
	}
	c := &clients{http: httpClient}
	// Built-in types use protobuf, which costs a fraction of JSON.
	protobuf := rest.CopyConfig(config)
	protobuf.ContentType = "application/vnd.kubernetes.protobuf"
	protobuf.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	if c.kube, err = kubernetes.NewForConfigAndClient(protobuf, httpClient); err != nil {
		return nil, fmt.Errorf("create Kubernetes client: %w", err)
	}
	// One custom resource that does not decode must not stop the list or watch of the others.
	custom, err := codec.NewRESTClient(config, httpClient, v1.SchemeGroupVersion, scheme.Scheme, scheme.Codecs)
	if err != nil {
		return nil, err
	}
	c.fairlead = versioned.New(custom)
	if c.metadata, err = metadata.NewForConfigAndClient(metadata.ConfigFor(config), httpClient); err != nil {
		return nil, fmt.Errorf("create metadata client: %w", err)
	}
	if custom, err = codec.NewRESTClient(config, httpClient, gatewayv1.SchemeGroupVersion, gatewayscheme.Scheme, gatewayscheme.Codecs); err != nil {
		return nil, err
	}
	c.gateway = gateway.New(custom) // It supports only the version of the REST client.
	if c.dynamic, err = dynamic.NewForConfigAndClient(config, httpClient); err != nil {
		return nil, fmt.Errorf("create dynamic client: %w", err)
	}
	if c.crds, err = apiextensions.NewForConfigAndClient(protobuf, httpClient); err != nil {
		return nil, fmt.Errorf("create client for CustomResourceDefinitions: %w", err)
	}
	if c.children, err = apply.NewClient(config, httpClient); err != nil {
		return nil, err
	}
	return c, nil
}

// guardedClients returns clients that write only while this replica holds the lease.
func guardedClients(config *rest.Config, guard *fence) (*clients, error) {
	config = rest.CopyConfig(config)
	config.Wrap(guard.guardWrites)
	return newClients(config, nil) // It neither lists nor watches.
}

func (c *clients) close() { utilnet.CloseIdleConnectionsFor(c.http.Transport) }

// newLeaseClient returns the client of the leader election. It shares no connections and limits with syncs, so that a
// busy leader does not lose its lease.
func newLeaseClient(config *rest.Config, election LeaderElection) (coordination.LeasesGetter, *http.Client, error) {
	config = rest.CopyConfig(config)
	config.UserAgent += "/leader-election"
	config.Timeout = election.RenewDeadline / 2
	// This is more than an elector needs, and limits a broken one.
	config.QPS, config.Burst = 10, 20
	if config.Proxy == nil {
		// This is the default. Setting it keeps client-go from sharing the connections of equal configurations,
		// because functions are not comparable.
		config.Proxy = http.ProxyFromEnvironment
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("create HTTP client for the lease: %w", err)
	}
	client, err := coordination.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, nil, fmt.Errorf("create client for the lease: %w", err)
	}
	return client, httpClient, nil
}
