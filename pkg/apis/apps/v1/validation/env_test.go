// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import "testing"

func TestEnv(t *testing.T) {
	run(t, []testCase{{
		name: "any printable name",
		spec: `env: [{name: "a.b-c D!", value: x}, {name: 1ST, value: ""}]`,
	}, {
		name: "every field of the pod",
		spec: `
env:
- {name: A, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}
- {name: B, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
- {name: C, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}
- {name: D, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
- {name: E, valueFrom: {fieldRef: {fieldPath: spec.serviceAccountName}}}
- {name: F, valueFrom: {fieldRef: {fieldPath: status.hostIPs}}}
- {name: G, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['example.com/A']"}}}
- {name: H, valueFrom: {resourceFieldRef: {containerName: log, resource: requests.hugepages-2Mi, divisor: "0"}}}
sidecars: [{name: log, image: log}]`,
	}, {
		name: "names",
		spec: `env: [{value: x}, {name: A=B}, {name: É}, {name: A}, {name: A}]`,
		want: []string{
			`spec.env[0].name: Required value: must be the name of the variable`,
			`spec.env[1].name: Invalid value: "A=B": a valid environment variable name must consist only of printable ASCII characters other than '='`,
			`spec.env[2].name: Invalid value: "É": a valid environment variable name must consist only of printable ASCII characters other than '='`,
			`spec.env[4].name: Duplicate value: "A": spec.env[3].name has it too`,
		},
	}, {
		name: "sources",
		spec: `env: [{name: A, value: x, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: B, valueFrom: {}}, {name: C, valueFrom: {configMapKeyRef: {name: a, key: a}, secretKeyRef: {name: a, key: a}}}, {name: D, value: "\0"}]`,
		want: []string{
			`spec.env[0].valueFrom: Forbidden: value and valueFrom exclude each other: remove one of them`,
			`spec.env[1].valueFrom: Required value: exactly one of fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef must be set`,
			`spec.env[2].valueFrom: Forbidden: exactly one of fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef may be set: keep one of configMapKeyRef, secretKeyRef`,
			`spec.env[3].value: Invalid value: "\x00": must not contain a NUL character`,
		},
	}, {
		name: "fields",
		spec: `
env:
- {name: A, valueFrom: {fieldRef: {apiVersion: v2, fieldPath: ""}}}
- {name: B, valueFrom: {fieldRef: {fieldPath: metadata.labels}}}
- {name: C, valueFrom: {fieldRef: {fieldPath: "metadata.labels['a b']"}}}
- {name: D, valueFrom: {fieldRef: {fieldPath: "metadata.name['a']"}}}
- {name: E, valueFrom: {fieldRef: {fieldPath: "metadata.labels['<key>']"}}}`,
		want: []string{
			`spec.env[0].valueFrom.fieldRef.apiVersion: Unsupported value: "v2": supported values: "v1"`,
			`spec.env[0].valueFrom.fieldRef.fieldPath: Required value: must be a field of the pod, e.g. metadata.name`,
			`spec.env[1].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.annotations['<key>']", "metadata.labels['<key>']", "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"`,
			`spec.env[2].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.labels['a b']": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
			`spec.env[3].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.name['a']": supported values: "metadata.annotations['<key>']", "metadata.labels['<key>']", "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"`,
			`spec.env[4].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.labels['<key>']": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
		},
	}, {
		name: "resources of containers",
		spec: `
env:
- {name: A, valueFrom: {resourceFieldRef: {resource: ""}}}
- {name: B, valueFrom: {resourceFieldRef: {containerName: other, resource: limits.gpu}}}
- {name: C, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1Mi}}}
- {name: D, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1m}}}`,
		want: []string{
			`spec.env[0].valueFrom.resourceFieldRef.resource: Required value: must be a resource of the container, e.g. limits.memory`,
			`spec.env[1].valueFrom.resourceFieldRef.containerName: Unsupported value: "other": supported values: "web"`,
			`spec.env[1].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.gpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory", "limits.hugepages-<size>", "requests.hugepages-<size>"`,
			`spec.env[2].valueFrom.resourceFieldRef.divisor: Unsupported value: "1Mi": supported values: "1", "1m"`,
			`spec.env[3].valueFrom.resourceFieldRef.divisor: Unsupported value: "1m": supported values: "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"`,
		},
	}, {
		name: "keys",
		spec: `env: [{name: A, valueFrom: {configMapKeyRef: {key: ""}}}, {name: B, valueFrom: {secretKeyRef: {name: B, key: a/b}}}]`,
		want: []string{
			`spec.env[0].valueFrom.configMapKeyRef.name: Required value: must be the name of an object`,
			`spec.env[0].valueFrom.configMapKeyRef.key: Required value: must be a key of the object`,
			`spec.env[1].valueFrom.secretKeyRef.name: Invalid value: "B": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com')`,
			`spec.env[1].valueFrom.secretKeyRef.key: Invalid value: "a/b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name' or 'KEY_NAME' or 'key-name')`,
		},
	}, {
		name: "files",
		spec: `{mounts: [{mountPath: /shared, emptyDir: {}}], env: [{name: A, valueFrom: {fileKeyRef: {volumeName: shared-627099b061, path: env, key: A}}}, {name: B, valueFrom: {fileKeyRef: {volumeName: config, path: ../env, key: ""}}}]}`,
		want: []string{
			`spec.env[1].valueFrom.fileKeyRef.key: Required value: must be a variable of the file`,
			`spec.env[1].valueFrom.fileKeyRef.path: Invalid value: "../env": must not contain '..'`,
			`spec.env[1].valueFrom.fileKeyRef.volumeName: Unsupported value: "config": supported values: "tmp", "shared-627099b061"`,
		},
	}})
}

func TestEnvFrom(t *testing.T) {
	run(t, []testCase{{
		name: "a prefix may start with a digit",
		spec: `envFrom: [{prefix: "1_", configMapRef: {name: a}}, {secretRef: {name: a.b, optional: true}}]`,
	}, {
		name: "sources",
		spec: `envFrom: [{}, {configMapRef: {name: a}, secretRef: {name: ""}}, {prefix: "=", configMapRef: {name: A}}]`,
		want: []string{
			`spec.envFrom[0]: Required value: exactly one of configMapRef, secretRef must be set`,
			`spec.envFrom[1]: Forbidden: exactly one of configMapRef, secretRef may be set: keep one of configMapRef, secretRef`,
			`spec.envFrom[1].secretRef.name: Required value: must be the name of an object`,
			`spec.envFrom[2].prefix: Invalid value: "=": a valid environment variable name must consist only of printable ASCII characters other than '='`,
			`spec.envFrom[2].configMapRef.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com')`,
		},
	}})
}
