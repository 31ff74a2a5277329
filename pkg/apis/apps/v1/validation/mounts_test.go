// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func TestConfig(t *testing.T) {
	run(t, []testCase{{
		name: "keys and path",
		spec: `config: {mountPath: etc, data: {"": x, a/b: x, ..: x, ok.yaml: x}}`,
		want: []string{
			`spec.config.mountPath: Invalid value: "etc": must be an absolute path`,
			`spec.config.data[]: Invalid value: "": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name' or 'KEY_NAME' or 'key-name')`,
			`spec.config.data[..]: Invalid value: "..": must not be '..'`,
			`spec.config.data[a/b]: Invalid value: "a/b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name' or 'KEY_NAME' or 'key-name')`,
		},
	}, {
		name: "nothing",
		spec: `config: {}`,
		want: []string{
			`spec.config.mountPath: Required value: must be an absolute path in the container`,
			`spec.config.data: Required value: must have at least one file`,
		},
	}})
}

// The runtime mounts files of its own into /etc and /dev, for which a read-only volume has no place.
func TestReadOnlyVolumeAtSystemPaths(t *testing.T) {
	const why = ", because no container starts with a read-only volume there: use a directory below it, such as "
	run(t, []testCase{{
		name: "config at /etc", spec: `config: {mountPath: /etc/, data: {a: b}}`,
		want: []string{`spec.config.mountPath: Invalid value: "/etc/": must not be /etc` + why + `/etc/web`},
	}, {
		name: "read-only mounts",
		spec: `
mounts:
- {mountPath: /etc, secret: {secretName: a}, readOnly: false}
- {mountPath: /dev, configMap: {name: a}}
- {mountPath: /dev/, projected: {sources: [{secret: {name: a}}]}}
- {mountPath: /etc//, readOnly: true, persistentVolumeClaim: {claimName: a}}`,
		want: []string{
			`spec.mounts[0].mountPath: Invalid value: "/etc": must not be /etc` + why + `/etc/web`,
			`spec.mounts[1].mountPath: Invalid value: "/dev": must not be /dev` + why + `/dev/web`,
			`spec.mounts[2].mountPath: Duplicate value: "/dev": spec.mounts[1].mountPath has it too`,
			`spec.mounts[2].mountPath: Invalid value: "/dev/": must not be /dev` + why + `/dev/web`,
			`spec.mounts[3].mountPath: Duplicate value: "/etc": spec.mounts[0].mountPath has it too`,
			`spec.mounts[3].mountPath: Invalid value: "/etc//": must not be /etc` + why + `/etc/web`,
		},
	}, {
		name: "writable, and below",
		spec: `mounts: [{mountPath: /etc, emptyDir: {}}, {mountPath: /dev, persistentVolumeClaim: {claimName: a}}, {mountPath: /dev/shm, emptyDir: {}}, {mountPath: /etc/tls, secret: {secretName: a}}]`,
	}})
}

func TestConfigSize(t *testing.T) {
	for _, tc := range []struct {
		bytes int
		want  []string
	}{
		{bytes: v1.MaxConfigBytes - 1},
		{bytes: v1.MaxConfigBytes, want: []string{"spec.config.data: Invalid value: file names and contents have 262145 bytes together; at most 262144 are allowed: use a ConfigMap or volume of your own"}},
	} {
		app := application(t, ``)
		app.Spec.Config = &v1.Config{MountPath: "/tmp", Data: map[string]string{"a": strings.Repeat("x", tc.bytes)}}
		if diff := cmp.Diff(tc.want, messages(ValidateApplication(app, Options{}))); diff != "" {
			t.Errorf("%d bytes: messages (-want +got):\n%s", tc.bytes, diff)
		}
	}
}

func TestMountPathLength(t *testing.T) {
	app := application(t, ``)
	app.Spec.Mounts = []v1.Mount{{MountPath: "/" + strings.Repeat("a", 1024), EmptyDir: &corev1.EmptyDirVolumeSource{}}}
	want := []string{`spec.mounts[0].mountPath: Invalid value: "/` + strings.Repeat("a", 124) + `…": must be no more than 1024 bytes`}
	if diff := cmp.Diff(want, messages(ValidateApplication(app, Options{}))); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestMounts(t *testing.T) {
	run(t, []testCase{{
		name: "nested, and at /tmp",
		spec: `mounts: [{mountPath: /data, emptyDir: {}}, {mountPath: /data/sub, emptyDir: {sizeLimit: "0", mode: 01777}}, {mountPath: /tmp, emptyDir: {medium: HugePages-2Mi}}]`,
	}, {
		name: "paths",
		spec: `
config: {mountPath: /etc/web/, data: {a: b}}
mounts:
- {mountPath: /etc//web, emptyDir: {}}
- {mountPath: "", emptyDir: {}}
- {mountPath: relative, emptyDir: {}}
- {mountPath: /a/../b, emptyDir: {}}
- {mountPath: "/a:b", emptyDir: {}}
- {mountPath: "/a\n", emptyDir: {}}
- {mountPath: /., emptyDir: {}}
- {mountPath: /proc/self, emptyDir: {}}
- {mountPath: /ok, subPath: /abs, emptyDir: {}}
- {mountPath: /ok/, subPath: a/../b, emptyDir: {}}
- {mountPath: /fine, subPath: "a\n", emptyDir: {}}`,
		want: []string{
			`spec.mounts[0].mountPath: Duplicate value: "/etc/web": spec.config.mountPath has it too`,
			`spec.mounts[1].mountPath: Required value: must be an absolute path in the container`,
			`spec.mounts[2].mountPath: Invalid value: "relative": must be an absolute path`,
			`spec.mounts[3].mountPath: Invalid value: "/a/../b": must not contain '..'`,
			`spec.mounts[4].mountPath: Invalid value: "/a:b": must not contain ':'`,
			`spec.mounts[5].mountPath: Invalid value: "/a\n": must not contain control characters`,
			`spec.mounts[6].mountPath: Invalid value: "/.": must not be the root of the container's file system`,
			`spec.mounts[7].mountPath: Invalid value: "/proc/self": must not be in /proc, which the container runtime owns`,
			`spec.mounts[8].subPath: Invalid value: "/abs": must be a relative path`,
			`spec.mounts[9].mountPath: Duplicate value: "/ok": spec.mounts[8].mountPath has it too`,
			`spec.mounts[9].subPath: Invalid value: "a/../b": must not contain '..'`,
			`spec.mounts[10].subPath: Invalid value: "a\n": must not contain control characters`,
		},
	}, {
		name: "sources",
		spec: `mounts: [{mountPath: /a}, {mountPath: /b, emptyDir: {}, persistentVolumeClaim: {claimName: ""}}]`,
		want: []string{
			`spec.mounts[0]: Required value: exactly one of secret, configMap, emptyDir, persistentVolumeClaim, projected must be set`,
			`spec.mounts[1]: Forbidden: exactly one of secret, configMap, emptyDir, persistentVolumeClaim, projected may be set: keep one of emptyDir, persistentVolumeClaim`,
			`spec.mounts[1].persistentVolumeClaim.claimName: Required value: must be the name of an object`,
		},
	}, {
		name: "secret and configMap",
		spec: `
mounts:
- {mountPath: /a, secret: {secretName: "", defaultMode: 512, defaultUser: -1, items: [{key: "", path: ""}, {key: a, path: /a, mode: -1}, {key: b, path: ..b, mode: 644}, {key: c, path: x}, {key: d, path: ./x, user: -1}]}}
- {mountPath: /b, configMap: {name: ""}}`,
		want: []string{
			`spec.mounts[0].secret.secretName: Required value: must be the name of an object`,
			`spec.mounts[0].secret.defaultMode: Invalid value: 512: must be between 0 and 0777 octal (511 decimal): did you mean 0512, which is 330 in JSON?`,
			`spec.mounts[0].secret.defaultUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
			`spec.mounts[0].secret.items[0].key: Required value: must be a key of the object`,
			`spec.mounts[0].secret.items[0].path: Required value: must be a relative path in the volume`,
			`spec.mounts[0].secret.items[1].path: Invalid value: "/a": must be a relative path`,
			`spec.mounts[0].secret.items[1].mode: Invalid value: -1: must be between 0 and 0777 octal (511 decimal)`,
			`spec.mounts[0].secret.items[2].path: Invalid value: "..b": must not start with '..'`,
			`spec.mounts[0].secret.items[2].mode: Invalid value: 644: must be between 0 and 0777 octal (511 decimal): did you mean 0644, which is 420 in JSON?`,
			`spec.mounts[0].secret.items[4].path: Duplicate value: "x": spec.mounts[0].secret.items[3].path has it too`,
			`spec.mounts[0].secret.items[4].user: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
			`spec.mounts[1].configMap.name: Required value: must be the name of an object`,
		},
	}, {
		name: "emptyDir",
		spec: `mounts: [{mountPath: /a, emptyDir: {medium: Disk, sizeLimit: "-1", mode: 1024}}, {mountPath: /b, emptyDir: {medium: HugePages-x}}]`,
		want: []string{
			`spec.mounts[0].emptyDir.medium: Unsupported value: "Disk": supported values: "Memory", "HugePages", "HugePages-<size>"`,
			`spec.mounts[0].emptyDir.sizeLimit: Invalid value: "-1": must be greater than or equal to 0`,
			`spec.mounts[0].emptyDir.mode: Invalid value: 1024: must be between 0 and 01777 octal (1023 decimal)`,
			`spec.mounts[1].emptyDir.medium: Unsupported value: "HugePages-x": supported values: "Memory", "HugePages", "HugePages-<size>"`,
		},
	}})
}
