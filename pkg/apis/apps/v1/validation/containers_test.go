// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestCommand(t *testing.T) {
	run(t, []testCase{{
		name: "words and directory",
		spec: `{command: [a, "b\0"], args: ["\0"], workingDir: srv, sidecars: [{name: s, image: s, args: ["\0"], workingDir: "/a\n"}]}`,
		want: []string{
			`spec.command[1]: Invalid value: "b\x00": must not contain a NUL character`,
			`spec.args[0]: Invalid value: "\x00": must not contain a NUL character`,
			`spec.workingDir: Invalid value: "srv": must be an absolute path without control characters`,
			`spec.sidecars[0].args[0]: Invalid value: "\x00": must not contain a NUL character`,
			`spec.sidecars[0].workingDir: Invalid value: "/a\n": must be an absolute path without control characters`,
		},
	}})
}

func TestContainers(t *testing.T) {
	run(t, []testCase{{
		name: "a native sidecar",
		spec: `initContainers: [{name: p, image: p, restartPolicy: Always, livenessProbe: {exec: {command: [a]}}, lifecycle: {preStop: {sleep: {seconds: 1}}}, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]}]`,
	}, {
		name: "names",
		spec: `{initContainers: [{image: a}, {name: web, image: a}, {name: a, image: a}, {name: A.b, image: a}], sidecars: [{name: a, image: a}, {name: web, image: a}, {name: b, image: a}, {name: b, image: a}]}`,
		want: []string{
			`spec.initContainers[0].name: Required value: must be a DNS label`,
			`spec.initContainers[1].name: Duplicate value: "web": the container of the application has the name of the Application`,
			`spec.initContainers[3].name: Invalid value: "A.b": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name' or '123-abc')`,
			`spec.sidecars[0].name: Duplicate value: "a": spec.initContainers[2].name has it too`,
			`spec.sidecars[1].name: Duplicate value: "web": the container of the application has the name of the Application`,
			`spec.sidecars[3].name: Duplicate value: "b": spec.sidecars[2].name has it too`,
		},
	}, {
		name: "an init container that ends",
		spec: `initContainers: [{name: a, image: a, livenessProbe: {}, readinessProbe: {}, startupProbe: {}, lifecycle: {}, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]}, {name: b, image: b, restartPolicy: OnFailure}]`,
		want: []string{
			`spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": needs restartPolicy Always of the init container`,
			`spec.initContainers[0].livenessProbe: Forbidden: needs restartPolicy Always: an init container that ends has neither probes nor lifecycle`,
			`spec.initContainers[0].readinessProbe: Forbidden: needs restartPolicy Always: an init container that ends has neither probes nor lifecycle`,
			`spec.initContainers[0].startupProbe: Forbidden: needs restartPolicy Always: an init container that ends has neither probes nor lifecycle`,
			`spec.initContainers[0].lifecycle: Forbidden: needs restartPolicy Always: an init container that ends has neither probes nor lifecycle`,
			`spec.initContainers[1].restartPolicy: Unsupported value: "OnFailure": supported values: "Always"`,
		},
	}, {
		name: "fields of a sidecar",
		spec: `
sidecars:
- name: s
  image: s
  imagePullPolicy: Sometimes
  terminationMessagePolicy: Never
  restartPolicy: Always
  restartPolicyRules: [{action: Restart}]
  volumeDevices: [{name: a, devicePath: /dev/a}]
  resizePolicy: [{resourceName: cpu, restartPolicy: ""}, {resourceName: cpu, restartPolicy: NotRequired}, {resourceName: gpu, restartPolicy: Never}]`,
		want: []string{
			`spec.sidecars[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"`,
			`spec.sidecars[0].terminationMessagePolicy: Unsupported value: "Never": supported values: "File", "FallbackToLogsOnError"`,
			`spec.sidecars[0].resizePolicy[0].restartPolicy: Unsupported value: "": supported values: "NotRequired", "RestartContainer"`,
			`spec.sidecars[0].resizePolicy[1].resourceName: Duplicate value: "cpu": spec.sidecars[0].resizePolicy[0].resourceName has it too`,
			`spec.sidecars[0].resizePolicy[2].resourceName: Unsupported value: "gpu": supported values: "cpu", "memory"`,
			`spec.sidecars[0].resizePolicy[2].restartPolicy: Unsupported value: "Never": supported values: "NotRequired", "RestartContainer"`,
			`spec.sidecars[0].volumeDevices: Forbidden: an Application has no block volumes`,
			`spec.sidecars[0].restartPolicyRules: Forbidden: an Application's containers are always restarted`,
			`spec.sidecars[0].restartPolicy: Forbidden: a sidecar is always restarted; only an init container may set Always`,
		},
	}, {
		name: "probes of a sidecar see its own ports",
		spec: `
ports: [{name: http, containerPort: 80}]
sidecars: [{name: s, image: s, ports: [{name: admin, containerPort: 81}], livenessProbe: {httpGet: {port: http}}, readinessProbe: {tcpSocket: {}, timeoutSeconds: -1}, startupProbe: {grpc: {port: 81, mode: SSL}, successThreshold: 2}}]`,
		want: []string{
			`spec.sidecars[0].livenessProbe.httpGet.port: Unsupported value: "http": supported values: "admin"`,
			`spec.sidecars[0].readinessProbe.tcpSocket.port: Invalid value: 0: must be between 1 and 65535, inclusive`,
			`spec.sidecars[0].readinessProbe.timeoutSeconds: Invalid value: -1: must be greater than 0`,
			`spec.sidecars[0].startupProbe.successThreshold: Invalid value: 2: must be 1 for startupProbe`,
			`spec.sidecars[0].startupProbe.grpc.mode: Unsupported value: "SSL": supported values: "Plaintext", "TLS"`,
		},
	}})
}

func TestVolumeMounts(t *testing.T) {
	run(t, []testCase{{
		name: "all volumes by their names",
		spec: `
config: {mountPath: /etc/web, data: {a: b}}
mounts: [{mountPath: /shared, emptyDir: {}}]
sidecars: [{name: s, image: s, volumeMounts: [{name: config, mountPath: /etc/web}, {name: shared-627099b061, mountPath: /shared, readOnly: true, recursiveReadOnly: IfPossible}, {name: tmp, mountPath: /tmp, subPathExpr: $(POD), mountPropagation: HostToContainer, bindMountOptions: [noexec]}]}]`,
	}, {
		name: "a wrong name is answered with the right ones",
		spec: `{mounts: [{mountPath: /tmp, emptyDir: {}}, {mountPath: /shared, emptyDir: {}}], sidecars: [{name: s, image: s, volumeMounts: [{name: tmp, mountPath: /tmp}]}]}`,
		want: []string{
			`spec.sidecars[0].volumeMounts[0].name: Unsupported value: "tmp": supported values: "tmp-b1bd0f21fd", "shared-627099b061": to have another volume, add it to spec.mounts`,
		},
	}, {
		name: "paths and options",
		spec: `
initContainers:
- name: i
  image: i
  volumeMounts:
  - {name: tmp, mountPath: a, subPath: /b, subPathExpr: ../c}
  - {name: tmp, mountPath: /d, mountPropagation: Bidirectional, recursiveReadOnly: Enabled}
  - {name: tmp, mountPath: /d/, mountPropagation: Both, readOnly: true, recursiveReadOnly: Always, bindMountOptions: [noexec, noexec, rw]}`,
		want: []string{
			`spec.initContainers[0].volumeMounts[0].mountPath: Invalid value: "a": must be an absolute path`,
			`spec.initContainers[0].volumeMounts[0].subPath: Invalid value: "/b": must be a relative path`,
			`spec.initContainers[0].volumeMounts[0].subPathExpr: Invalid value: "../c": must not contain '..'`,
			`spec.initContainers[0].volumeMounts[0].subPathExpr: Forbidden: subPath and subPathExpr exclude each other: remove one of them`,
			`spec.initContainers[0].volumeMounts[1].mountPropagation: Forbidden: Bidirectional needs a privileged container`,
			`spec.initContainers[0].volumeMounts[1].recursiveReadOnly: Forbidden: needs readOnly true`,
			`spec.initContainers[0].volumeMounts[2].mountPath: Duplicate value: "/d": spec.initContainers[0].volumeMounts[1].mountPath has it too`,
			`spec.initContainers[0].volumeMounts[2].mountPropagation: Unsupported value: "Both": supported values: "Bidirectional", "HostToContainer", "None"`,
			`spec.initContainers[0].volumeMounts[2].recursiveReadOnly: Unsupported value: "Always": supported values: "Disabled", "Enabled", "IfPossible"`,
			`spec.initContainers[0].volumeMounts[2].recursiveReadOnly: Forbidden: needs mountPropagation None`,
			`spec.initContainers[0].volumeMounts[2].bindMountOptions[1]: Duplicate value: "noexec": spec.initContainers[0].volumeMounts[2].bindMountOptions[0] has it too`,
			`spec.initContainers[0].volumeMounts[2].bindMountOptions[2]: Unsupported value: "rw": supported values: "nodev", "noexec", "nosuid"`,
		},
	}})
}

// TestListsOfOtherContainers: a sidecar has no more of anything than the application may have.
func TestListsOfOtherContainers(t *testing.T) {
	app := application(t, `sidecars: [{name: proxy, image: proxy:1}]`)
	sidecar := &app.Spec.Sidecars[0]
	for i := range 1025 {
		sidecar.Env = append(sidecar.Env, corev1.EnvVar{Name: fmt.Sprintf("A%d", i)})
	}
	for i := range 65 {
		sidecar.Ports = append(sidecar.Ports, corev1.ContainerPort{ContainerPort: int32(i + 1)})
	}
	want := []string{"spec.sidecars[0].ports: Too many: 65: must have at most 64 items", "spec.sidecars[0].env: Too many: 1025: must have at most 1024 items"}
	if diff := cmp.Diff(want, messages(ValidateApplication(app, Options{}))); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}
