// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestRenamedPorts: the Service leads to pods by the name of the port, which those that run do not have after a rename.
func TestRenamedPorts(t *testing.T) {
	const (
		begin = "spec.ports: the Service leads to its pods by the name of the port, so pods of the older revision get no requests"
		all   = begin + " until they are replaced, unless the spec keeps the name http"
		both  = begin + " until they are replaced, unless the spec keeps the names http, grpc"
		gone  = "spec.ports: without ports the Application has no Service, so Fairlead deletes Service web, and its address is gone"
		held  = "spec.reconcilePolicy: it is Observe, so this change of the pods has no effect until you set it to Enforce"
		one   = begin + " at port 80 until they are replaced, unless the spec keeps the name http"
	)
	port := func(name string, number int32) v1.ApplicationPort {
		return v1.ApplicationPort{Name: name, ContainerPort: number}
	}
	at := func(servicePort int32, port v1.ApplicationPort) v1.ApplicationPort {
		port.ServicePort = &servicePort
		return port
	}
	type ports = []v1.ApplicationPort
	with := func(ports ports, changes ...func(*v1.Application)) *v1.Application {
		return application(func(a *v1.Application) {
			a.Spec.Ports = ports
			a.Status.Replicas, a.Status.UpdatedReplicas, a.Status.ReadyReplicas = 2, 2, 2
			a.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionTrue, ObservedGeneration: a.Generation}}
			for _, change := range changes {
				change(a)
			}
		})
	}
	http, web := ports{port("http", 8080)}, ports{port("web", 8080)}
	stopped := func(a *v1.Application) { a.Status.ReadyReplicas = 0 }
	rollingOut := func(a *v1.Application) { a.Status.UpdatedReplicas = 1 }
	notReady := func(a *v1.Application) { a.Status.Conditions[0].Status = metav1.ConditionFalse } // Refused, rolled back, or it waits for a Secret.
	older := func(a *v1.Application) { a.Status.Conditions[0].ObservedGeneration = a.Generation - 1 }
	pinned := func(a *v1.Application) { a.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(1))} }
	recreate := func(a *v1.Application) {
		a.Spec.Strategy = &appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
	observe := func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileObserve }
	for _, test := range []struct {
		name     string
		old, new *v1.Application
		want     []string
		cluster  *cluster // Nil: the Service is the Application's.
	}{
		{name: "a new Application", new: with(web)},
		{name: "another image", old: with(http), new: with(http, image("web:2"))},
		{name: "another number", old: with(http), new: with(ports{port("http", 9090)})},
		{name: "another name", old: with(http), new: with(web), want: []string{all}},
		{name: "another name and number", old: with(http), new: with(ports{port("web", 9090)}), want: []string{all}},
		{name: "no pod serves", old: with(http, stopped), new: with(web)},
		{name: "back amid a rollout", old: with(web, rollingOut), new: with(http)},
		{name: "back from a spec that is not carried out", old: with(web, notReady), new: with(http)},
		{name: "two edits, one after the other", old: with(web, older), new: with(http)},
		{name: "back from a pinned revision", old: with(web, pinned), new: with(http)},
		{name: "no ports", old: with(http), new: with(nil), want: []string{gone}},
		{name: "no ports any more, and the Service cannot be read", old: with(http), new: with(nil), cluster: &cluster{unreadable: true, allowed: []string{"web"}}, want: []string{gone}},
		{name: "no ports any more, and the Service is another's", old: with(http), new: with(nil), cluster: &cluster{exist: []string{"Service/web"}}},
		{name: "no ports any more, and there is no Service yet", old: with(http), new: with(nil), cluster: new(cluster)},
		{name: "no ports any more, at a pinned revision", old: with(http), new: with(nil, pinned), want: []string{
			"spec.rollback.toRevision: revision 1 does not exist, so Fairlead changes nothing until you name another one or remove the field. The Application has no revisions yet",
		}},
		{name: "no ports any more, with Observe", old: with(http), new: with(nil, observe), want: []string{held}},
		{name: "the first port", old: with(nil), new: with(web)},
		{name: "pods that all end first", old: with(http), new: with(web, recreate)},
		{name: "back from Observe", old: with(web, observe), new: with(http)},
		{name: "Observe", old: with(http), new: with(web, observe), want: []string{held}},
		{name: "one more port", old: with(http), new: with(ports{port("http", 8080), port("web", 9090)})},
		{name: "both names", old: with(ports{port("http", 1), port("grpc", 2)}), new: with(ports{port("a", 1), port("b", 2)}), want: []string{both}},
		{
			name: "one name of two", want: []string{one},
			old: with(ports{at(80, port("http", 1)), port("grpc", 2)}), new: with(ports{at(80, port("web", 1)), port("grpc", 2)}),
		},
		{
			name: "one name of two, and the numbers change places", want: []string{one},
			old: with(ports{port("http", 9090), port("metrics", 80)}), new: with(ports{port("web", 80), port("metrics", 9090)}),
		},
		{
			name: "a new name at the number of another", want: []string{strings.Replace(one, "keeps the name http", "leaves port 80 to http", 1)},
			old: with(ports{port("http", 80)}), new: with(ports{port("http", 8080), port("web", 80)}),
		},
		{name: "one port of two goes", old: with(ports{port("http", 1), port("grpc", 2)}), new: with(ports{port("grpc", 2)})},
	} {
		t.Run(test.name, func(t *testing.T) {
			question := review(t, test.new, nil)
			if test.old != nil {
				question = review(t, test.new, test.old)
			}
			if test.cluster == nil {
				test.cluster = &cluster{owned: []string{"Service/web"}}
			}
			response := ask(t, test.cluster.handler(t), ValidatePath, question)
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}
