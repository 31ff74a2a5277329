// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package walkthrough

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/hack/checks/documents"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const root = "../../.."

// elsewhere are the commands that something else runs: the file that shows it, and how.
var elsewhere = map[string]struct{ file, text string }{
	"make demo":      {".ci/run", "ONCE=1 make demo"},
	"make tour":      {".ci/run", "ONCE=1 make tour"},
	"make lint":      {".ci/run", "make lint"},
	"make verify":    {".ci/run", "make verify"},
	"make test":      {".ci/run", "make test"},
	"make test-unit": {".ci/run", "make test-unit"},
	"make test-docs": {".ci/run", "make test-docs"},
	"make cluster":   {"Makefile", "test: cluster"},
	"make e2e":       {".ci/run", "step e2e"},
	"make bench":     {".ci/run", "make bench"},
	"make chaos":     {".ci/run", "make chaos"},
}

// excused are the commands that nothing runs, with the reason.
var excused = map[string]string{
	"kubectl logs -l apps.fairlead.dev/application=minimal --all-containers --prefix --follow": "it lasts, and the simulated nodes have no logs",
	"kubectl logs POD --previous":                                                                    "no container has crashed, and the simulated nodes have no logs",
	"make fuzz DURATION=10m":                                                                         "it takes ten minutes; the tests of pkg/testing/schemagen draw from the same generator",
	`make bench ARGS="-n=10000 -json=bench-10000.json"`:                                              "it takes long; .ci/run runs it with fewer Applications",
	"go test ./pkg/render -run TestGolden -update":                                                   "it would write over what the test beside it compares with",
	"make image IMAGE=registry.example.com/fairlead-controller:v0.1.0":                               "it needs a tool that builds images, and a base image from a registry; the end-to-end test has both",
	"kubectl --namespace=argocd patch configmap argocd-cm --patch-file=artifacts/argocd/health.yaml": "it needs Argo CD; a test of hack/neighbours/argocd runs the scripts of the file",
	"make chaos DURATION=3h":                                                                         "it takes three hours; .ci/run runs it for a moment",
	"make chaos PLANTS=all":                                                                          "it takes half an hour; a test of hack/chaos holds that the bugs can be planted",
	"make soak":                                                                                      "it takes an hour; .ci/run measures its goal for seconds",
	"make soak DURATION=24h":                                                                         "it takes a day",
}

// lasting are the commands that go on until they are stopped, by how they begin, and what they
// print when they are ready.
var lasting = map[string]string{
	"make run":                "Starting workers",
	"bin/fairlead-cluster up": "KUBECONFIG",
}

// TestCommands runs every command of the README and of docs, in the order in which a reader
// would. Each document is a session of its own: later commands see what earlier ones did.
func TestCommands(t *testing.T) {
	tools := buildKubectl(t)
	cluster := controlplane.ForTest(t)
	ran := 0
	for _, document := range userDocuments(t) {
		if document.Path == tutorial {
			continue // TestTutorial runs them, and more.
		}
		t.Run(document.Path, func(t *testing.T) {
			s := newSession(t, tools, cluster.Kubeconfig())
			for _, block := range document.Blocks {
				for _, command := range block.Commands() {
					if why := whyNot(t, command); why != "" {
						t.Logf("%s:%d: not run here: %s: %s", document.Path, block.Line, command, why)
						continue
					}
					s.do(command)
					ran++
				}
			}
		})
	}
	if !t.Failed() && ran == 0 {
		t.Error("no command was found; is the documents' format understood?")
	}
}

// TestDemoOnTheCurrentCluster runs the demo on the cluster that kubectl uses, which it does only if it is told to. That
// KUBECONFIG alone leads it nowhere is for .ci/run to see, which sets one that is stale.
func TestDemoOnTheCurrentCluster(t *testing.T) {
	tools := buildKubectl(t)
	cluster := controlplane.ForTest(t)
	s := newSession(t, tools, cluster.Kubeconfig())
	output, err := s.run("FAIRLEAD_CLUSTER=current ONCE=1 make demo", "")
	if err != nil || !strings.Contains(output, "The demo will use the cluster "+cluster.Config().Host) {
		t.Errorf("%v\n%s", err, output)
	}
}

// whyNot says who else runs a command, or why nobody does; it is "" for one that is to be run.
func whyNot(t *testing.T, command string) string {
	t.Helper()
	if place, found := elsewhere[command]; found {
		content, err := os.ReadFile(filepath.Join(root, place.file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), place.text) {
			t.Errorf("%s is said to run %q, but does not have %q", place.file, command, place.text)
		}
		return place.file + " does"
	}
	return excused[command]
}

// TestYAML gives the Applications of the documents to an API server, and to the validation that
// the controller does.
func TestYAML(t *testing.T) {
	tools := buildKubectl(t)
	cluster := controlplane.ForTest(t, controlplane.APIOnly())
	s := newSession(t, tools, cluster.Kubeconfig())
	s.do("make install")
	checked := 0
	for _, document := range userDocuments(t) {
		for _, block := range document.Blocks {
			if block.Language != "yaml" || !strings.Contains(block.Text, "kind: Application\n") {
				continue
			}
			checked++
			output, err := s.run("kubectl apply --dry-run=server --validate=strict -o json -f -", block.Text)
			if err != nil {
				t.Errorf("%s:%d: %v\n%s", document.Path, block.Line, err, output)
				continue
			}
			application := &v1.Application{}
			if err := json.Unmarshal([]byte(output), application); err != nil {
				t.Errorf("%s:%d: %v\n%s", document.Path, block.Line, err, output)
				continue
			}
			for _, problem := range validation.ValidateApplication(application, validation.Options{}) {
				t.Errorf("%s:%d: %v", document.Path, block.Line, problem)
			}
		}
	}
	if checked == 0 {
		t.Error("no Application was found; is the documents' format understood?")
	}
}

func userDocuments(t *testing.T) []documents.Document {
	t.Helper()
	all, err := documents.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	var chosen []documents.Document
	for _, document := range all {
		// Those beside the code describe tools that have tests of their own.
		if !strings.Contains(document.Path, "/") || strings.HasPrefix(document.Path, "docs/") {
			chosen = append(chosen, document)
		}
	}
	return chosen
}

// buildKubectl compiles kubectl, since the machine may have none, or an old one. It returns the
// directory to put on the PATH.
func buildKubectl(t *testing.T) string {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "tools")
	command := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(directory, "kubectl"), ".")
	command.Dir = filepath.Join(root, "hack", "tools", "kubectl")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build kubectl: %v\n%s", err, output)
	}
	return directory
}
