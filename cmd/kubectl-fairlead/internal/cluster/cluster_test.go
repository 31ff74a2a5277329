// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"

	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
)

// TestNewWithoutRateLimit: a client-side limiter reports an error of its own if a wait ends during a request. The user's config stays as it is.
func TestNewWithoutRateLimit(t *testing.T) {
	config := &rest.Config{Host: "https://cluster.invalid", QPS: 5, Burst: 10}
	clients, err := cluster.New(config)
	if err != nil {
		t.Fatal(err)
	}
	for name, client := range map[string]rest.Interface{
		"Kubernetes": clients.Kube.CoreV1().RESTClient(),
		"Fairlead":   clients.Fairlead.AppsV1().RESTClient(),
	} {
		if limiter := client.GetRateLimiter(); limiter != nil {
			t.Errorf("the client of %s has a limit of %v requests in a second", name, limiter.QPS())
		}
	}
	if clients.Config.QPS != -1 || config.QPS != 5 {
		t.Errorf("the clients have a limit of %v, and the config that was passed of %v, want -1 and 5", clients.Config.QPS, config.QPS)
	}
}
