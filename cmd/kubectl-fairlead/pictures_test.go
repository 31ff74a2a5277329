// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/picture"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

var record = flag.Bool("record", false, "record what docs/images/terminal shows, with the program script; then draw it with -update")

// pictureColumns is the width of the terminal.
const pictureColumns = 100

// pictures are those of the documents, in the order in which they were recorded, and how each begins.
var pictures = []struct{ name, title, command string }{
	{"adopt", "kubectl fairlead adopt says how the pods will differ, and adopts", "adopt web --harden --accept=.spec.containers[web].tty"},
	{"status-held", "kubectl fairlead status of an adopted Deployment whose pods run as before", "status web"},
	{"rollout", "kubectl fairlead adopt --rollout replaces the pods", "adopt web --rollout"},
	{"tree", "kubectl fairlead tree shows the objects of an Application, with their health", "tree web"},
	{"why", "kubectl fairlead why says what is wrong, and what to do", "why broken"},
	{"eject", "kubectl fairlead eject gives the objects back", "eject web"},
}

// TestPictures keeps docs/images/terminal: each picture shows the text that was recorded beside it, on a real cluster.
func TestPictures(t *testing.T) {
	const directory = "../../docs/images/terminal"
	if *record {
		recordPictures(t, directory)
	}
	for _, p := range pictures {
		recorded, err := os.ReadFile(filepath.Join(directory, p.name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, "../"+directory+"/"+p.name+".svg", picture.SVG(p.title, string(recorded), pictureColumns))
	}
}

// recordPictures runs the commands at a terminal.
func recordPictures(t *testing.T, directory string) {
	t.Helper()
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	p.create("broken", "{image: example.com/simulate/image-pull-error:1, replicas: 2}")
	p.eventually("the problem of the pods", func() bool { return len(p.get("broken").Status.Problems) > 0 })
	for _, picture := range pictures {
		switch picture.name {
		case "status-held":
			p.eventually("the held pods", func() bool {
				ready := meta.FindStatusCondition(p.get("web").Status.Conditions, v1.ConditionReady)
				return ready != nil && ready.Reason == v1.ReasonPaused
			})
		case "tree":
			p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
		}
		text := "$ kubectl fairlead " + picture.command + "\n" + p.atTerminal(picture.command)
		text = strings.ReplaceAll(text, p.namespace, "shop")
		if err := os.WriteFile(filepath.Join(directory, picture.name+".txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// atTerminal runs the plugin at a terminal, and returns what that shows.
func (p *plugin) atTerminal(arguments string) string {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()
	file := filepath.Join(p.TempDir(), "terminal")
	shell := fmt.Sprintf("stty columns %d; exec '%s' %s", pictureColumns, binary(p.TB), arguments)
	command := exec.CommandContext(ctx, "script", "--quiet", "--log-out", file, "--command", shell)
	command.Env = []string{"KUBECONFIG=" + p.kubeconfigOfNamespace(), "HOME=" + p.TempDir(), "TERM=xterm", "SHELL=/bin/sh", "PATH=" + os.Getenv("PATH")}
	if output, err := command.CombinedOutput(); err != nil {
		p.Logf("%s: %v\n%s", arguments, err, output) // why ends with 1.
	}
	recorded, err := os.ReadFile(file)
	if err != nil {
		p.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(recorded)) {
		if !strings.HasPrefix(line, "Script started") && !strings.HasPrefix(line, "Script done") {
			lines = append(lines, strings.TrimRight(line, "\r\n"))
		}
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
}

// kubeconfigOfNamespace returns the path of a kubeconfig whose context names the namespace, so that no command does.
func (p *plugin) kubeconfigOfNamespace() string {
	p.Helper()
	config, err := clientcmd.LoadFromFile(p.cluster.Kubeconfig())
	if err != nil {
		p.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = p.namespace
	path := filepath.Join(p.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		p.Fatal(err)
	}
	return path
}
