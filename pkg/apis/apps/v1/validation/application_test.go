// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func TestValidApplications(t *testing.T) {
	run(t, []testCase{
		{name: "only an image", spec: `image: nginx`},
		{name: "everything", spec: everything},
		{name: "everything otherwise", spec: otherwise},
	})
}

// everything uses every field of the API at once.
const everything = `
image: ghcr.io/acme/web:1.2@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
imagePullPolicy: IfNotPresent
imagePullSecrets: [{name: registry}]
command: [/web]
args: [--port, "8080"]
workingDir: /srv
ports:
- {name: http, containerPort: 8080, servicePort: 80, protocol: TCP, appProtocol: http}
- {name: dns, containerPort: 5353, protocol: UDP}
- {name: dns-tcp, containerPort: 5353, protocol: TCP}
env:
- {name: PLAIN, value: x}
- {name: EMPTY}
- {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
- {name: LABEL, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app.kubernetes.io/name']"}}}
- {name: MEMORY, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}
- {name: KEY, valueFrom: {secretKeyRef: {name: web, key: api.key}}}
- {name: SETTING, valueFrom: {configMapKeyRef: {name: web, key: setting, optional: true}}}
- {name: FILE, valueFrom: {fileKeyRef: {volumeName: tmp, path: env, key: FILE}}}
envFrom:
- {prefix: WEB_, configMapRef: {name: web}}
- {secretRef: {name: web}}
config: {mountPath: /etc/web, data: {web.yaml: "a: b"}}
mounts:
- {mountPath: /etc/tls, secret: {secretName: tls, defaultMode: 0440, items: [{key: tls.crt, path: crt/tls.crt}]}}
- {mountPath: /etc/more, subPath: a/b, configMap: {name: more}}
- {mountPath: /cache, emptyDir: {medium: Memory, sizeLimit: 64Mi}}
- {mountPath: /data, persistentVolumeClaim: {claimName: data}}
- mountPath: /projected
  projected:
    sources:
    - {serviceAccountToken: {path: token, audience: vault, expirationSeconds: 3600}}
    - {downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}, {path: cpu, resourceFieldRef: {containerName: web, resource: limits.cpu, divisor: 1m}}]}}
    - {secret: {name: a, items: [{key: k, path: a}]}}
    - {configMap: {name: b}}
    - {clusterTrustBundle: {signerName: example.com/ca, labelSelector: {matchLabels: {a: b}}, path: ca.pem}}
    - {podCertificate: {signerName: example.com/ca, keyType: ED25519, credentialBundlePath: bundle.pem}}
resources:
  requests: {cpu: 100m, memory: 128Mi, example.com/gpu: 1}
  limits: {memory: 256Mi, example.com/gpu: 1}
livenessProbe: {httpGet: {path: /healthz}, periodSeconds: 5}
readinessProbe: {grpc: {port: 9000}, successThreshold: 2}
startupProbe: {tcpSocket: {port: dns-tcp}, failureThreshold: 30, terminationGracePeriodSeconds: 5}
lifecycle: {preStop: {sleep: {seconds: 20}}, postStart: {exec: {command: [warm]}}}
terminationGracePeriodSeconds: 20
initContainers:
- {name: migrate, image: migrate, command: [migrate], volumeMounts: [{name: config, mountPath: /etc/web}, {name: tmp, mountPath: /tmp}]}
- {name: proxy, image: proxy, restartPolicy: Always, readinessProbe: {httpGet: {path: /, port: admin}}, ports: [{name: admin, containerPort: 9901}]}
sidecars:
- {name: log, image: log, resources: {limits: {cpu: "1"}}, lifecycle: {preStop: {httpGet: {path: /stop, port: 80}}}}
autoscaling:
  minReplicas: 2
  maxReplicas: 10
  targetCPUUtilizationPercentage: 70
  metrics:
  - {type: Pods, pods: {metric: {name: requests}, target: {type: AverageValue, averageValue: 100}}}
  - {type: ContainerResource, containerResource: {name: cpu, container: log, target: {type: Utilization, averageUtilization: 80}}}
  - {type: External, external: {metric: {name: queue, selector: {matchLabels: {queue: web}}}, target: {type: Value, value: 30}}}
  - {type: Object, object: {describedObject: {apiVersion: networking.k8s.io/v1, kind: Ingress, name: web}, metric: {name: rps}, target: {type: AverageValue, averageValue: "10"}}}
  behavior: {scaleDown: {stabilizationWindowSeconds: 300, selectPolicy: Min, policies: [{type: Percent, value: 10, periodSeconds: 60}]}}
strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 0, maxSurge: 25%}}
minReadySeconds: 10
progressDeadlineSeconds: 300
revisionHistoryLimit: 3
paused: false
reconcilePolicy: Enforce
service: {type: LoadBalancer, annotations: {example.com/lb: internal}, sessionAffinity: ClientIP}
routes:
- name: public
  type: Ingress
  hostnames: [web.example.com, "*.web.example.com"]
  paths: [{path: /, pathType: Prefix}, {path: /a-b_c.d~e/%20x, pathType: Exact, port: http}, {path: "/v[0-9]+/(.*)", pathType: ImplementationSpecific, port: dns-tcp}]
  tls: {secretName: web-tls}
  ingressClassName: nginx
  annotations: {nginx.ingress.kubernetes.io/proxy-body-size: 8m}
- {name: bare, hostnames: [bare.example.com]}
disruptionBudget: {mode: Custom, minAvailable: 50%}
networkPolicy:
  ingress:
  - {from: [{application: {name: shop, namespace: shop}}, {namespaceSelector: {}, podSelector: {matchLabels: {a: b}}}], ports: [http]}
  egress:
  - {to: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}, {application: {name: db}}], ports: [{port: 5432, endPort: 5433}, {port: postgres, protocol: TCP}]}
serviceAccount: {annotations: {example.com/role: web}, automountToken: true}
podSecurityContext: {runAsUser: 1000, fsGroup: 1000, supplementalGroups: [1], fsGroupChangePolicy: OnRootMismatch, sysctls: [{name: net.ipv4.ip_unprivileged_port_start, value: "0"}]}
securityContext: {readOnlyRootFilesystem: false, capabilities: {add: [NET_BIND_SERVICE]}}
nodeSelector: {kubernetes.io/arch: amd64}
tolerations: [{key: spot, operator: Exists, effect: NoExecute, tolerationSeconds: 60}, {operator: Exists}]
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}], matchFields: [{key: metadata.name, operator: NotIn, values: [node-1]}]}]}
    preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: cores, operator: Gt, values: ["4"]}]}}]
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {a: b}}, matchLabelKeys: [pod-template-hash]}}]
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2, matchLabelKeys: [pod-template-hash]}]
priorityClassName: high
podMetadata: {labels: {team: web}, annotations: {prometheus.io/scrape: "true", controller.kubernetes.io/pod-deletion-cost: "-5"}}
deletionPolicy: Orphan
`

// otherwise makes the choices that exclude those of everything.
const otherwise = `
image: nginx
ports: [{name: http, containerPort: 80}]
replicas: 3
strategy: {type: Recreate}
disruptionBudget: {mode: Custom, maxUnavailable: 1}
resources: {requests: {cpu: "1", memory: 1Gi, hugepages-2Mi: 4Mi}, limits: {hugepages-2Mi: 4Mi}}
podSecurityContext: {seccompProfile: {type: Localhost, localhostProfile: a}, appArmorProfile: {type: RuntimeDefault}, seLinuxOptions: {type: container_t}}
securityContext: {runAsUser: 1, procMount: Default, allowPrivilegeEscalation: false, privileged: false, windowsOptions: {runAsUserName: 'D\u'}}
initContainers: [{name: a, image: a, securityContext: {runAsNonRoot: true, capabilities: {drop: [ALL]}}, env: [{name: X, value: y}], envFrom: [{secretRef: {name: a}}]}]
sidecars: [{name: b, image: b, livenessProbe: {exec: {command: [a]}}, volumeMounts: [{name: tmp, mountPath: /tmp, readOnly: true, recursiveReadOnly: Enabled, mountPropagation: None}], ports: [{containerPort: 80, protocol: UDP}], resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]}]
networkPolicy: {}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, nodeAffinityPolicy: Honor, labelSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [a]}]}}]
affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, namespaces: [a], namespaceSelector: {}, labelSelector: {}, mismatchLabelKeys: [x]}]}}
`

func TestValidateName(t *testing.T) {
	for _, tc := range []struct {
		name, want string
	}{
		{name: "web"},
		{name: "a" + strings.Repeat("b", 62)},
		{name: "", want: `metadata.name: Invalid value: "": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name' or 'abc-123')`},
		{name: "1web", want: `metadata.name: Invalid value: "1web": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name' or 'abc-123')`},
		{name: strings.Repeat("a", 64), want: `metadata.name: Invalid value: "` + strings.Repeat("a", 64) + `": must be no more than 63 characters`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			app := application(t, ``)
			app.Name = tc.name
			var want []string
			if tc.want != "" {
				want = []string{tc.want}
			}
			if diff := cmp.Diff(want, messages(ValidateApplication(app, Options{}))); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoApplication(t *testing.T) {
	want := []string{"spec: Required value: there is no Application"}
	if diff := cmp.Diff(want, messages(ValidateApplication(nil, Options{}))); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if len(ValidateApplication(&v1.Application{}, Options{})) == 0 {
		t.Error("an empty Application is valid")
	}
}

func TestValidatePolicies(t *testing.T) {
	run(t, []testCase{{
		name: "what the schema refuses too",
		spec: `{imagePullPolicy: Sometimes, reconcilePolicy: Perhaps, deletionPolicy: Keep, terminationGracePeriodSeconds: -1, revisionHistoryLimit: 101}`,
		want: []string{
			`spec.imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"`,
			`spec.reconcilePolicy: Unsupported value: "Perhaps": supported values: "Enforce", "Observe", "Suspend"`,
			`spec.deletionPolicy: Unsupported value: "Keep": supported values: "Delete", "Orphan"`,
			`spec.terminationGracePeriodSeconds: Invalid value: -1: must be between 0 and 86400`,
			`spec.revisionHistoryLimit: Invalid value: 101: must be between 0 and 100`,
		},
	}, {
		name: "pull secrets",
		spec: `imagePullSecrets: [{name: a}, {name: ""}, {name: A_B}, {name: a}]`,
		want: []string{
			`spec.imagePullSecrets[1].name: Required value: must be the name of an object`,
			`spec.imagePullSecrets[2].name: Invalid value: "A_B": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com')`,
			`spec.imagePullSecrets[3].name: Duplicate value: "a": spec.imagePullSecrets[0].name has it too`,
		},
	}})
}
