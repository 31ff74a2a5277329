// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package walkthrough

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/hack/checks/documents"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestTakeBack does what the guide says after each of the ways in which an Application leaves its objects behind. It has them again
// afterwards, and every object and every pod is the one from before.
func TestTakeBack(t *testing.T) {
	guide, err := documents.Find(root, "docs/guides/take-back.md")
	if err != nil {
		t.Fatal(err)
	}
	tools := buildKubectl(t)
	buildPlugin(t, tools)
	s := newSession(t, tools, controlplane.ForTest(t).Kubeconfig())
	s.ownKubeconfig()
	s.do("make install")
	s.do("make run")
	for _, test := range []struct {
		name  string
		leave []string
	}{
		{"eject", []string{"kubectl fairlead eject web"}},
		{"orphan", []string{orphan, "kubectl delete applications.apps.fairlead.dev web"}},
		{"uninstall", []string{orphan, refused, "make uninstall ARGS=-yes", "make install"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &session{t: t, environment: s.environment, directory: s.directory}
			blocks := guide.Blocks
			s.write("web.yaml", blocks[0].Text)
			s.do("cd " + s.directory + " && sed '/paused: true/d' web.yaml | kubectl apply -f - && " + ready)
			before := s.objects()
			if lines := strings.Count(before, "\n"); lines < 10 {
				t.Fatalf("the Application has %d objects and pods only:\n%s", lines, before)
			}
			for _, command := range test.leave {
				s.do(command)
			}
			for _, block := range blocks[1:] {
				s.do("cd " + s.directory + " && " + strings.TrimSpace(block.Text))
			}
			if after := s.objects(); after != before {
				t.Errorf("other objects than before\n%sbut\n%s", before, after)
			}
			s.wantAll()
			s.do("kubectl delete applications.apps.fairlead.dev web --cascade=foreground --timeout=2m")
		})
	}
}

const (
	orphan = `kubectl patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"deletionPolicy":"Orphan"}}' && ` +
		`kubectl wait --for=jsonpath='{.status.observedGeneration}'=2 applications.apps.fairlead.dev/web --timeout=1m`
	// A reader at a terminal is asked. Without one, nothing is deleted.
	refused = "(make uninstall 2>&1 || true) | grep 'nothing was deleted: there is no terminal to ask at'"
	ready   = "kubectl wait --for=condition=Ready applications.apps.fairlead.dev/web --timeout=1m"
	kinds   = "pods,serviceaccounts,configmaps,networkpolicies,deployments,services,horizontalpodautoscalers,poddisruptionbudgets,ingresses"
)

// objects are the Application's objects and pods, by UID.
func (s *session) objects() string {
	s.t.Helper()
	output, err := s.run("kubectl get "+kinds+" --selector=app.kubernetes.io/name=web --no-headers -o custom-columns=:.kind,:.metadata.name,:.metadata.uid", "")
	if err != nil {
		s.t.Fatalf("%v\n%s", err, output)
	}
	return output
}

// wantAll wants the Application to be the controller of each of its objects, and to remove what leaves the spec.
func (s *session) wantAll() {
	s.t.Helper()
	output, err := s.run(`for object in $(kubectl get `+strings.TrimPrefix(kinds, "pods,")+` --selector=app.kubernetes.io/name=web -o name); do
		echo "$object $(kubectl get "$object" -o jsonpath='{.metadata.ownerReferences[0].kind}')"; done`, "")
	if err != nil {
		s.t.Fatalf("%v\n%s", err, output)
	}
	for line := range strings.Lines(output) {
		if !strings.HasSuffix(line, " Application\n") {
			s.t.Errorf("not the Application's: %s", line)
		}
	}
	s.do(`kubectl patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"config":{"data":{"color":null,"size":"9"}}}}' && ` +
		`kubectl wait --for=jsonpath='{.data.size}'=9 configmap/web-config --timeout=1m && ` +
		`test "$(kubectl get configmap web-config -o jsonpath='{.data}')" = '{"size":"9"}'`)
}

// buildPlugin compiles kubectl fairlead into the directory.
func buildPlugin(t *testing.T, directory string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(directory, "kubectl-fairlead"), ".")
	command.Dir = filepath.Join(root, "cmd", "kubectl-fairlead")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build the plugin: %v\n%s", err, output)
	}
}
