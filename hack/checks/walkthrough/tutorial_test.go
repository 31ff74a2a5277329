// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package walkthrough

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/hack/checks/documents"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// tutorial has a test of its own, which compares what its commands print.
const tutorial = "docs/tutorial.md"

// onSimulatedNodes is what the tutorial's commands become where nodes pull no image and run no container, by how they begin. hack/e2e
// follows the tutorial on a real node.
var onSimulatedNodes = []struct {
	begins  string
	instead []string
}{
	{"make deploy", []string{"make install", "make run"}},
	{"make undeploy", []string{"make uninstall ARGS=-yes"}},
	{"make image", nil},
	{"docker ", nil},
	{"echo ", nil}, // It writes a file for the image that is not built.
	{"curl ", nil},
	{"kubectl port-forward", nil},
	{"kubectl --namespace fairlead-system get pods", nil}, // The controller runs on this machine.
}

// broken is the image that no registry has, and the one whose pull fails on simulated nodes.
var broken = strings.NewReplacer("registry.example.com/hello:oops", "registry.example.com/simulate/image-pull-error:oops")

// TestTutorial does what the tutorial says, in a cluster of its own, and sees what it shows.
func TestTutorial(t *testing.T) {
	document, err := documents.Find(root, tutorial)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, buildKubectl(t), controlplane.ForTest(t).Kubeconfig())
	s.ownKubeconfig()
	compared := 0
	for _, step := range document.Steps() {
		if step.File != "" {
			s.write(step.File, step.Content)
			continue
		}
		if s.doInstead(step.Command) {
			continue
		}
		command := fmt.Sprintf("cd %s && %s", s.directory, broken.Replace(step.Command))
		s.do(command)
		if step.Shows != "" {
			s.sees(command, step)
			compared++
		}
	}
	if compared < 8 {
		t.Errorf("the output of %d commands was compared; is the document's format understood?", compared)
	}
}

// doInstead reports whether a command means something else on simulated nodes, and does that.
func (s *session) doInstead(command string) bool {
	s.t.Helper()
	for _, other := range onSimulatedNodes {
		if strings.HasPrefix(command, other.begins) {
			for _, instead := range other.instead {
				s.do(instead)
			}
			return true
		}
	}
	return false
}

// sees runs a command, which only reads, until it prints what the tutorial shows.
func (s *session) sees(command string, step documents.Step) {
	s.t.Helper()
	var output string
	err := wait.PollUntilContextTimeout(s.t.Context(), time.Second, patience, true, func(context.Context) (bool, error) {
		var err error
		output, err = s.run(command, "")
		return err == nil && documents.Matches(broken.Replace(step.Shows), output), nil
	})
	if err != nil {
		s.t.Fatalf("%s:%d: %s never printed\n%s\nbut at last\n%s", tutorial, step.Line, step.Command, step.Shows, output)
	}
	s.t.Logf("%s", output)
}

// ownKubeconfig is a copy of the cluster's, since the commands change it.
func (s *session) ownKubeconfig() {
	s.t.Helper()
	config, err := s.run(`cat "$KUBECONFIG"`, "")
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("kubeconfig", config)
	s.environment = append(s.environment, "KUBECONFIG="+filepath.Join(s.directory, "kubeconfig"))
}

func (s *session) write(name, content string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.directory, name), []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}
