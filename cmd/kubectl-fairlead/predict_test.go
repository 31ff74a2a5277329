// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
)

// TestDiffWhileStopped: a file that leaves reconcilePolicy out, or at Observe or Suspend, replaces no pod before the Application is
// resumed. A file that resumes it carries out what waited too.
func TestDiffWhileStopped(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.create("web", "{image: example.com/web:1, replicas: 2}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	before := p.pods(kube)
	diff := func(spec string) string {
		t.Helper()
		r := p.runIn([]byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web}, spec: {image: 'example.com/web:2'"+spec+"}}"), "diff", "-f", "-")
		if r.code != 1 {
			t.Errorf("diff of %q: %+v", spec, r)
		}
		return r.stdout
	}
	for stop, policy := range map[string]string{"observe": "Observe", "suspend": "Suspend"} {
		p.want(0, []string{stop, "web"})
		want := p.namespace + "/web: until it is resumed, no child changes and no pod is replaced (reconcilePolicy: " + policy + ").\n"
		for _, spec := range []string{"", ", reconcilePolicy: " + policy} {
			if got := diff(spec); !strings.HasPrefix(got, want) || !strings.Contains(got, "~ Deployment/web  Update\n") {
				t.Errorf("%s, and a file with %q: %s\nwant %s", stop, spec, got, want)
			}
		}
	}
	p.want(0, []string{"set", "image", "web", "example.com/web:2"}, "Until it is resumed, no pod is replaced.")
	if got := diff(", reconcilePolicy: Enforce"); !strings.HasPrefix(got, p.namespace+"/web: all 2 pods are replaced, because of containers") {
		t.Errorf("a file that resumes: %s", got)
	}
	if after := p.pods(kube); !slices.Equal(before, after) {
		t.Errorf("the pods are %s, want %s", after, before)
	}
}
