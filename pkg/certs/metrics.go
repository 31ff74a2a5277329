// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"fmt"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/component-base/metrics"
)

// RegisterMetrics registers two gauges about the certificate that this replica serves. Each scrape reads the
// provider, so the gauges are never out of date; they are absent while there is no certificate. register is
// legacyregistry.CustomRegister, or CustomRegister of another registry. served may be any provider, but only a
// [Store] knows its CAs.
//
//   - fairlead_serving_certificate_not_after_seconds: when the leaf expires, as Unix time.
//   - fairlead_serving_ca_not_after_seconds: when the CA that signs leaves expires, as Unix time.
func RegisterMetrics(register func(metrics.StableCollector) error, served dynamiccertificates.CertKeyContentProvider) error {
	if err := register(&collector{served: served, leaf: newDesc("fairlead_serving_certificate_not_after_seconds",
		"Unix time at which the serving certificate of this replica expires."),
		ca: newDesc("fairlead_serving_ca_not_after_seconds",
			"Unix time at which the CA that signs the serving certificates expires.")}); err != nil {
		return fmt.Errorf("register metrics of certificates: %w", err)
	}
	return nil
}

func newDesc(name, help string) *metrics.Desc {
	return metrics.NewDesc(name, help, nil, nil, metrics.ALPHA, "")
}

// collector reads the provider at each scrape.
type collector struct {
	metrics.BaseStableCollector
	served   dynamiccertificates.CertKeyContentProvider
	leaf, ca *metrics.Desc
}

func (c *collector) DescribeWithStability(descs chan<- *metrics.Desc) {
	descs <- c.leaf
	descs <- c.ca
}

func (c *collector) CollectWithStability(samples chan<- metrics.Metric) {
	if leaf, err := servedLeaf(c.served); err == nil {
		samples <- gauge(c.leaf, leaf.NotAfter)
	}
	store, ok := c.served.(Store)
	if !ok {
		return
	}
	if ca := store.last().CA.Certificate; ca != nil {
		samples <- gauge(c.ca, ca.NotAfter)
	}
}

func gauge(desc *metrics.Desc, value time.Time) metrics.Metric {
	return metrics.NewLazyConstMetric(desc, metrics.GaugeValue, float64(value.Unix()))
}
