// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package reference_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/reference"
)

func TestInSpec(t *testing.T) {
	configMap := func(name string, required bool, keys ...string) reference.Reference {
		return reference.Reference{Kind: reference.ConfigMap, Name: name, Required: required, Keys: keys}
	}
	secret := func(name string, required bool, keys ...string) reference.Reference {
		return reference.Reference{Kind: reference.Secret, Name: name, Required: required, Keys: keys}
	}
	for _, test := range []struct {
		name, spec string
		want       []reference.Reference
	}{
		{"none", `{image: a, env: [{name: A, value: b}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}`, nil},
		{"variables", `env:
- {name: A, valueFrom: {configMapKeyRef: {name: c, key: k}}}
- {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}`, []reference.Reference{configMap("c", true, "k"), secret("s", true, "k")}},
		{"all variables of an object", `envFrom: [{configMapRef: {name: c}}, {secretRef: {name: s, optional: true}}]`,
			[]reference.Reference{configMap("c", true), secret("s", false)}},
		{"mounts", `mounts:
- {mountPath: /a, configMap: {name: c}}
- {mountPath: /b, secret: {secretName: s, items: [{key: k, path: p}]}}
- {mountPath: /c, emptyDir: {}}`, []reference.Reference{configMap("c", true), secret("s", true, "k")}},
		{"projected", `mounts:
- mountPath: /a
  projected:
    sources:
    - configMap: {name: c, optional: true}
    - secret: {name: s, items: [{key: k, path: p}]}
    - serviceAccountToken: {path: token}`, []reference.Reference{configMap("c", false), secret("s", true, "k")}},
		{"other containers", `
initContainers: [{name: i, env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: init}}}]}]
sidecars: [{name: s, envFrom: [{configMapRef: {name: c}}], env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: side}}}]}]`,
			[]reference.Reference{configMap("c", true), secret("s", true, "init", "side")}},
		{"an optional key is not required, in either order", `env:
- {name: A, valueFrom: {secretKeyRef: {name: s, key: may, optional: true}}}
- {name: B, valueFrom: {secretKeyRef: {name: s, key: must}}}
- {name: C, valueFrom: {secretKeyRef: {name: s, key: might, optional: true}}}`, []reference.Reference{secret("s", true, "must")}},
		{"a key twice", `env:
- {name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}
- {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}`, []reference.Reference{secret("s", true, "k")}},
		{"one name of two kinds", `envFrom: [{secretRef: {name: x}}, {configMapRef: {name: x}}]`,
			[]reference.Reference{configMap("x", true), secret("x", true)}},
		{"what the kubelet pulls with, and what the Application carries", `{imagePullSecrets: [{name: s}], config: {mountPath: /a, data: {a: b}}}`, nil},
		{"no name", `envFrom: [{secretRef: {}}]`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var spec v1.ApplicationSpec
			if err := yaml.UnmarshalStrict([]byte(test.spec), &spec); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, reference.FromSpec(&spec)); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFollows(t *testing.T) {
	for policy, want := range map[v1.ConfigChangePolicy]bool{"": true, v1.ConfigChangeRollout: true, v1.ConfigChangeIgnore: false} {
		if got := reference.RollsOut(&v1.ApplicationSpec{ConfigChangePolicy: policy}); got != want {
			t.Errorf("%q follows: %t, want %t", policy, got, want)
		}
	}
}
