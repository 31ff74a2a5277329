// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestChildFollowsSpec changes what a child is made from, back again, and away: fields are
// added, changed and removed. The first change meets an object that a POST created, the second
// one that was applied before; fields have other owners then, but must go all the same.
func TestChildFollowsSpec(t *testing.T) {
	t.Parallel()
	e := start(t, unreviewedAccounts)
	for _, test := range followCases() {
		t.Run(test.kind.Kind, func(t *testing.T) {
			t.Parallel()
			e := e.sub(t)
			application := lower(test.kind)
			name := application + test.suffix
			e.apply(specOf(application, test.first))
			e.waitFields(test.kind, name, test.created)
			created := content(e.live(test.kind, name), e.application(application).UID)
			e.checkMetadata(test.kind, name, application, "fairlead Update")

			e.apply(specOf(application, test.second))
			e.waitFields(test.kind, name, test.changed)
			e.checkMetadata(test.kind, name, application, "fairlead Apply")

			e.apply(specOf(application, test.first))
			e.waitFields(test.kind, name, test.created)
			if diff := cmp.Diff(created, content(e.live(test.kind, name), e.application(application).UID)); diff != "" {
				t.Errorf("there and back again leaves a difference (-before +after):\n%s", diff)
			}

			if test.off == "" {
				return
			}
			e.apply(specOf(application, test.off))
			e.eventually(name+" is deleted", func() (bool, string) {
				live := e.live(test.kind, name)
				return live == nil, e.field(live, "metadata")
			})
			e.waitEvent(application, v1.EventChildDeleted, test.kind.Kind, name)
			if got := resourceStatus(e.waitObserved(application), test.kind, name); got.Name != "" {
				t.Errorf("status still lists the deleted child: %+v", got)
			}
		})
	}
}

// checkMetadata checks what every child has, and who owns its fields: the controller alone.
func (e *env) checkMetadata(kind child.Kind, name, application, manager string) {
	e.Helper()
	var managers []string
	for _, entry := range e.live(kind, name).GetManagedFields() {
		if entry.Subresource == "" {
			managers = append(managers, entry.Manager+" "+string(entry.Operation))
		}
	}
	if !slices.Equal(managers, []string{manager}) {
		e.Errorf("fields of %s belong to %q, want %q alone", e.ref(kind.Kind, name), managers, manager)
	}
	if diff := e.differing(e.live(kind, name), fields{
		`metadata.labels.app\.kubernetes\.io/name`:        application,
		`metadata.labels.app\.kubernetes\.io/managed-by`:  "fairlead",
		`metadata.labels.apps\.fairlead\.dev/application`: application,
		`metadata.labels.team`:                            "shop",
		`metadata.labels.app\.kubernetes\.io/instance`:    "",
		`metadata.ownerReferences[*].kind`:                "Application",
		`metadata.ownerReferences[*].name`:                application,
		`metadata.ownerReferences[*].uid`:                 string(e.application(application).UID),
		`metadata.ownerReferences[*].controller`:          "true",
		`metadata.ownerReferences[*].blockOwnerDeletion`:  "true",
	}); diff != "" {
		e.Errorf("metadata of %s (-want +got):\n%s", e.ref(kind.Kind, name), diff)
	}
}

// specOf is an Application with this spec and without pods, unless the spec scales it. Its host name
// is its own.
func specOf(name, spec string) string {
	spec = strings.ReplaceAll(spec, "web.example.com", name+".example.com")
	return `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: ` + name + `, labels: {team: shop, app.kubernetes.io/instance: argo}}
spec:
  image: registry.example.com/web:1
` + spec
}

type followCase struct {
	kind          child.Kind
	suffix        string // of the child's name
	first, second string // what is added to the spec
	off           string // without the child; "": it is always there
	created       fields // after first
	changed       fields // after second
}

const container = "spec.template.spec.containers[0]."

func followCases() []followCase {
	return []followCase{{
		kind:    child.ServiceAccount,
		first:   `  serviceAccount: {annotations: {keep: same, change: before, remove: me}, automountToken: true}` + without0,
		second:  `  serviceAccount: {annotations: {keep: same, change: after, add: me}}` + without0,
		off:     `  serviceAccount: {name: default}` + without0,
		created: fields{"metadata.annotations.keep": "same", "metadata.annotations.change": "before", "metadata.annotations.remove": "me", "metadata.annotations.add": "", "automountServiceAccountToken": "true"},
		changed: fields{"metadata.annotations.keep": "same", "metadata.annotations.change": "after", "metadata.annotations.remove": "", "metadata.annotations.add": "me", "automountServiceAccountToken": "false"},
	}, {
		kind:    child.ConfigMap,
		suffix:  "-config",
		first:   `  config: {mountPath: /etc/web, data: {keep: same, change: before, remove: me}}` + without0,
		second:  `  config: {mountPath: /etc/web, data: {keep: same, change: after, add: me}}` + without0,
		off:     without0,
		created: fields{"data.keep": "same", "data.change": "before", "data.remove": "me", "data.add": ""},
		changed: fields{"data.keep": "same", "data.change": "after", "data.remove": "", "data.add": "me"},
	}, {
		kind: child.Deployment,
		first: `
  ports: [{name: http, containerPort: 8080}, {name: admin, containerPort: 9090}]
  env: [{name: KEEP, value: same}, {name: CHANGE, value: before}, {name: REMOVE, value: me}]
  args: [serve]
  workingDir: /srv
  resources: {requests: {cpu: 10m}, limits: {memory: 64Mi}}
  livenessProbe: {httpGet: {path: /live}}
  readinessProbe: {httpGet: {path: /ready}, periodSeconds: 3}
  nodeSelector: {disk: ssd}
  tolerations: [{key: gpu, operator: Exists}]
  minReadySeconds: 3
  mounts: [{mountPath: /cache, emptyDir: {}}]
  initContainers: [{name: migrate, image: "registry.example.com/migrate:1"}]
  sidecars: [{name: shipper, image: "registry.example.com/shipper:1"}]
  podMetadata: {annotations: {scrape: "true"}, labels: {tier: front}}
  strategy: {rollingUpdate: {maxUnavailable: 1}}` + without0,
		second: `
  ports: [{name: http, containerPort: 8081}, {name: metrics, containerPort: 9100}]
  env: [{name: KEEP, value: same}, {name: CHANGE, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: ADD, value: me}]
  command: [web]
  resources: {requests: {memory: 16Mi}}
  readinessProbe: {tcpSocket: {}}
  podMetadata: {annotations: {other: "1"}}
  podSecurityContext: {fsGroup: 1000}
  strategy: {type: Recreate}` + without0,
		created: fields{
			container + "ports[*].name": "http admin", container + "ports[*].containerPort": "8080 9090",
			container + "env[*].name": "KEEP CHANGE REMOVE", container + "env[1].value": "before", container + "env[1].valueFrom": "",
			container + "args[0]": "serve", container + "command": "", container + "workingDir": "/srv",
			container + "resources":                  `{"limits":{"memory":"64Mi"},"requests":{"cpu":"10m"}}`,
			container + "livenessProbe.httpGet.path": "/live", container + "readinessProbe.httpGet.path": "/ready", container + "readinessProbe.tcpSocket": "",
			container + "volumeMounts[*].mountPath": "/tmp /cache", "spec.template.spec.nodeSelector.disk": "ssd",
			"spec.template.spec.tolerations[*].key": "gpu", "spec.minReadySeconds": "3",
			"spec.template.spec.initContainers[*].name": "migrate", "spec.template.spec.containers[*].name": "deployment shipper",
			"spec.template.metadata.annotations.scrape": "true", "spec.template.metadata.labels.tier": "front",
			"spec.strategy.type": "RollingUpdate", "spec.strategy.rollingUpdate.maxUnavailable": "1",
		},
		changed: fields{
			container + "ports[*].name": "http metrics", container + "ports[*].containerPort": "8081 9100",
			container + "env[*].name": "KEEP CHANGE ADD", container + "env[1].value": "", container + "env[1].valueFrom.fieldRef.fieldPath": "metadata.name",
			container + "args": "", container + "command[0]": "web", container + "workingDir": "",
			container + "resources":     `{"requests":{"memory":"16Mi"}}`,
			container + "livenessProbe": "", container + "readinessProbe.httpGet": "", container + "readinessProbe.tcpSocket.port": "http", container + "readinessProbe.periodSeconds": "10",
			container + "volumeMounts[*].mountPath": "/tmp", "spec.template.spec.nodeSelector": "",
			"spec.template.spec.tolerations": "", "spec.minReadySeconds": "",
			"spec.template.spec.initContainers": "", "spec.template.spec.containers[*].name": "deployment",
			"spec.template.metadata.annotations": `{"other":"1"}`, "spec.template.metadata.labels.tier": "",
			"spec.template.spec.securityContext.fsGroup": "1000",
			"spec.strategy": `{"type":"Recreate"}`,
		},
	}, {
		kind: child.Service,
		first: `
  ports: [{name: http, containerPort: 8080, servicePort: 80}, {name: admin, containerPort: 9090, appProtocol: http}]
  service: {type: NodePort, sessionAffinity: ClientIP, annotations: {keep: same, remove: me}}` + without0,
		second: `
  ports: [{name: http, containerPort: 8080, servicePort: 8000}, {name: admin, containerPort: 9090, protocol: UDP}, {name: metrics, containerPort: 9100}]
  service: {annotations: {keep: same, add: me}}` + without0,
		off: without0,
		created: fields{
			"spec.ports[*].name": "http admin", "spec.ports[*].port": "80 9090", "spec.ports[*].targetPort": "http admin", "spec.ports[*].protocol": "TCP TCP", "spec.ports[*].appProtocol": "http",
			"spec.type": "NodePort", "spec.sessionAffinity": "ClientIP", "metadata.annotations.remove": "me", "metadata.annotations.add": "",
		},
		changed: fields{
			"spec.ports[*].name": "http admin metrics", "spec.ports[*].port": "8000 9090 9100", "spec.ports[*].protocol": "TCP UDP TCP", "spec.ports[*].appProtocol": "",
			"spec.type": "ClusterIP", "spec.sessionAffinity": "None", "spec.sessionAffinityConfig": "", "spec.ports[*].nodePort": "", "metadata.annotations.remove": "", "metadata.annotations.add": "me",
		},
	}, {
		kind: child.HorizontalPodAutoscaler,
		first: `
  resources: {requests: {cpu: 10m, memory: 16Mi}}
  autoscaling: {minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 60, targetMemoryUtilizationPercentage: 70, behavior: {scaleDown: {stabilizationWindowSeconds: 60}}}`,
		second: `
  resources: {requests: {cpu: 10m, memory: 16Mi}}
  autoscaling: {minReplicas: 1, maxReplicas: 5, targetMemoryUtilizationPercentage: 80}`,
		off:     without0,
		created: fields{"spec.maxReplicas": "3", "spec.metrics[*].resource.name": "cpu memory", "spec.metrics[*].resource.target.averageUtilization": "60 70", "spec.behavior.scaleDown.stabilizationWindowSeconds": "60"},
		changed: fields{"spec.maxReplicas": "5", "spec.metrics[*].resource.name": "memory", "spec.metrics[*].resource.target.averageUtilization": "80", "spec.behavior.scaleDown.stabilizationWindowSeconds": ""},
	}, {
		kind:    child.PodDisruptionBudget,
		first:   `  disruptionBudget: {mode: Custom, minAvailable: 50%}` + without0,
		second:  `  disruptionBudget: {mode: Custom, maxUnavailable: 2}` + without0,
		off:     `  disruptionBudget: {mode: Disabled}` + without0,
		created: fields{"spec.minAvailable": "50%", "spec.maxUnavailable": ""},
		changed: fields{"spec.minAvailable": "", "spec.maxUnavailable": "2"},
	}, {
		kind: child.NetworkPolicy,
		first: `
  ports: [{name: http, containerPort: 8080}]
  networkPolicy:
    ingress: [{from: [{application: {name: shop}}]}]
    egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}], ports: [{port: 5432}]}]` + without0,
		second: `
  ports: [{name: http, containerPort: 8080}]
  networkPolicy:
    egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8}}]}, {to: [{podSelector: {matchLabels: {app: db}}}]}]` + without0,
		off:     without0,
		created: fields{`spec.ingress[*].from[*].podSelector.matchLabels.apps\.fairlead\.dev/application`: "shop", "spec.egress[1].to[0].ipBlock.except[0]": "10.1.0.0/16", "spec.egress[1].ports[0].port": "5432"},
		changed: fields{"spec.ingress": "", "spec.egress[1].to[0].ipBlock": `{"cidr":"10.0.0.0/8"}`, "spec.egress[1].ports": "", "spec.egress[2].to[0].podSelector.matchLabels.app": "db"},
	}, {
		kind: child.Ingress,
		first: `
  ports: [{name: http, containerPort: 8080}]
  routes: [{name: public, hostnames: [a.example.com, b.example.com], ingressClassName: nginx, tls: {secretName: web-tls}, annotations: {remove: me}}]` + without0,
		second: `
  ports: [{name: http, containerPort: 8080}]
  routes: [{name: public, hostnames: [b.example.com, c.example.com], paths: [{path: /api, pathType: Exact}]}]` + without0,
		off: `
  ports: [{name: http, containerPort: 8080}]` + without0,
		created: fields{"spec.rules[*].host": "a.example.com b.example.com", "spec.ingressClassName": "nginx", "spec.tls[0].secretName": "web-tls", "metadata.annotations.remove": "me", "spec.rules[0].http.paths[*].path": "/"},
		changed: fields{"spec.rules[*].host": "b.example.com c.example.com", "spec.ingressClassName": "", "spec.tls": "", "metadata.annotations.remove": "", "spec.rules[0].http.paths[*].path": "/api"},
	}}
}

// without0 ends a spec that runs no pods.
const without0 = "\n  replicas: 0\n"
