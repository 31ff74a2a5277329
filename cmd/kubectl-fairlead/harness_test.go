// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// shared is the cluster of all tests. Each has a namespace in it, and a controller of that namespace.
var shared = controlplane.NewShared()

func TestMain(m *testing.M) {
	code := shared.Main(m)
	if built.dir != "" {
		if err := os.RemoveAll(built.dir); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

// plugin is the real binary, in a namespace of its own.
type plugin struct {
	testing.TB
	namespace string
	fairlead  versioned.Interface
	cluster   *controlplane.ControlPlane
	// stop stops the controller before the test ends.
	stop func()
}

// patience is how long a test waits for what happens in a second or two on an idle machine.
const patience = 90 * time.Second

var built struct {
	once sync.Once
	dir  string
	err  error
}

// binary compiles the plugin, once.
func binary(tb testing.TB) string {
	tb.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "kubectl-fairlead-"); built.err != nil { //nolint:usetesting // It outlives the test that asks first.
			return
		}
		command := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(built.dir, "kubectl-fairlead"), ".")
		command.Env = append(os.Environ(), "CGO_ENABLED=0")
		if output, err := command.CombinedOutput(); err != nil {
			built.err = errors.New(string(output))
		}
	})
	if built.err != nil {
		tb.Fatalf("build the plugin: %v", built.err)
	}
	return filepath.Join(built.dir, "kubectl-fairlead")
}

// start returns the plugin in a new namespace of the shared cluster, and runs a controller for that namespace, with
// the edited options.
func start(t *testing.T, edits ...func(*app.Options)) *plugin {
	t.Helper()
	t.Parallel()
	cluster := shared.Get(t)
	cluster.InstallCRDs(t, "../../artifacts/crds")
	p := &plugin{TB: t, fairlead: versioned.NewForConfigOrDie(cluster.Config()), cluster: cluster}
	t.Cleanup(p.release)
	p.namespace = cluster.Namespace(t)
	p.control(edits...)
	return p
}

// release removes the finalizers of what the test leaves behind: its controller has stopped, and the namespace is being deleted. The
// doctor of another test would say that nothing finishes these deletions.
func (p *plugin) release() {
	if p.namespace == "" {
		return
	}
	ctx, applications := context.WithoutCancel(p.Context()), p.fairlead.AppsV1().Applications(p.namespace)
	left, err := applications.List(ctx, metav1.ListOptions{})
	if err != nil {
		p.Error(err)
		return
	}
	for i := range left.Items {
		_, err := applications.Patch(ctx, left.Items[i].Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			p.Error(err)
		}
	}
}

// control runs the controller in this process, until the test ends or stops it.
func (p *plugin) control(edits ...func(*app.Options)) {
	p.Helper()
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	options := app.NewOptions()
	options.Kubeconfig = p.cluster.Kubeconfig()
	options.Namespaces = []string{p.namespace}
	for _, edit := range edits {
		edit(options)
	}
	config, err := options.Config()
	if err != nil {
		p.Fatal(err)
	}
	completed, err := config.Complete(ctx)
	if err != nil {
		p.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- app.Run(ctx, completed) }()
	p.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			p.Errorf("the controller ended with an error: %v", err)
		}
	})
	p.Cleanup(p.stop)
}

// result is what the plugin said.
type result struct {
	stdout, stderr string
	code           int
}

// run runs the plugin in its namespace.
func (p *plugin) run(args ...string) result {
	p.Helper()
	return p.runIn(nil, args...)
}

func (p *plugin) runIn(stdin []byte, args ...string) result {
	p.Helper()
	return p.runWith(p.cluster.Kubeconfig(), stdin, args...)
}

func (p *plugin) runWith(kubeconfig string, stdin []byte, args ...string) result {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, binary(p.TB), append([]string{"--namespace=" + p.namespace}, args...)...)
	command.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + p.TempDir()}
	command.Stdin = bytes.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.Fatalf("run %q: %v", args, err)
	}
	return result{stdout.String(), stderr.String(), command.ProcessState.ExitCode()}
}

// want runs the plugin, and wants the exit code and the texts on standard output.
func (p *plugin) want(code int, args []string, texts ...string) result {
	p.Helper()
	r := p.run(args...)
	if r.code != code {
		p.Errorf("%q: exit code %d, want %d\n%s%s", args, r.code, code, r.stdout, r.stderr)
	}
	for _, text := range texts {
		if !strings.Contains(r.stdout, text) {
			p.Errorf("%q: no %q in\n%s%s", args, text, r.stdout, r.stderr)
		}
	}
	return r
}

// create creates an Application of the spec, as YAML.
func (p *plugin) create(name, spec string) *v1.Application {
	p.Helper()
	application := &v1.Application{}
	application.Name = name
	if err := yaml.UnmarshalStrict([]byte(spec), &application.Spec); err != nil {
		p.Fatal(err)
	}
	created, err := p.fairlead.AppsV1().Applications(p.namespace).Create(p.Context(), application, metav1.CreateOptions{})
	if err != nil {
		p.Fatal(err)
	}
	return created
}

func (p *plugin) get(name string) *v1.Application {
	p.Helper()
	application, err := p.fairlead.AppsV1().Applications(p.namespace).Get(p.Context(), name, metav1.GetOptions{})
	if err != nil {
		p.Fatal(err)
	}
	return application
}

// eventually waits until the condition holds.
func (p *plugin) eventually(what string, condition func() bool) {
	p.Helper()
	err := wait.PollUntilContextTimeout(p.Context(), 200*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return condition(), nil
	})
	if err != nil {
		p.Fatalf("waited for %s: %v\n%s", what, err, p.run("status", "-A").stdout)
	}
}
