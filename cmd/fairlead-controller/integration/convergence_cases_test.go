// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// pickedTransitions are specs in turn, each without the image. Each ends where it is easy to
// leave something behind.
func pickedTransitions() map[string][]string {
	const (
		everything = `{ports: [{name: http, containerPort: 8080, servicePort: 80}], config: {mountPath: /etc/web, data: {a: "1"}}, disruptionBudget: {mode: Custom, minAvailable: 1}, networkPolicy: {}, routes: [{name: public, hostnames: [web.example.com]}], service: {type: NodePort}, replicas: 2, paused: true}`
		nothing    = `{replicas: 0}`
	)
	return map[string][]string{
		"nothing-left":    {everything, nothing},
		"there-and-back":  {everything, nothing, everything},
		"port-renumbered": {`{ports: [{name: http, containerPort: 8080, servicePort: 80}], replicas: 0}`, `{ports: [{name: http, containerPort: 8081, servicePort: 81}], replicas: 0}`},
		"ports-swapped": {
			`{ports: [{name: http, containerPort: 8080}, {name: admin, containerPort: 9090}], replicas: 0}`,
			`{ports: [{name: http, containerPort: 9090}, {name: admin, containerPort: 8080}], replicas: 0}`,
		},
		"protocol": {`{ports: [{name: dns, containerPort: 53}], replicas: 0}`, `{ports: [{name: dns, containerPort: 53, protocol: UDP}], replicas: 0}`},
		"service-type": {
			`{ports: [{name: http, containerPort: 80}], service: {type: LoadBalancer, sessionAffinity: ClientIP, annotations: {a: "1"}}, replicas: 0}`,
			`{ports: [{name: http, containerPort: 80}], service: {type: NodePort}, replicas: 0}`,
			`{ports: [{name: http, containerPort: 80}], replicas: 0}`,
		},
		"strategy": {
			`{strategy: {rollingUpdate: {maxSurge: 1}}, replicas: 0}`,
			`{strategy: {type: Recreate}, replicas: 0}`,
			`{strategy: {rollingUpdate: {maxUnavailable: 1}}, replicas: 0}`,
		},
		"recreate": {`{strategy: {type: RollingUpdate}, replicas: 0}`, `{strategy: {type: Recreate}, replicas: 0}`},
		"variables": {
			`{env: [{name: A, value: "1"}, {name: B, value: "2"}, {name: C, value: "$(B)"}], replicas: 0}`,
			`{env: [{name: C, value: "3"}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}], replicas: 0}`,
			`{env: [{name: B, value: "2"}, {name: C, value: "$(B)"}, {name: A, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}], replicas: 0}`,
		},
		"order": {
			`{env: [{name: A, value: "1"}, {name: B, value: "$(A)"}, {name: C, value: "3"}], initContainers: [{name: a, image: a}, {name: b, image: b}], ports: [{name: http, containerPort: 80}, {name: admin, containerPort: 81}], mounts: [{mountPath: /a, emptyDir: {}}], replicas: 0}`,
			`{env: [{name: C, value: "3"}, {name: B, value: "$(A)"}, {name: A, value: "1"}], initContainers: [{name: b, image: b}, {name: a, image: a}], ports: [{name: admin, containerPort: 81}, {name: http, containerPort: 80}], mounts: [{mountPath: /a, emptyDir: {}}], replicas: 0}`,
		},
		"volume-sources": {
			`{mounts: [{mountPath: /data, emptyDir: {}}, {mountPath: /cache, emptyDir: {medium: Memory}}], replicas: 0}`,
			`{mounts: [{mountPath: /data, persistentVolumeClaim: {claimName: data}}, {mountPath: /tmp, emptyDir: {}}], replicas: 0}`,
			`{mounts: [{mountPath: /data, configMap: {name: data, optional: true}}], replicas: 0}`,
		},
		"probes": {
			`{ports: [{name: http, containerPort: 80}], livenessProbe: {httpGet: {path: /}}, readinessProbe: {exec: {command: ["true"]}}, replicas: 0}`,
			`{ports: [{name: http, containerPort: 80}], livenessProbe: {tcpSocket: {}, periodSeconds: 3}, replicas: 0}`,
			`{ports: [{name: http, containerPort: 80}], livenessProbe: {grpc: {}}, startupProbe: {tcpSocket: {}}, replicas: 0}`,
		},
		"containers": {
			`{initContainers: [{name: a, image: a}, {name: b, image: b}], sidecars: [{name: x, image: x}, {name: y, image: y}], replicas: 0}`,
			`{initContainers: [{name: b, image: b}, {name: a, image: a}], sidecars: [{name: y, image: y}, {name: x, image: x}], replicas: 0}`,
			`{initContainers: [{name: b, image: b, restartPolicy: Always}, {name: c, image: c}, {name: a, image: a}], sidecars: [{name: y, image: y}], replicas: 0}`,
		},
		"routes": {
			`{ports: [{name: http, containerPort: 80}], routes: [{name: a, hostnames: [a.example.com], tls: {secretName: s}}, {name: b, hostnames: [b.example.com]}], replicas: 0}`,
			`{ports: [{name: http, containerPort: 80}], routes: [{name: b, hostnames: [b.example.com]}, {name: c, hostnames: [c.example.com]}], replicas: 0}`,
		},
		"budget": {
			`{disruptionBudget: {mode: Custom, minAvailable: 1}, replicas: 2, paused: true}`,
			`{replicas: 2, paused: true}`,
			`{disruptionBudget: {mode: Custom, minAvailable: 50%}, replicas: 2, paused: true}`,
		},
		"spread": {
			`{topologySpreadConstraints: [{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}], replicas: 0}`,
			`{topologySpreadConstraints: [{topologyKey: zone, maxSkew: 2, whenUnsatisfiable: ScheduleAnyway}], replicas: 0}`,
			`{replicas: 0}`,
		},
		"security": {
			`{podSecurityContext: {runAsUser: 1000, fsGroup: 1000, supplementalGroups: [1]}, securityContext: {runAsUser: 1001, readOnlyRootFilesystem: false}, replicas: 0}`,
			`{podSecurityContext: {runAsUser: 1001}, replicas: 0}`,
		},
		"scaling": {
			`{replicas: 0}`,
			`{resources: {requests: {cpu: 1m}}, autoscaling: {maxReplicas: 3, targetCPUUtilizationPercentage: 50, behavior: {scaleUp: {stabilizationWindowSeconds: 1}}}, paused: true}`,
			`{resources: {requests: {cpu: 1m}}, autoscaling: {maxReplicas: 4, targetCPUUtilizationPercentage: 50}, paused: true}`,
			`{replicas: 1, paused: true}`,
		},
	}
}

// parseSpec reads a spec and adds an image.
func parseSpec(t *testing.T, text string) v1.ApplicationSpec {
	t.Helper()
	var spec v1.ApplicationSpec
	if err := yaml.UnmarshalStrict([]byte(text), &spec); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	spec.Image = "registry.example.com/web:1"
	return spec
}
