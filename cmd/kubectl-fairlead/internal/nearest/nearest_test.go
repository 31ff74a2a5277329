// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package nearest

import "testing"

func TestTo(t *testing.T) {
	known := []string{"autoscaling", "containerPort", "env", "envFrom", "image", "port", "ports", "replicas", "web"}
	for typed, want := range map[string]string{
		"replica": "replicas", "relpicas": "replicas", "Replicas": "replicas", "containerport": "containerPort", "conatinerPrt": "containerPort",
		"autoScale": "autoscaling", "autoscalling": "autoscaling", "prot": "port", "imgae": "image", "evn": "env", "wbe": "web", "weeb": "web",
		"": "", "a": "", "xyz": "", "volumes": "", "memory": "", "en": "",
	} {
		if got := To(typed, known); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
	if got := To("web", nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
