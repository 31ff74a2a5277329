// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestMany edits and shows several Applications: by name, by label, all of the namespace, and those of all namespaces with a label.
func TestMany(t *testing.T) {
	p := start(t)
	p.create("api", "{image: example.com/api:1}")
	p.create("scaled", "{image: example.com/scaled:1, resources: {requests: {cpu: 10m}}, autoscaling: {minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 80}}")
	p.create("web", "{image: example.com/web:1}")
	team := "team=" + p.namespace
	for _, name := range []string{"api", "web"} {
		label := []byte(`{"metadata":{"labels":{"team":"` + p.namespace + `"}}}`)
		if _, err := p.fairlead.AppsV1().Applications(p.namespace).Patch(t.Context(), name, types.MergePatchType, label, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	p.want(0, []string{"status", "--all", "--watch", "--timeout=60s"}, p.namespace+"/api  Ready", p.namespace+"/web  Ready")
	p.want(0, []string{"why", "-A", "-l", team, "--watch", "--timeout=60s"}, p.namespace+"/api is ready", p.namespace+"/web is ready")

	p.want(0, []string{"pause", "--all"}, p.namespace+"/scaled: rollouts are paused", "\n3 edited, 0 unchanged, 0 failed\n")
	p.want(0, []string{"pause", "api", "web", "web"}, "0 edited, 2 unchanged, 0 failed\n")
	if r := p.want(0, []string{"resume", "-A", "-l", team, "-o", "name"}); r.stdout != "application.apps.fairlead.dev/api\napplication.apps.fairlead.dev/web\n" {
		t.Errorf("-o name prints %q", r.stdout)
	}
	if p.get("web").Spec.Paused != nil || p.get("scaled").Spec.Paused == nil {
		t.Error("-l resumed others, or not those with the label")
	}
	p.want(0, []string{"resume", "scaled"})

	// One that cannot be edited does not stop the others.
	r := p.want(2, []string{"scale", "--all", "--replicas=2"}, "2 edited, 0 unchanged, 1 failed\n")
	if !strings.Contains(r.stderr, "error: "+p.namespace+"/scaled: ") || !strings.HasSuffix(r.stderr, "error: 1 of 3 Applications were not edited\n") {
		t.Errorf("the errors are %q", r.stderr)
	}
	if replicas := p.get("web").Spec.Replicas; replicas == nil || *replicas != 2 {
		t.Errorf("web has %v replicas", replicas)
	}
	// Nor does one that does not exist.
	for _, test := range []struct {
		args    []string
		paused  bool
		stdout  string
		count   string
		missing []string
	}{
		{[]string{"pause", "gone", "web"}, true, p.namespace + "/web: rollouts are paused", "1 edited, 0 unchanged, 1 failed\n", []string{"gone"}},
		{[]string{"resume", "web", "gone", "none"}, false, p.namespace + "/web: rollouts go on", "1 edited, 0 unchanged, 2 failed\n", []string{"gone", "none"}},
		{[]string{"restart", "gone", "none"}, false, "", "0 edited, 0 unchanged, 2 failed\n", []string{"gone", "none"}},
	} {
		r := p.want(2, test.args, test.stdout, test.count)
		for _, name := range test.missing {
			if !strings.Contains(r.stderr, `error: applications.apps.fairlead.dev "`+name+`" not found in namespace `+p.namespace+"\n") {
				t.Errorf("%q: the errors are %q", test.args, r.stderr)
			}
		}
		if last := fmt.Sprintf("\nerror: %d of %d Applications were not edited\n", len(test.missing), len(test.args)-1); !strings.HasSuffix(r.stderr, last) {
			t.Errorf("%q: the last error is not %q: %q", test.args, last, r.stderr)
		}
		if paused := p.get("web").Spec.Paused != nil; paused != test.paused {
			t.Errorf("%q: web is paused: %t", test.args, paused)
		}
	}
	if r := p.want(2, []string{"pause", "gone"}); r.stdout != "" || strings.Contains(r.stderr, "were not edited") {
		t.Errorf("a missing name alone: %q, and the error %q", r.stdout, r.stderr)
	}

	var list struct{ Items []v1.Application }
	r = p.want(0, []string{"set", "image", "-l", team, "example.com/both:2", "--dry-run=client", "-o", "json"})
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil || len(list.Items) != 2 || list.Items[0].Kind != "Application" || list.Items[1].Spec.Image != "example.com/both:2" {
		t.Errorf("set image prints %s: %v", r.stdout, err)
	}
	if image := p.get("web").Spec.Image; image != "example.com/web:1" {
		t.Errorf("a dry run set the image %s", image)
	}
	// What is no name may be an image, so nothing is written.
	r = p.want(2, []string{"set", "image", "web", "nginx", "web=example.com/both:2"})
	if last := "\nerror: nothing was written, because 1 of 2 names cannot be read. If one of them is meant as an image, write its tag, too, as in nginx:1.29\n"; !strings.HasSuffix(r.stderr, last) {
		t.Errorf("the last error is not %q: %q", last, r.stderr)
	}
	if image := p.get("web").Spec.Image; image != "example.com/web:1" {
		t.Errorf("half an edit set the image %s", image)
	}
	p.want(0, []string{"set", "image", "api", "web", "example.com/both:2"}, "2 edited, 0 unchanged, 0 failed\n")
	p.want(0, []string{"status", "api", "web", "--watch", "--timeout=60s"})
	var revisions struct {
		Items []struct {
			Namespace, Application, Image string
			Revision                      int
		}
	}
	if err := json.Unmarshal([]byte(p.want(0, []string{"history", "-l", team, "-o", "json"}).stdout), &revisions); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range revisions.Items {
		got = append(got, fmt.Sprintf("%s/%s %d %s", r.Namespace, r.Application, r.Revision, r.Image))
	}
	want := []string{p.namespace + "/api 2 example.com/both:2", p.namespace + "/api 1 example.com/api:1", p.namespace + "/web 2 example.com/both:2", p.namespace + "/web 1 example.com/web:1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the revisions (-want +got):\n%s", diff)
	}
	p.want(0, []string{"history", "api", "web", "--watch", "--timeout=1s"}, "NAMESPACE", "NAME", "REVISION", p.namespace+"   web")
	p.eventually("revision 2 to be healthy", func() bool {
		return p.get("api").Status.Revision.LastHealthy == 2 && p.get("web").Status.Revision.LastHealthy == 2
	})
	p.want(0, []string{"undo", "-l", team}, "the pods of revision 1 (example.com/api:1) in the spec", "the pods of revision 1 (example.com/web:1) in the spec", "2 edited")
	p.want(0, []string{"classes", "--watch", "--timeout=1s"}, "There is no ApplicationClass")
	p.want(2, []string{"classes", "-l", team})
}
