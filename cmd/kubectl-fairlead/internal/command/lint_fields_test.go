// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestLintOfLabelsInSelector: a label that is written into a selector itself belongs in its matchLabels.
func TestLintOfLabelsInSelector(t *testing.T) {
	wantLint(t, map[string]string{
		`networkPolicy: {ingress: [{from: [{podSelector: {app: web}}]}]}`:                                               `spec.networkPolicy.ingress[0].from[0].podSelector.app: Forbidden: unknown field: a label belongs in spec.networkPolicy.ingress[0].from[0].podSelector.matchLabels`,
		`networkPolicy: {ingress: [{from: [{podSelector: {matchLabel: {app: web}}}]}]}`:                                 `spec.networkPolicy.ingress[0].from[0].podSelector.matchLabel: Forbidden: unknown field: did you mean matchLabels?`,
		`networkPolicy: {ingress: [{from: [{podSelector: {example.com/tier: "front"}}]}]}`:                              `spec.networkPolicy.ingress[0].from[0].podSelector.example.com/tier: Forbidden: unknown field: a label belongs in spec.networkPolicy.ingress[0].from[0].podSelector.matchLabels`,
		`networkPolicy: {ingress: [{from: [{podSelector: {matchExpressions: [{key: a, operator: In, value: [b]}]}}]}]}`: `spec.networkPolicy.ingress[0].from[0].podSelector.matchExpressions[0].value: Forbidden: unknown field: did you mean values?`,
	})
	streams, in, out, _ := genericiooptions.NewTestIOStreams()
	fmt.Fprint(in, "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: gold}\nspec: {namespaceSelector: {example.com/tenant: \"true\"}}\n")
	const want = "-:4: spec.namespaceSelector.example.com/tenant: Forbidden: unknown field: a label belongs in spec.namespaceSelector.matchLabels (schema)\n"
	if code := Run(t.Context(), streams, []string{"lint", "-f", "-"}); code != ExitNo || out.String() != want {
		t.Errorf("exit code %d, %q, want %q", code, out, want)
	}
}

// TestLintOfStrategyType: a type that does not exist is one mistake, whatever else the strategy has.
func TestLintOfStrategyType(t *testing.T) {
	for kind, want := range map[string]string{
		"rollingUpdate": "strategy.type must be RollingUpdate or Recreate, not rollingUpdate",
		"Recreate":      "strategy.rollingUpdate has no effect with strategy.type Recreate: change the type to RollingUpdate, or remove rollingUpdate",
	} {
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		fmt.Fprintf(in, "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec: {image: web, strategy: {type: %s, rollingUpdate: {maxSurge: 1}}}\n", kind)
		want = "-:4: spec.strategy: Invalid value: " + want + " (cel)\n"
		if code := Run(t.Context(), streams, []string{"lint", "-f", "-"}); code != ExitNo || out.String() != want {
			t.Errorf("exit code %d, %q, want %q", code, out, want)
		}
	}
}

// TestLintOfFieldsOfOtherTools: what users of charts, Compose files and older autoscalers write names the field of an Application.
func TestLintOfFieldsOfOtherTools(t *testing.T) {
	const inTemplate = `write what the pods have, such as image, ports and env, in the spec itself, and their labels in podMetadata`
	const inAnnotations = `did you mean the annotation cert-manager.io/issuer, or cert-manager.io/cluster-issuer for a ClusterIssuer, in annotations of the route?`
	const routeTLS = `remove it: TLS is enabled where tls is set: for an Ingress with secretName in it; for an HTTPRoute even if empty, as in tls: {}, since its listener has the certificate`
	const inImage = `write it in image, behind a colon, as in image: registry.example.com/web:1.2`
	wants := map[string]string{}
	for field, want := range map[string]string{
		`cpu: 100m`:                         `spec.cpu: did you mean resources.requests.cpu or resources.limits.cpu?`,
		`memory: 64Mi`:                      `spec.memory: did you mean resources.requests.memory or resources.limits.memory?`,
		`resources: {request: {cpu: 100m}}`: `spec.resources.request: did you mean requests?`,
		`entrypoint: [sh]`:                  `spec.entrypoint: did you mean command?`,
		`cmd: [sh]`:                         `spec.cmd: did you mean args?`,
		`probes: {liveness: {}}`:            `spec.probes: did you mean livenessProbe, readinessProbe or startupProbe?`,
		`healthCheck: {path: /}`:            `spec.healthCheck: did you mean livenessProbe or readinessProbe?`,
		`liveness: {path: /}`:               `spec.liveness: did you mean livenessProbe?`,
		`readyProbe: {path: /}`:             `spec.readyProbe: did you mean readinessProbe?`,
		`env: [{key: A, value: b}]`:         `spec.env[0].key: did you mean name?`,
		`env: [{name: A, valueFrom: {secretKeyRef: {secret: a, key: b}}}]`:      `spec.env[0].valueFrom.secretKeyRef.secret: did you mean name?`,
		`envFrom: [{secret: {name: a}}]`:                                        `spec.envFrom[0].secret: did you mean secretRef?`,
		`envFrom: [{configMap: {name: a}}]`:                                     `spec.envFrom[0].configMap: did you mean configMapRef?`,
		`routes: [{tls: {secret: a}}]`:                                          `spec.routes[0].tls.secret: did you mean secretName?`,
		`routes: [{clusterIssuer: a}]`:                                          `spec.routes[0].clusterIssuer: ` + inAnnotations,
		`routes: [{issuer: a}]`:                                                 `spec.routes[0].issuer: ` + inAnnotations,
		`routes: [{tls: {issuer: a}}]`:                                          `spec.routes[0].tls.issuer: ` + inAnnotations,
		`routes: [{gateways: [a]}]`:                                             `spec.routes[0].gateways: did you mean parentRefs?`,
		`routes: [{paths: [{prefix: /}]}]`:                                      `spec.routes[0].paths[0].prefix: did you mean path, with pathType: Prefix?`,
		`routes: [{paths: [{service: web}]}]`:                                   `spec.routes[0].paths[0].service: remove it: a route leads to the Service of its Application; port names one of its ports`,
		`livenessProbe: {interval: 5}`:                                          `spec.livenessProbe.interval: did you mean periodSeconds?`,
		`livenessProbe: {retries: 5}`:                                           `spec.livenessProbe.retries: did you mean failureThreshold?`,
		`imagePullSecrets: [{secretName: a}]`:                                   `spec.imagePullSecrets[0].secretName: did you mean name?`,
		`imagePullSecrets: [{name: a, namespace: b}]`:                           `spec.imagePullSecrets[0].namespace: remove it: it is the namespace of the Application`,
		`podMetadata: {namespace: a}`:                                           `spec.podMetadata.namespace: remove it: it is the namespace of the Application`,
		`podMetadata: {name: a}`:                                                `spec.podMetadata.name: remove it: Kubernetes names the pods`,
		`applicationClass: gold`:                                                `spec.applicationClass: did you mean className?`,
		`routes: [{tls: {enabled: true}}]`:                                      `spec.routes[0].tls.enabled: ` + routeTLS,
		`routes: [{tls: {redirectToHttps: true}}]`:                              `spec.routes[0].tls.redirectToHttps: did you mean redirect?`,
		`routes: [{redirectToHttps: true}]`:                                     `spec.routes[0].redirectToHttps: did you mean tls.redirect?`,
		`nodePort: 30080`:                                                       `spec.nodePort: Kubernetes chooses the node port: did you mean service.type: NodePort?`,
		`envVars: []`:                                                           `spec.envVars: did you mean env?`,
		`loadBalancer: true`:                                                    `spec.loadBalancer: did you mean service.type: LoadBalancer?`,
		`service: {loadBalancer: true}`:                                         `spec.service.loadBalancer: did you mean type: LoadBalancer?`,
		`instances: 2`:                                                          `spec.instances: did you mean replicas?`,
		`gracePeriod: 5`:                                                        `spec.gracePeriod: did you mean terminationGracePeriodSeconds?`,
		`metrics: {port: http}`:                                                 `spec.metrics: did you mean monitoring or autoscaling.metrics?`,
		`namespace: shop`:                                                       `spec.namespace: did you mean metadata.namespace?`,
		`nodeName: a`:                                                           `spec.nodeName: did you mean nodeSelector?`,
		`hostNetwork: true`:                                                     `spec.hostNetwork: remove it: no pod of an Application uses the host network`,
		`networkPolicy: {policyTypes: [Ingress]}`:                               `spec.networkPolicy.policyTypes: remove it: a networkPolicy allows only what it lists, in both directions`,
		`networkPolicy: {ingress: [{from: [{name: web}]}]}`:                     `spec.networkPolicy.ingress[0].from[0].name: did you mean application, as in {application: {name: NAME}}?`,
		`networkPolicy: {egress: [{to: [{name: web}]}]}`:                        `spec.networkPolicy.egress[0].to[0].name: did you mean application, as in {application: {name: NAME}}?`,
		`networkPolicy: {egress: [{to: [{host: db.example.com}]}]}`:             `spec.networkPolicy.egress[0].to[0].host: a peer is an application, a podSelector, a namespaceSelector or an ipBlock; a NetworkPolicy knows no host names`,
		`networkPolicy: {egress: [{to: [{hostname: db.example.com}]}]}`:         `spec.networkPolicy.egress[0].to[0].hostname: a peer is an application, a podSelector, a namespaceSelector or an ipBlock; a NetworkPolicy knows no host names`,
		`networkPolicy: {ingress: [{from: [{fqdn: db.example.com}]}]}`:          `spec.networkPolicy.ingress[0].from[0].fqdn: a peer is an application, a podSelector, a namespaceSelector or an ipBlock; a NetworkPolicy knows no host names`,
		`readinessProbe: {httpGet: {port: http, timeoutSeconds: 1}}`:            `spec.readinessProbe.httpGet.timeoutSeconds: did you mean spec.readinessProbe.timeoutSeconds?`,
		`sidecars: [{livenessProbe: {exec: {command: [a], periodSeconds: 5}}}]`: `spec.sidecars[0].livenessProbe.exec.periodSeconds: did you mean spec.sidecars[0].livenessProbe.periodSeconds?`,
		`env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}, optional: true}}]`: `spec.env[0].valueFrom.optional: did you mean secretKeyRef.optional?`,
		`mounts: [{mountPath: /x, projected: {sources: [{secret: {secretName: s}}]}}]`:   `spec.mounts[0].projected.sources[0].secret.secretName: did you mean name?`,
		`env: [{name: A, val: b}]`:                               `spec.env[0].val: did you mean value?`,
		`rollbackOnFailure: true`:                                `spec.rollbackOnFailure: did you mean rollback.policy?`,
		`readinessProbe: {delay: 5}`:                             `spec.readinessProbe.delay: did you mean initialDelaySeconds?`,
		`mounts: [{mountPath: /x, nfs: {}}]`:                     `spec.mounts[0].nfs: Fairlead creates no PersistentVolumeClaim: create one, and name it in mounts[].persistentVolumeClaim.claimName`,
		`readinessProbe: {host: web.example.com}`:                `spec.readinessProbe.host: did you mean httpGet.host or tcpSocket.host?`,
		`networkPolicy: {ingress: [{from: [{namespace: web}]}]}`: `spec.networkPolicy.ingress[0].from[0].namespace: a namespace is selected by the label with its name, as in namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}`,
		`service: {nodePort: 30080}`:                             `spec.service.nodePort: remove it: Kubernetes chooses the node port`,
		`service: {loadBalancerIP: 192.0.2.1}`:                   `spec.service.loadBalancerIP: remove it: Fairlead does not offer it; many clouds have an annotation for it, which belongs in service.annotations`,
		`service: {labels: {a: b}}`:                              `spec.service.labels: remove it: Fairlead sets the labels of the Service`,
		`service: {protocol: UDP}`:                               `spec.service.protocol: did you mean spec.ports[].protocol?`,
		`service: {externalName: a.example.com}`:                 `spec.service.externalName: remove it: Fairlead does not offer it; create a Service of type ExternalName beside the Application`,
		`service: {sessionAffinityConfig: {}}`:                   `spec.service.sessionAffinityConfig: remove it: Fairlead does not offer it, and an affinity lasts three hours`,
		`automountServiceAccountToken: true`:                     `spec.automountServiceAccountToken: did you mean spec.serviceAccount.automountToken?`,
		`serviceAccount: {automountServiceAccountToken: true}`:   `spec.serviceAccount.automountServiceAccountToken: did you mean automountToken?`,
		`serviceAccount: {create: true}`:                         `spec.serviceAccount.create: remove it: Fairlead creates a ServiceAccount unless you set name`,
		`service: {name: web}`:                                   `spec.service.name: remove it: the Service has the name of the Application`,
		`service: {enabled: false}`:                              `spec.service.enabled: remove it: an Application has a Service where it has ports`,
		`persistence: {size: 1Gi}`:                               `spec.persistence: Fairlead creates no PersistentVolumeClaim: create one, and name it in mounts[].persistentVolumeClaim.claimName`,
		`restart: always`:                                        `spec.restart: remove it: the containers of an Application always restart`,
		`schedule: "@daily"`:                                     `spec.schedule: remove it: the pods of an Application always run; use a CronJob for a task`,
		`suspend: true`:                                          `spec.suspend: did you mean paused, or reconcilePolicy: Suspend?`,
		`tag: v1`:                                                `spec.tag: ` + inImage,
		`imageTag: v1`:                                           `spec.imageTag: ` + inImage,
		`podTemplate: {}`:                                        `spec.podTemplate: ` + inTemplate,
		`hostnames: [a.example.com]`:                             `spec.hostnames: did you mean spec.routes[].hostnames?`,
		`config: {a.yaml: b}`:                                    `spec.config.a.yaml: a file belongs in data, as in data: {a.yaml: …}`,
		`config: {mountPath: /a, MODE: b}`:                       `spec.config.MODE: a file belongs in data, as in data: {MODE: …}; an environment variable belongs in spec.env`,
		`config: {mountPath: /a, files: {a.yaml: b}}`:            `spec.config.files: did you mean data?`,
		`config: {name: a, mountPath: /a}`:                       `spec.config.name: remove it: Fairlead names the ConfigMap of config; one that exists already belongs in mounts[].configMap`,
		`autoscaling: {enabled: true, maxReplicas: 2}`:           `spec.autoscaling.enabled: remove it: autoscaling is enabled where it is set`,
		`monitoring: {enabled: true}`:                            `spec.monitoring.enabled: remove it: monitoring is enabled where it is set, even if empty, as in monitoring: {}`,
		`networkPolicy: {enabled: true}`:                         `spec.networkPolicy.enabled: remove it: a networkPolicy is enabled where it is set, even if empty, as in networkPolicy: {}`,
		`disruptionBudget: {enabled: false}`:                     `spec.disruptionBudget.enabled: remove it: for no budget, set mode: Disabled`,
		`rollback: {enabled: true}`:                              `spec.rollback.enabled: did you mean policy: OnFailure?`,
		`autoscaling: {targetAverageUtilization: 80}`:            `spec.autoscaling.targetAverageUtilization: did you mean targetCPUUtilizationPercentage or targetMemoryUtilizationPercentage?`,
		`autoscaling: {maxReplicas: 3, metrics: [{type: Resource, resource: {name: cpu, targetAverageUtilization: 80}}]}`: `spec.autoscaling.metrics[0].resource.targetAverageUtilization: did you mean target.averageUtilization?`,
	} {
		at, instead, _ := strings.Cut(want, ": ")
		wants[field] = at + ": Forbidden: unknown field: " + instead
	}
	wantLint(t, wants)
}

// TestLintOfFieldsOfPods: a field of a pod or a Service that an Application does not have names the way, where there is one.
func TestLintOfFieldsOfPods(t *testing.T) {
	const headless = "the Service of an Application has a cluster IP; for the addresses of the pods under one DNS name, create a headless Service with the selector apps.fairlead.dev/application: NAME"
	const hostPort = "no pod of an Application opens a port of its node; set routes, or service.type"
	wants := map[string]string{}
	for field, want := range map[string]string{
		`hostPID: true`:                           "spec.hostPID: no pod of an Application sees the processes of its node",
		`hostIPC: true`:                           "spec.hostIPC: no pod of an Application uses the IPC namespace of its node",
		`dnsPolicy: None`:                         "spec.dnsPolicy: Fairlead does not offer it, and the pods use the DNS of the cluster",
		`dnsConfig: {}`:                           "spec.dnsConfig: Fairlead does not offer it, and the pods use the DNS of the cluster",
		`enableServiceLinks: false`:               "spec.enableServiceLinks: it is false in all pods of an Application",
		`activeDeadlineSeconds: 5`:                "spec.activeDeadlineSeconds: the pods of an Application always run; use a Job for a task",
		`ephemeralContainers: []`:                 "spec.ephemeralContainers: kubectl debug adds such a container to a running pod",
		`runtimeClassName: gvisor`:                "spec.runtimeClassName: Fairlead does not offer it",
		`tty: true`:                               "spec.tty: Fairlead does not offer it",
		`ports: [{hostPort: 80}]`:                 "spec.ports[0].hostPort: " + hostPort,
		`service: {clusterIP: None}`:              "spec.service.clusterIP: " + headless,
		`service: {externalTrafficPolicy: Local}`: "spec.service.externalTrafficPolicy: Fairlead does not offer it",
		`hostAliases: []`:                         "spec.hostAliases: Fairlead does not offer it; make the DNS resolve the name, or create a Service without a selector, and an EndpointSlice with the address",
	} {
		at, way, _ := strings.Cut(want, ": ")
		wants[field] = at + ": Forbidden: unknown field: remove it: " + way
	}
	wants[`name: web`] = "spec.name: Forbidden: unknown field: did you mean metadata.name?"
	wants[`replicaCount: 2`] = "spec.replicaCount: Forbidden: unknown field: did you mean replicas?"
	wantLint(t, wants)
}

// TestLintOfShortForms: a plain value in place of a map shows the map to write, without a value that may be secret.
func TestLintOfShortForms(t *testing.T) {
	for field, want := range map[string]string{
		`imagePullSecrets: [regcred]`:            "spec.imagePullSecrets[0]: …not a string: {name: regcred}",
		`imagePullSecrets: regcred`:              "spec.imagePullSecrets: …not a string: [{name: regcred}]",
		`env: ["LOG: debug"]`:                    "spec.env[0]: …not a string: {name: LOG, value: …}",
		`env: LOG=debug`:                         "spec.env: …not a string: [{name: LOG, value: …}]",
		`envFrom: [web]`:                         "spec.envFrom[0]: …not a string: {configMapRef: {name: web}} or {secretRef: {name: web}}",
		`envFrom: web`:                           "spec.envFrom: …not a string: [{configMapRef: {name: web}}] or [{secretRef: {name: web}}]",
		`envFrom: [{secretRef: web}]`:            "spec.envFrom[0].secretRef: …not a string: {name: web}",
		`ports: [8080]`:                          "spec.ports[0]: …not a number: {name: NAME, containerPort: 8080}",
		`ports: ["127.0.0.1:80:8080"]`:           "spec.ports[0]: …not a string: {name: NAME, containerPort: 8080}",
		`mounts: [/data]`:                        "spec.mounts[0]: …not a string: {mountPath: /data, …}",
		`mounts: [{mountPath: /a, secret: web}]`: "spec.mounts[0].secret: …not a string: {secretName: web}",
		`mounts: [{mountPath: /a, projected: {sources: [{secret: web}]}}]`:   "spec.mounts[0].projected.sources[0].secret: …not a string: {name: web}",
		`mounts: [{mountPath: /a, persistentVolumeClaim: web}]`:              "spec.mounts[0].persistentVolumeClaim: …not a string: {claimName: web}",
		`mounts: [{mountPath: /a, emptyDir: true}]`:                          "spec.mounts[0].emptyDir: …not true or false: {}",
		`readinessProbe: /ready`:                                             "spec.readinessProbe: …not a string: {httpGet: {path: /ready}}",
		`readinessProbe: {tcpSocket: 8080}`:                                  "spec.readinessProbe.tcpSocket: …not a number: {port: 8080}",
		`routes: [web.example.com]`:                                          "spec.routes[0]: …not a string: {name: NAME, hostnames: [web.example.com]}",
		`serviceAccount: "8080"`:                                             `spec.serviceAccount: …not a string: {name: "8080"}`,
		`lifecycle: {preStop: {sleep: 5}}`:                                   "spec.lifecycle.preStop.sleep: …not a number: {seconds: 5}",
		`rollback: OnFailure`:                                                "spec.rollback: …not a string: {policy: OnFailure}",
		`disruptionBudget: false`:                                            "spec.disruptionBudget: …not true or false: {mode: Disabled}",
		`mounts: [{mountPath: /a, configMap: {name: a, items: [web.yaml]}}]`: "spec.mounts[0].configMap.items[0]: …not a string: {key: web.yaml, path: web.yaml}",
		`disruptionBudget: Disabled`:                                         "spec.disruptionBudget: …not a string: {mode: Disabled}",
		`env: [{name: A, valueFrom: {fieldRef: metadata.name}}]`:             "spec.env[0].valueFrom.fieldRef: …not a string: {fieldPath: metadata.name}",
		`livenessProbe: {exec: [cat, /x]}`:                                   "spec.livenessProbe.exec: …not a list: {command: [cat, /x]}",
		`rollback: true`:                                                     "spec.rollback: …not true or false: {policy: OnFailure}",
		`routes: [{name: a, hostnames: [a.example.com], tls: [{hosts: [a.example.com], secretName: x}]}]`: "spec.routes[0].tls: …not a list: {secretName: x}",
		`strategy: Recreate`: "spec.strategy: …not a string: {type: Recreate}",
	} {
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		fmt.Fprintf(in, "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec: {image: web, %s}\n", field)
		Run(t.Context(), streams, []string{"lint", "-f", "-"})
		at, example, _ := strings.Cut(want, "…not")
		if !strings.HasPrefix(out.String(), "-:4: "+at) || !strings.HasSuffix(out.String(), ", not"+example+" (schema)\n") {
			t.Errorf("%s: %s, want %s", field, out, want)
		}
	}
	wantLint(t, map[string]string{
		`networkPolicy: {podSelector: {}}`:                                             `spec.networkPolicy.podSelector: Forbidden: unknown field: remove it: a networkPolicy is for the pods of its Application`,
		`networkPolicy: {ingress: [{from: [{podSelector: {}}], ports: [{port: 80}]}]}`: `spec.networkPolicy.ingress[0].ports[0]: Invalid value: must be a string, not a map: the name of one of the ports`,
		`env: [{LOG: debug}]`:                                                          `spec.env[0].LOG: Forbidden: unknown field: the name belongs in name, as in {name: LOG, value: …}`,
		`ports: [{http: 80}]`:                                                          `spec.ports[0].http: Forbidden: unknown field: remove it, or correct its name`,
		`env: [{name: A, B: c}]`:                                                       `spec.env[0].B: Forbidden: unknown field: remove it, or correct its name`,
		`readinessProbe: {httpGet: {httpHeaders: [{Accept: a}]}}`:                      `spec.readinessProbe.httpGet.httpHeaders[0].Accept: Forbidden: unknown field: the name belongs in name, as in {name: Accept, value: …}`,
		`resources: {requests: {cpu: 100m, limits: {cpu: 1}}}`:                         `spec.resources.requests[limits]: Invalid value: must be a whole number or a string, not a map: move limits to the left, below resources`,
		`sidecars: [{name: a, image: {repository: a, tag: b}}]`:                        `spec.sidecars[0].image: Invalid value: must be a string, not a map: write the registry, the repository and the tag as one, as in registry.example.com/web:1.2`,
	})
}

// TestLintOfFieldsThatClassesLack: a class has other fields than an Application, and an annotation makes it the default.
func TestLintOfFieldsThatClassesLack(t *testing.T) {
	const marker = `the annotation applicationclass.apps.fairlead.dev/is-default: "true" makes the class a default`
	const byName = `a namespace is selected by the label with its name, as in namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}`
	const issuer = `did you mean the annotation cert-manager.io/cluster-issuer, or cert-manager.io/issuer for an Issuer of each namespace, in defaults.routes.annotations?`
	const amounts = `a class has no maximum of CPU or memory: set requireResourceLimits, and a LimitRange or a ResourceQuota in the namespaces`
	for fields, want := range map[string]string{
		"metadata: {name: gold, isDefault: true}\nspec: {}":                                             "-:3: metadata.isDefault: " + marker,
		"metadata: {name: gold}\nspec: {defaults: {networkPolicy: {ingress: [{from: [{name: web}]}]}}}": "-:4: spec.defaults.networkPolicy.ingress[0].from[0].name: did you mean application, as in {application: {name: NAME}}?",
		"metadata: {name: gold}\nspec: {isDefault: true}":                                               "-:4: spec.isDefault: " + marker,
		"metadata: {name: gold}\nspec: {default: true}":                                                 "-:4: spec.default: " + marker + "; its settings belong in defaults",
		"metadata: {name: gold}\nspec: {defaults: {image: web}}":                                        "-:4: spec.defaults.image: remove it: a class has no default for image, and each Application sets its own",
		"metadata: {name: gold}\nspec: {namespaces: [shop]}":                                            "-:4: spec.namespaces: " + byName,
		"metadata: {name: gold}\nspec: {namespaceSelector: {matchNames: [shop]}}":                       "-:4: spec.namespaceSelector.matchNames: " + byName,
		"metadata: {name: gold}\nspec: {defaults: {gateway: shared}}":                                   "-:4: spec.defaults.gateway: did you mean routes.parentRefs?",
		"metadata: {name: gold}\nspec: {defaults: {routes: {tls: {issuer: a}}}}":                        "-:4: spec.defaults.routes.tls.issuer: " + issuer,
		"metadata: {name: gold}\nspec: {defaults: {routes: {tls: {clusterIssuer: a}}}}":                 "-:4: spec.defaults.routes.tls.clusterIssuer: " + issuer,
		"metadata: {name: gold}\nspec: {defaults: {routes: {issuer: a}}}":                               "-:4: spec.defaults.routes.issuer: " + issuer,
		"metadata: {name: gold}\nspec: {defaults: {routes: {clusterIssuer: a}}}":                        "-:4: spec.defaults.routes.clusterIssuer: " + issuer,
		"metadata: {name: gold}\nspec: {defaults: {routes: {hostnames: [a.example.com]}}}":              "-:4: spec.defaults.routes.hostnames: a class has no host names; limits.allowedHostnames restricts them",
		"metadata: {name: gold}\nspec: {limits: {minReplicas: 2}}":                                      "-:4: spec.limits.minReplicas: remove it: a class has no minimum of replicas",
		"metadata: {name: gold}\nspec: {limits: {requireLimits: true}}":                                 "-:4: spec.limits.requireLimits: did you mean requireResourceLimits?",
		"metadata: {name: gold}\nspec: {limits: {podSecurity: restricted}}":                             "-:4: spec.limits.podSecurity: did you mean securityProfile?",
		"metadata: {name: gold}\nspec: {limits: {sharedHosts: [a]}}":                                    "-:4: spec.limits.sharedHosts: did you mean sharedHostnames?",
		"metadata: {name: gold}\nspec: {limits: {allowedNamespaces: [a]}}":                              "-:4: spec.limits.allowedNamespaces: did you mean spec.namespaceSelector?",
		"metadata: {name: gold}\nspec: {image: web}":                                                    "-:4: spec.image: remove it: a class has no default for image, and each Application sets its own",
		"metadata: {name: gold}\nspec: {resources: {}}":                                                 "-:4: spec.resources: did you mean spec.defaults.resources?",
		"metadata: {name: gold}\nspec: {defaults: {ingressClassName: nginx}}":                           "-:4: spec.defaults.ingressClassName: did you mean routes.ingressClassName?",
		"metadata: {name: gold}\nspec: {defaults: {imagePullSecrets: [{secretName: a}]}}":               "-:4: spec.defaults.imagePullSecrets[0].secretName: did you mean name?",
		"metadata: {name: gold}\nspec: {defaults: {podMetadata: {namespace: a}}}":                       "-:4: spec.defaults.podMetadata.namespace: remove it: it is the namespace of the Application",
		"metadata: {name: gold}\nspec: {defaults: {routes: {tls: {enabled: true}}}}":                    "-:4: spec.defaults.routes.tls.enabled: remove it: TLS is enabled where it is set, even if empty, as in tls: {}",
		"metadata: {name: gold}\nspec: {defaults: {routes: {tls: {redirectToHttps: true}}}}":            "-:4: spec.defaults.routes.tls.redirectToHttps: did you mean redirect?",
		"metadata: {name: gold}\nspec: {limits: {maxCPU: 1}}":                                           "-:4: spec.limits.maxCPU: " + amounts,
		"metadata: {name: gold}\nspec: {limits: {memory: 1Gi}}":                                         "-:4: spec.limits.memory: " + amounts,
		"metadata: {name: gold}\nspec: {limits: {allowedImages: [ghcr.io]}}":                            "-:4: spec.limits.allowedImages: did you mean allowedRegistries?",
		"metadata: {name: gold}\nspec: {limits: {allowedHosts: [example.com]}}":                         "-:4: spec.limits.allowedHosts: did you mean allowedHostnames?",
		"metadata: {name: gold}\nspec: {limits: {hostnames: [example.com]}}":                            "-:4: spec.limits.hostnames: did you mean allowedHostnames or sharedHostnames?",
	} {
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		fmt.Fprintf(in, "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\n%s\n", fields)
		line, rest, _ := strings.Cut(want, ": ")
		at, instead, _ := strings.Cut(rest, ": ")
		want = line + ": " + at + ": Forbidden: unknown field: " + instead + " (schema)\n"
		if code := Run(t.Context(), streams, []string{"lint", "-f", "-"}); code != ExitNo || out.String() != want {
			t.Errorf("exit code %d, %s, want %s", code, out, want)
		}
	}
}

// TestLintOfMetadata: the metadata are no part of the CRD, and have their lines too, beside an unknown field.
func TestLintOfMetadata(t *testing.T) {
	const other = "-:4: spec.surplus: Forbidden: unknown field: remove it, or correct its name (schema)\n"
	for metadata, want := range map[string]string{
		`{name: web, labels: {version: 1.10}}`: `metadata.labels[version]: Invalid value: must be a string, not 1.1: put it in quotes, "1.10"`,
		`{name: web, annotations: {a: 1}}`:     `metadata.annotations[a]: Invalid value: must be a string, not a number: put it in quotes, "1"`,
		`{name: web, annotations: [a]}`:        `metadata.annotations: Invalid value: must be a map, not a list: {KEY: VALUE}`,
		`{name: web, spec: {}}`:                `metadata.spec: Forbidden: unknown field: move it to the level of metadata`,
		`{name: 8080}`:                         `metadata.name: Invalid value: must be a string, not a number: put it in quotes, "8080"`,
		`{generateName: 8080}`:                 `metadata.generateName: Invalid value: must be a string, not a number: put it in quotes, "8080"`,
		`{name: web, finalizers: a}`:           `metadata.finalizers: Invalid value: must be a list of strings, not a string: [a]`,
		`{name: web, lables: {a: b}}`:          `metadata.lables: Forbidden: unknown field: did you mean labels?`,
		`[web]`:                                `metadata: Invalid value: must be a map with the fields name, annotations, finalizers, generateName, labels, namespace, not a list`,
	} {
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		in.WriteString("apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: " + metadata + "\nspec: {image: web, surplus: {}}\n")
		code := Run(t.Context(), streams, []string{"lint", "-f", "-"})
		if want = "-:3: " + want + " (schema)\n" + other; code != ExitNo || out.String() != want {
			t.Errorf("exit code %d, %s, want %s", code, out, want)
		}
	}
}

// TestLintOfMetadataWithoutIndentation: what is not indented below metadata is at the top, where it means nothing else.
func TestLintOfMetadataWithoutIndentation(t *testing.T) {
	for _, kind := range []string{"Application", "ApplicationClass"} {
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		in.WriteString("apiVersion: apps.fairlead.dev/v1\nkind: " + kind + "\nmetadata:\nname: web\nnamespace: shop\nlabels: {a: b}\nannotation: {a: b}\nspec: {}\n")
		want := "-:3: metadata.name: Required value (schema)\n"
		for i, field := range []string{"name", "namespace", "labels"} {
			want += fmt.Sprintf("-:%d: %s: Forbidden: unknown field: did you mean metadata.%[2]s? (schema)\n", 4+i, field)
		}
		want += "-:7: annotation: Forbidden: unknown field: did you mean metadata.annotations? (schema)\n"
		if code := Run(t.Context(), streams, []string{"lint", "-f", "-"}); code != ExitNo || !strings.HasPrefix(out.String(), want) {
			t.Errorf("exit code %d, %s, want %s", code, out, want)
		}
	}
}

// TestLintOfGeneratedNames: the API server generates a name before it checks the object.
func TestLintOfGeneratedNames(t *testing.T) {
	for prefix, want := range map[string]string{
		"preview-": "",
		"8080-":    `-:3: metadata.name: Invalid value: "8080-xxxxx": must be an RFC 1035 label`,
	} {
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		in.WriteString("apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {generateName: " + prefix + "}\nspec: {image: 'registry.example.com/web:1'}\n")
		code := Run(t.Context(), streams, []string{"lint", "-f", "-"})
		if (code == ExitNo) != (want != "") || !strings.HasPrefix(out.String(), want) {
			t.Errorf("%s: exit code %d, %s, want %s", prefix, code, out, want)
		}
	}
}

// TestLintOfNobody: no peers are all peers for Kubernetes, so lint says how an Application allows everyone.
func TestLintOfNobody(t *testing.T) {
	const nobody = `must have at least one peer: to allow everyone, write [{ipBlock: {cidr: 0.0.0.0/0}}, {ipBlock: {cidr: "::/0"}}]`
	wantLint(t, map[string]string{
		`networkPolicy: {ingress: [{}]}`:                  `spec.networkPolicy.ingress[0].from: Required value: ` + nobody,
		`networkPolicy: {egress: [{to: null}]}`:           `spec.networkPolicy.egress[0].to: Required value: ` + nobody,
		`networkPolicy: {egress: [{ports: [{port: 1}]}]}`: `spec.networkPolicy.egress[0].to: Required value: ` + nobody,
	})
	lintsTo(t, `networkPolicy: {ingress: [{from: []}]}`, "-:4: spec.networkPolicy.ingress[0].from: Invalid value: "+nobody+" (cel)\n")
	lintsTo(t, `networkPolicy: {egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0}}, {ipBlock: {cidr: "::/0"}}]}]}`, "1 object checked, nothing found"+noDefaultClass+"\n")
}

// TestLintOfFractionsOfBytes: lint quotes the file, and not what Kubernetes makes of it, which is 322122547200m.
func TestLintOfFractionsOfBytes(t *testing.T) {
	lintsTo(t, `resources: {requests: {memory: 1Gi}, limits: {memory: 0.3Gi}}`,
		`-:4: spec.resources.limits[memory]: Invalid value: "0.3Gi": must be a whole number of bytes, and 0.3Gi is 322122547.2: write 307Mi or 308Mi (validation)`+"\n"+
			`-:4: spec.resources.requests[memory]: Invalid value: "1Gi": must be less than or equal to the limit of 0.3Gi (validation)`+"\n")
	lintsTo(t, `resources: {limits: {memory: 100m}}`,
		`-:4: spec.resources.limits[memory]: Invalid value: "100m": must be a whole number of bytes: the suffix m means thousandths, M megabytes, Mi mebibytes (validation)`+"\n")
	lintsTo(t, `sidecars: [{name: a, image: b, resources: {limits: {memory: 0.1Gi}}}]`,
		`-:4: spec.sidecars[0].resources.limits[memory]: Invalid value: "0.1Gi": must be a whole number of bytes, and 0.1Gi is 107374182.4: write 102Mi or 103Mi (validation)`+"\n")
}

// TestLintOfAnEmptyClass: an empty name is replaced by that of a default class, or else refused, as by the API server.
func TestLintOfAnEmptyClass(t *testing.T) {
	lintsTo(t, `className: ""`, "-:4: spec.className: Invalid value: \"\": must not be empty: leave className out to get the default class of the namespace, if it has one (cel)\n")
	const class = "\n---\napiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: gold, annotations: {applicationclass.apps.fairlead.dev/is-default: \"%s\"}}\nspec: {limits: {maxReplicas: 1}}\n#"
	lintsTo(t, `replicas: 2, className: ""}`+fmt.Sprintf(class, "true"), "-:4: spec.replicas: Invalid value: 2: ApplicationClass \"gold\" allows at most 1 (class)\n")
	lintsTo(t, `className: ""}`+fmt.Sprintf(class, "false"), "-:4: spec.className: Invalid value: \"\": must not be empty")
}

// lintsTo checks an Application with a field, and wants the output to begin so.
func lintsTo(t *testing.T, field, want string) {
	t.Helper()
	streams, in, out, _ := genericiooptions.NewTestIOStreams()
	fmt.Fprintf(in, "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec: {image: web, %s}\n", field)
	Run(t.Context(), streams, []string{"lint", "-f", "-"})
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("%s: %s, want %s", field, out, want)
	}
}
