// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestS8RouteHijackWithoutWebhooks lets a tenant of another namespace ask for a host name that is
// taken, where no webhook refuses it: the sync does, and the owner keeps it.
func TestS8RouteHijackWithoutWebhooks(t *testing.T) {
	t.Parallel()
	cluster := shared.Get(t)
	e, attacker := newEnv(t, cluster), newEnv(t, cluster)
	e.run(func(s *setup) { s.Namespaces = append(s.Namespaces, attacker.namespace) })
	host := e.namespace + ".example.com"
	routed := func(name, host string, more ...string) string {
		return named(small, name) + "  ports: [{name: http, containerPort: 80}]\n  routes: [{name: a, hostnames: [" + host + "]" + strings.Join(more, "") + "}]\n"
	}
	e.as("edit").create(routed("victim", host))
	e.waitReady("victim")

	tenant := attacker.as("edit")
	thieves := []string{"same", "exact", "second"}
	tenant.create(routed("same", host), routed("exact", host, ", paths: [{path: /, pathType: Exact}]"), routed("second", "mine."+host+", "+host))
	for _, name := range thieves {
		stalled := attacker.waitCondition(name, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonRouteConflict)
		if message := describe(stalled); !strings.Contains(message, host) {
			t.Errorf("%s is not told which host name is taken: %s", name, message)
		}
		if find[networkingv1.Ingress](attacker, name) != nil {
			t.Errorf("%s has an Ingress", name)
		}
	}
	if ingress := get[networkingv1.Ingress](e, "victim"); ingress.Spec.Rules[0].Host != host {
		t.Errorf("the owner's Ingress is for %s", ingress.Spec.Rules[0].Host)
	}
}
