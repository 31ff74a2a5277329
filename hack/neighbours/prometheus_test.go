// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestPrometheus lets the Prometheus operator make the configuration of a real Prometheus from what Fairlead ships and from the
// ServiceMonitor of an Application, and looks at what that Prometheus makes of it.
func TestPrometheus(t *testing.T) {
	m := newMonitoring(t)
	l, shipped := m.lab, m.shipped
	webhookPort := m.addController("fairlead-controller-1")
	l.apply(states)
	l.apply(monitored)
	for _, name := range []string{"ready", "orders", "rolled-back"} {
		l.waitReady(name)
	}
	l.patch("rolled-back", `{"spec":{"image":"registry.example.com/simulate/image-pull-error:2"}}`)
	l.waitCondition("rolled-back", "RolledBack", "True", "RolledBack")
	l.review(webhookPort, "registry.example.com/web:1", true)
	p := m.prometheus(time.Second)

	// The token is checked.
	p.waitTargets(fairleadPool, 1, "down", "403")
	l.bind(monitoringNamespace, "prometheus", "fairlead-metrics-reader")
	p.waitTargets(fairleadPool, 1, "up", "")
	p.waitTargets("serviceMonitor/monitoring/kube-state-metrics/0", 1, "up", "")
	for _, target := range p.waitTargets("serviceMonitor/shop/orders/0", 2, "up", "") {
		if !strings.HasSuffix(target.ScrapeURL, ":9797/internal/metrics") || target.Labels["namespace"] != team || target.Labels["service"] != "orders" {
			t.Errorf("the Application is scraped at %s, with the labels %v", target.ScrapeURL, target.Labels)
		}
	}
	p.waitResult(`count(shop_orders_total{namespace="shop", job="orders"}) == 2`)

	p.wantRules(shipped)
	p.waitAlert("ApplicationRolledBack", "firing", "rolled-back")
	for _, name := range []string{"waiting", "crashing"} {
		p.waitAlert("ApplicationNotReady", "pending", name)
	}
	l.eventually("nothing is wrong with the controller", func(ctx context.Context) (bool, string) {
		for _, alert := range p.alerts(ctx) {
			if strings.HasPrefix(alert.Labels["alertname"], "Fairlead") {
				return false, fmt.Sprint(alert)
			}
		}
		return true, ""
	})

	for _, dashboard := range dashboards {
		p.wantPanels(dashboard.of(t, shipped))
	}
}
