// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// The test has every line of the table in atomic.go.
func TestDefaultsInsideOfAtomicValues(t *testing.T) {
	const given = `
- {name: FIELD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
- {name: RESOURCE, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
- {name: MEBIBYTES, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1024Ki}}}
- {name: FILE, valueFrom: {fileKeyRef: {volumeName: tmp, path: env, key: A}}}
- {name: SECRET, valueFrom: {secretKeyRef: {name: a, key: b}}}
- {name: CONFIG, valueFrom: {configMapKeyRef: {name: a, key: b, optional: true}}}
`
	const want = `
- {name: FIELD, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}
- {name: RESOURCE, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: "0"}}}
- {name: MEBIBYTES, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}
- {name: FILE, valueFrom: {fileKeyRef: {volumeName: tmp, path: env, key: A, optional: false}}}
- {name: SECRET, valueFrom: {secretKeyRef: {name: a, key: b}}}
- {name: CONFIG, valueFrom: {configMapKeyRef: {name: a, key: b, optional: true}}}
`
	indented := func(env string) string {
		return "\n- name: helper\n  image: helper:1\n  env: " + flow(t, env)
	}
	for _, test := range []struct{ name, spec, path string }{
		{"application", "env:" + given, applicationPath + ".env"},
		{"sidecar", "sidecars:" + indented(given), podPath + ".containers[1].env"},
		{"init container", "initContainers:" + indented(given), podPath + ".initContainers[0].env"},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkFragments(t, child.Deployment, test.path, []fragmentCase{{"env", test.spec, want}})
		})
	}

	checkFragments(t, child.Deployment, podPath+".volumes[1]", []fragmentCase{{"projected", `
mounts:
- mountPath: /var/run/all
  projected:
    sources:
    - serviceAccountToken: {path: token, audience: shop}
    - serviceAccountToken: {path: short, expirationSeconds: 600}
    - podCertificate: {signerName: example.com/signer, keyType: ED25519, credentialBundlePath: bundle}
    - downwardAPI:
        items:
        - {path: name, fieldRef: {fieldPath: metadata.name}}
        - {path: cpu, resourceFieldRef: {containerName: web, resource: limits.cpu}}
    - secret: {name: a, items: [{key: b, path: c}]}
    - configMap: {name: a, optional: true}
`, `
name: ` + v1.VolumeName("/var/run/all") + `
projected:
  sources:
  - serviceAccountToken: {path: token, audience: shop, expirationSeconds: 3600}
  - serviceAccountToken: {path: short, expirationSeconds: 600}
  - podCertificate: {signerName: example.com/signer, keyType: ED25519, credentialBundlePath: bundle, maxExpirationSeconds: 86400}
  - downwardAPI:
      items:
      - {path: name, fieldRef: {apiVersion: v1, fieldPath: metadata.name}}
      - {path: cpu, resourceFieldRef: {containerName: web, resource: limits.cpu, divisor: "0"}}
  - secret: {name: a, items: [{key: b, path: c}]}
  - configMap: {name: a, optional: true}
`}})

	checkFragments(t, child.NetworkPolicy, "spec.egress[1].ports", []fragmentCase{{"ports of a NetworkPolicy",
		`networkPolicy: {egress: [{to: [{application: {name: db}}], ports: [{port: 5432}]}]}`,
		`[{protocol: TCP, port: 5432}]`,
	}})
}
