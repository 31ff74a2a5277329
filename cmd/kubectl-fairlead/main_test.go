// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestSee looks at an Application that works and at one that does not.
func TestSee(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1, replicas: 2, ports: [{name: http, containerPort: 8080}]}")
	p.create("broken", "{image: example.com/simulate/image-pull-error:1, replicas: 1}")

	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, p.namespace+"/web  Ready", "2 of 2 pods updated, 2 available", "2 Ready")
	p.eventually("the problem of the pod", func() bool { return len(p.get("broken").Status.Problems) > 0 })
	p.want(1, []string{"status", "broken"}, "Not ready", ": ImagePullFailed", "1 ImagePull")
	p.want(1, []string{"status", "broken", "--watch", "--timeout=1s"}, "ImagePullFailed")
	p.want(0, []string{"why", "web"}, p.namespace+"/web is ready")
	p.want(1, []string{"why", "broken"}, "The image of container broken cannot be pulled. This concerns its only pod.", "- Pod/broken-", "→ Set another image: kubectl fairlead -n "+p.namespace+" set image broken IMAGE")
	p.want(0, []string{"tree", "web"}, "Deployment/web  Healthy  2/2 available", "└─ EndpointSlice/web-", "2/2 endpoints ready")
	p.want(0, []string{"tree", "broken"}, "Application/broken  Progressing ImagePullFailed")
	p.want(0, []string{"tree", "web", "-o", "name"}, "application.apps.fairlead.dev/web\n", "deployment.apps/web\n", "service/web\n")
	p.want(0, []string{"get"}, "web ", "broken ", "ImagePullFailed")
	p.want(0, []string{"get", "web", "-o", "name"}, "application.apps.fairlead.dev/web\n")

	var list struct {
		Items []struct {
			Name  string
			Ready bool
		}
	}
	r := p.want(1, []string{"status", "-A", "-o", "json"})
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) < 2 {
		t.Errorf("status -A has %d Applications, want 2 or more", len(list.Items))
	}

	p.want(0, []string{"set", "image", "web", "example.com/simulate/image-pull-error:2"})
	p.eventually("the problem of the new pod", func() bool { return len(p.get("web").Status.Problems) > 0 })
	p.want(1, []string{"why", "web"}, "The image of container web cannot be pulled. This concerns its only new pod. 2 pods of an older revision still serve.")
}

// TestNotFound wants each kind of failure to say what to do, and exit code 2.
func TestNotFound(t *testing.T) {
	p := start(t)
	for line, want := range map[string]string{
		"status nothing":           `applications.apps.fairlead.dev "nothing" not found`,
		"tree -l team=none":        "no Application matches in namespace " + p.namespace,
		"status web --context=off": `context "off" does not exist`,
	} {
		r := p.want(2, strings.Fields(line))
		if !strings.HasPrefix(r.stderr, "error: ") || !strings.Contains(r.stderr, want) || strings.Count(r.stderr, "rror") > 1 {
			t.Errorf("%s: %q, want one error with %q", line, r.stderr, want)
		}
	}
}

// TestCompletion completes names, and values of flags.
func TestCompletion(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1}")
	p.want(0, []string{"__complete", "status", "w"}, "web\n")
	p.want(0, []string{"__complete", "tree", "web", "-o", ""}, "json\n", "yaml\n", "wide\n")
	p.want(0, []string{"__complete", "tree", "--namespace", p.namespace[:5]}, p.namespace+"\n")
}
