// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// resource is that of Applications.
func resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps.fairlead.dev", Version: "v1", Resource: "applications"}
}

// repository finds the root of the source code, from which the controller is built.
func repository() (string, error) {
	directory, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; directory = filepath.Dir(directory) {
		content, err := os.ReadFile(filepath.Join(directory, "go.mod"))
		if err == nil && strings.HasPrefix(string(content), "module fairlead.dev/fairlead\n") {
			return directory, nil
		}
		if directory == filepath.Dir(directory) {
			return "", errors.New("run this inside of the repository: it compiles the controller")
		}
	}
}

// install applies the missing CustomResourceDefinitions. The function that it returns removes exactly these.
func (b bench) install(ctx context.Context, root string) (remove func() error, err error) {
	var removers []func() error
	remove = func() error {
		var failed error
		for _, remover := range removers {
			failed = errors.Join(failed, remover())
		}
		return failed
	}
	for _, plural := range []string{"applications", "applicationclasses"} {
		_, err := b.client.Resource(lab.CRDs()).Get(ctx, plural+"."+resource().Group, metav1.GetOptions{})
		if err == nil {
			continue
		}
		if !apierrors.IsNotFound(err) {
			return remove, err
		}
		manifest, err := os.ReadFile(filepath.Join(root, "artifacts", "crds", resource().Group+"_"+plural+".yaml"))
		if err != nil {
			return remove, err
		}
		served := resource().GroupVersion().WithResource(plural)
		remover, err := b.lab.WithCRD(ctx, manifest, served)
		if err != nil {
			return remove, err
		}
		removers = append(removers, remover)
	}
	return remove, nil
}

// build compiles the controller, as `make build` does.
func build(ctx context.Context, root string) (binary string, clean func(), err error) {
	directory, err := os.MkdirTemp("", "fairlead-lab-")
	if err != nil {
		return "", nil, err
	}
	clean = func() { _ = os.RemoveAll(directory) }
	binary = filepath.Join(directory, "fairlead-controller")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", binary, "./cmd/fairlead-controller")
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		clean()
		return "", nil, fmt.Errorf("build the controller: %w\n%s", err, output)
	}
	return binary, clean, nil
}

// process is a running controller.
type process struct {
	command *exec.Cmd
	output  *bytes.Buffer
	cancel  context.CancelFunc
	ended   bool
}

func start(ctx context.Context, binary string, l *lab.Lab) (*process, error) {
	ctx, cancel := context.WithCancel(ctx)
	p := &process{output: &bytes.Buffer{}, cancel: cancel}
	p.command = exec.CommandContext(ctx, binary, "--namespace="+l.Namespace,
		"--health-bind-address=127.0.0.1:0", "--metrics-bind-address=127.0.0.1:0")
	p.command.Env = append(os.Environ(), "KUBECONFIG="+l.Kubeconfig)
	p.command.Stdout, p.command.Stderr = p.output, p.output
	if err := p.command.Start(); err != nil {
		cancel()
		return nil, err
	}
	return p, nil
}

// kill ends the process as a crash would.
func (p *process) kill() {
	if p.ended {
		return
	}
	p.ended = true
	p.cancel()
	_ = p.command.Wait() // It says that the process was killed.
}

// failure ends the process and returns what it logged.
func (p *process) failure() error {
	p.kill()
	return fmt.Errorf("the controller logged:\n%s", p.output)
}
