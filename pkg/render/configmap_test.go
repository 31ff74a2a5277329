// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

func TestConfigMap(t *testing.T) {
	app := application(t, `config: {mountPath: /etc/web, data: {b.yaml: "b: 1\n", a.yaml: ""}}`)
	wantYAML(t, "data", fragment(t, rendered(t, app), child.ConfigMap, "data"), `{a.yaml: "", b.yaml: "b: 1\n"}`)
	if got := ofKind(t, rendered(t, app), child.ConfigMap)[0].GetName(); got != "web-config" {
		t.Errorf("name: got %s, want web-config", got)
	}
}

func TestConfigHash(t *testing.T) {
	hash := func(data map[string]string) string {
		app := application(t, ``)
		app.Spec.Config = &v1.Config{MountPath: "/etc/web", Data: data}
		return fragment(t, rendered(t, app), child.Deployment, "spec.template.metadata.annotations")
	}
	seen := map[string]map[string]string{}
	for _, data := range []map[string]string{
		{},
		{"a": ""},
		{"a": "b"},
		{"a": "bc"},
		{"ab": "c"},
		{"a": "b", "c": "d"},
		{"a": "b1:c1:d"}, // what an encoding that only glues parts together would give for the previous
		{"c": "b", "a": "d"},
	} {
		got := hash(data)
		if got == "" {
			t.Errorf("no hash for %v", data)
		}
		if other, taken := seen[got]; taken {
			t.Errorf("%v and %v have the same hash", data, other)
		}
		seen[got] = data
	}
	if got := fragment(t, rendered(t, application(t, ``)), child.Deployment, "spec.template.metadata.annotations"); got != "" {
		t.Errorf("annotations without config: got %s, want none", got)
	}
}
