// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package walkthrough

import (
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/hack/checks/documents"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestMoveIngress does what the guide says about an Ingress that leads to an adopted Service. At each moment, an Ingress serves the host:
// the one of the Application's name is handed over as it is, and one of another name goes when the new one has an address.
func TestMoveIngress(t *testing.T) {
	const path = "docs/guides/migrate.md"
	guide, err := documents.Find(root, path)
	if err != nil {
		t.Fatal(err)
	}
	block := func(with string) string {
		t.Helper()
		at := slices.IndexFunc(guide.Blocks, func(b documents.Block) bool { return strings.Contains(b.Text, with) })
		if at < 0 {
			t.Fatalf("%s has no block with %q", path, with)
		}
		return strings.TrimSpace(guide.Blocks[at].Text)
	}
	running, handOver, replace := block("kind: Deployment"), block("kubectl annotate ingress/web"), block("kubectl delete ingress old")

	tools := buildKubectl(t)
	buildPlugin(t, tools)
	s := newSession(t, tools, controlplane.ForTest(t).Kubeconfig())
	s.ownKubeconfig()
	s.do("make install")
	s.do("make run")
	s.write("running.yaml", running)
	const (
		create = "kubectl create ingress %s --class=nginx --rule='web.example.com/*=web:80'"
		object = "kubectl get ingress web -o jsonpath='{.metadata.uid} {.spec}'"
	)
	s.do("cd " + s.directory + " && kubectl apply -f running.yaml && kubectl wait --for=condition=Available deployment/web --timeout=1m")
	s.do(strings.Replace(create, "%s", "web", 1))
	before, err := s.run(object, "")
	if err != nil {
		t.Fatalf("%v\n%s", err, before)
	}
	s.do("kubectl fairlead adopt web --harden | grep 'Ingress web leads to these pods, stays yours and goes on to serve.'")
	s.do("kubectl fairlead adopt web --rollout && kubectl wait --for=condition=Adopted applications.apps.fairlead.dev/web --timeout=1m")
	resume := block("kubectl fairlead resume web")
	if strings.Contains(resume, "\n") {
		t.Fatalf("%s does not let the reader read why before resume:\n%s", path, resume)
	}
	if said, err := s.run(handOver, ""); err != nil || !strings.Contains(said, "status.resources[Ingress/web]") {
		t.Fatalf("%v: why does not name what resume would change:\n%s", err, said)
	}
	s.do(resume)
	s.do("kubectl wait --for=condition=RoutesReady applications.apps.fairlead.dev/web --timeout=1m")
	if after, err := s.run(object, ""); err != nil || after != before {
		t.Errorf("%v: another Ingress than before\n%s\nbut\n%s", err, before, after)
	}

	s.do(`kubectl patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"routes":null}}' && kubectl wait --for=delete ingress/web --timeout=1m`)
	s.do(strings.Replace(create, "%s", "old", 1))
	// The simulated cluster has no Ingress controller that would give an address.
	address := `kubectl wait --for=create ingress/web --timeout=1m && test "$(kubectl get ingress old -o name)" &&
kubectl patch ingress web --subresource=status --type=merge --patch '{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}'`
	given := make(chan string, 1)
	go func() {
		output, err := s.run(address, "")
		if err != nil {
			output = err.Error() + "\n" + output
		} else {
			output = ""
		}
		given <- output
	}()
	s.do(replace)
	if failed := <-given; failed != "" {
		t.Error(failed)
	}
	if ingresses, err := s.run("kubectl get ingress -o name", ""); err != nil || ingresses != "ingress.networking.k8s.io/web\n" {
		t.Errorf("%v: the Ingresses are\n%s", err, ingresses)
	}
	s.do("kubectl wait --for=condition=Ready applications.apps.fairlead.dev/web --timeout=1m")
}
