// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net"
	"strconv"

	"fairlead.dev/fairlead/pkg/aggregation"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// aggregatedAPIPort is the port of the Service of the aggregated API server.
const aggregatedAPIPort = 443

// newKeeper returns what registers the aggregated API server while it answers, or nil if no flag names its Service. The
// server has the controller's certificate, so its CAs are those of the webhooks. Its ClusterRole has the Service's name.
func newKeeper(config CompletedConfig, certificates *certificates, leading *clients) *aggregation.Keeper {
	name := config.Serving.AggregatedAPIService
	if name == "" {
		return nil
	}
	service := aggregation.Service{Namespace: config.OperatorNamespace, Name: name, Port: aggregatedAPIPort}
	address := net.JoinHostPort(name+"."+config.OperatorNamespace+".svc", strconv.Itoa(aggregatedAPIPort))
	return aggregation.New(aggregation.Config{
		Client:   leading.dynamic.Resource(aggregation.APIServices),
		Version:  v1alpha1.SchemeGroupVersion,
		Service:  service,
		CABundle: certificates.caBundle,
		Owner:    aggregation.OwnedByClusterRole(leading.dynamic.Resource(aggregation.ClusterRoles), name),
		Probe:    aggregation.ProbeReadyz(address, service, certificates.caBundle),
	})
}

// besideWork adds run to the work of a leader. It ends before the lease does.
func besideWork(work func(ctx, lease context.Context), run func(context.Context)) func(ctx, lease context.Context) {
	return func(ctx, lease context.Context) {
		beside, stop := context.WithCancel(ctx)
		interrupt := context.AfterFunc(lease, stop)
		defer interrupt()
		done := make(chan struct{})
		go func() {
			defer close(done)
			run(beside)
		}()
		work(ctx, lease)
		stop()
		<-done
	}
}
