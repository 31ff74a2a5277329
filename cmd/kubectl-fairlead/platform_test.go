// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"
)

// TestPlatform asks about the installation, and for what this cluster does not have.
func TestPlatform(t *testing.T) {
	p := start(t)
	p.create("broken", "{image: example.com/simulate/image-pull-error:1, replicas: 1}")
	p.want(0, []string{"doctor"}, "CRDs         ok  established, on v1.", "permissions  ok")
	p.want(0, []string{"classes"}, "There is no ApplicationClass: nothing is imposed.")
	for line, want := range map[string]string{
		"top broken":            "error: this cluster serves no metrics: install metrics-server\n",
		"exec broken -- date":   "error: no pod of " + p.namespace + "/broken is ready: see 'kubectl fairlead why broken'\n",
		"classes gone":          "error: there is no ApplicationClass \"gone\": see 'kubectl fairlead classes'\n",
		"port-forward nothing":  "error: applications.apps.fairlead.dev \"nothing\" not found\n",
		"logs nothing":          "error: applications.apps.fairlead.dev \"nothing\" not found\n",
		"lint -f does-not.yaml": "error: stat does-not.yaml: no such file or directory\n",
	} {
		if r := p.want(2, strings.Fields(line)); r.stderr != want {
			t.Errorf("%s: %q, want %q", line, r.stderr, want)
		}
	}
	if r := p.want(2, []string{"timeline", "broken", "--address=http://127.0.0.1:1"}); !strings.HasPrefix(r.stderr, "error: no controller answers at http://127.0.0.1:1: start it with --debug-bind-address") {
		t.Errorf("timeline: %q", r.stderr)
	}
}
