// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package walkthrough

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/hack/checks/documents"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestAdoptByHand runs the commands by which the guide adopts a Deployment without the plugin: up to the point where the pods could be
// replaced, back, and once more to the end. Before the end, every pod is the one from before.
func TestAdoptByHand(t *testing.T) {
	const path, byHand = "docs/guides/migrate.md", "does the same by hand"
	guide, err := documents.Find(root, path)
	if err != nil {
		t.Fatal(err)
	}
	plugin, _, _ := strings.Cut(guide.Text, byHand)
	var blocks []string
	for _, block := range guide.Blocks {
		if block.Line > strings.Count(plugin, "\n") {
			blocks = append(blocks, strings.TrimSpace(block.Text))
		}
	}
	if len(blocks) != 10 {
		t.Fatalf("%s has %d blocks after %q, want 10", path, len(blocks), byHand)
	}
	save, running, application, consent, check, back := blocks[0], blocks[1], blocks[2], blocks[3], blocks[5], blocks[9]
	look, rest, _ := strings.Cut(blocks[4], "\n")
	enforce, release, found := strings.Cut(rest, "\n")
	if !found || strings.Contains(release, "\n") {
		t.Fatalf("%s does not look, take over and release in one line each:\n%s", path, blocks[4])
	}

	tools := buildKubectl(t)
	s := newSession(t, tools, controlplane.ForTest(t).Kubeconfig())
	s.ownKubeconfig()
	s.do("make install")
	s.do("make run")
	s.write("running.yaml", running)
	s.write("web.yaml", application)
	in := "cd " + s.directory + " && "
	s.do(in + "kubectl apply -f running.yaml && kubectl wait --for=condition=Available deployment/web --timeout=1m")
	state := "kubectl get deployment,service web -o jsonpath='{.items[*].spec}{.items[*].metadata.labels}' && kubectl get pods -o name"
	before, err := s.run(state, "")
	if err != nil {
		t.Fatalf("%v\n%s", err, before)
	}
	adopt := func() {
		t.Helper()
		s.do(in + "kubectl apply -f web.yaml")
		s.do(consent)
		s.do("kubectl wait --for=jsonpath='{.status.adoption.podFields}' applications.apps.fairlead.dev/web --timeout=1m && " + look)
		s.do(enforce)
		s.do(`kubectl wait --for=jsonpath='{.status.conditions[?(@.type=="Adopted")].reason}'=PodsHeld applications.apps.fairlead.dev/web --timeout=1m`)
	}
	s.do(in + save)
	adopt()
	s.do(in + back)
	if after, err := s.run(state, ""); err != nil || after != before {
		t.Fatalf("%v: other objects than before\n%sbut\n%s", err, before, after)
	}
	adopt()
	if pods, err := s.run("kubectl get pods -o name", ""); err != nil || !strings.HasSuffix(before, pods) {
		t.Fatalf("%v: the pods are\n%s", err, pods)
	}
	s.do(release)
	s.do(check)
}
