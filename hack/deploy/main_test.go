// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"fairlead.dev/fairlead/hack/internal/objects"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestInstallAndUninstallCRDs takes a cluster of its own, because it deletes the CRDs.
func TestInstallAndUninstallCRDs(t *testing.T) {
	cp := controlplane.ForTest(t, controlplane.APIOnly())
	client := dynamic.NewForConfigOrDie(cp.Config())
	applications := client.Resource(v1.SchemeGroupVersion.WithResource(v1.ApplicationResource)).Namespace(metav1.NamespaceDefault)
	o := options{kubeconfig: cp.Kubeconfig(), crds: filepath.Join("..", "..", "artifacts", "crds"), timeout: time.Minute}

	for _, attempt := range []string{"first", "second, over the first"} {
		output := mustRun(t, "install-crds", o)
		for _, want := range []string{"installed: applications.apps.fairlead.dev\n", "next: make run, and in another terminal: kubectl apply -f artifacts/examples/minimal.yaml\n"} {
			if !strings.Contains(output, want) {
				t.Errorf("install, %s: the output lacks %q:\n%s", attempt, want, output)
			}
		}
	}
	application := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.SchemeGroupVersion.String(),
		"kind":       v1.ApplicationKind,
		"metadata":   map[string]any{"name": "web"},
		"spec":       map[string]any{"image": "example.com/web:1"},
	}}
	if _, err := applications.Create(t.Context(), application, metav1.CreateOptions{}); err != nil {
		t.Fatalf("create an Application right after the install: %v", err)
	}

	held := application.DeepCopy()
	held.SetName("held")
	held.SetFinalizers([]string{v1.FinalizerOrphan})
	held.Object["spec"] = map[string]any{"image": "example.com/web:1", "deletionPolicy": "Orphan"}
	if _, err := applications.Create(t.Context(), held, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	theirs := application.DeepCopy()
	theirs.SetName("theirs")
	theirs.SetFinalizers([]string{"example.com/hold"})
	if _, err := applications.Create(t.Context(), theirs, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	declined := o
	declined.confirm = func(ctx context.Context, out io.Writer) error { return confirm(ctx, out, strings.NewReader("y\n")) }
	var output bytes.Buffer
	if err := run(t.Context(), []string{"uninstall-crds"}, declined, &output); !errors.Is(err, errDeclined) {
		t.Errorf("a user who does not say yes: %v", err)
	}
	for _, want := range []string{
		"deletes: 3 Applications (default/held, default/theirs, default/web), with all children, except where a line below says that they stay\n",
		"stays: the children of default/held, because its deletionPolicy is Orphan\n",
		"needs a running controller: default/held, to remove the finalizer apps.fairlead.dev/orphan\n",
		"needs its other tools: default/theirs, to remove the finalizer example.com/hold\n",
		"Delete them? Type yes: ",
	} {
		if !strings.Contains(output.String(), want) {
			t.Errorf("the question lacks %q:\n%s", want, &output)
		}
	}
	if _, err := applications.Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
		t.Errorf("after a no: %v", err)
	}

	refusesWithoutTerminal(t, o, applications)

	// No controller runs here, so the deletion waits, and says for what.
	ctx, cancel := context.WithCancel(t.Context())
	waiting := &until{
		text: "waiting: the controller has to remove the finalizer apps.fairlead.dev/orphan of default/held; if none runs, start one: make run, or make deploy\n",
		stop: cancel,
	}
	if err := run(ctx, []string{"uninstall-crds"}, o, waiting); err == nil || !strings.Contains(waiting.String(), waiting.text) {
		t.Errorf("%v: the output lacks %q:\n%s", err, waiting.text, waiting)
	}
	const edit = "waiting: the tool that set the finalizer example.com/hold of default/theirs has to remove it; if that tool is gone for good: kubectl edit applications.apps.fairlead.dev theirs -n default\n"
	ctx, cancel = context.WithCancel(t.Context())
	waiting = &until{text: edit, stop: cancel}
	if err := run(ctx, []string{"uninstall-crds"}, o, waiting); err == nil || !strings.Contains(waiting.String(), edit) {
		t.Errorf("%v: the output lacks %q:\n%s", err, edit, waiting)
	}
	// A controller that comes back needs ApplicationClasses to start.
	if _, err := client.Resource(objects.CRDs).Get(t.Context(), "applicationclasses.apps.fairlead.dev", metav1.GetOptions{}); err != nil {
		t.Errorf("while an Application waits: %v", err)
	}
	for _, name := range []string{"held", "theirs"} {
		if _, err := applications.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}

	// The deletion is under way, so the API server may have finished it already.
	again := mustRun(t, "uninstall-crds", o)
	if deleted, gone := "deleted: applications.apps.fairlead.dev\n", "not there: applications.apps.fairlead.dev\n"; !strings.Contains(again, deleted) && !strings.Contains(again, gone) {
		t.Errorf("uninstall: the output has neither %q nor %q:\n%s", deleted, gone, again)
	}
	if _, err := client.Resource(objects.CRDs).Get(t.Context(), "applications.apps.fairlead.dev", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("get the CRD after the uninstall: %v, want not found", err)
	}
	if output := mustRun(t, "uninstall-crds", o); !strings.Contains(output, "not there: applications.apps.fairlead.dev\n") || strings.Contains(output, "stays:") {
		t.Errorf("uninstall without anything installed: the output does not say so:\n%s", output)
	}
	namesLeftWebhooks(t, cp, o)
}

// namesLeftWebhooks: a controller outside of the cluster was killed, so that its webhooks stay registered.
func namesLeftWebhooks(t *testing.T, cp *controlplane.ControlPlane, o options) {
	t.Helper()
	registerWebhooks(t, cp.Config())
	o.overlay = filepath.Join("..", "..", "artifacts", "overlays", "default")
	for _, action := range []string{"uninstall-crds", "uninstall"} {
		output := mustRun(t, action, o)
		for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
			want := "stays: " + kind + " fairlead-out-of-cluster, of a controller outside of the cluster, which takes it back when it stops; if that was killed: kubectl delete " +
				strings.ToLower(kind) + " fairlead-out-of-cluster\n"
			if strings.Count(output, want) != 1 {
				t.Errorf("%s: the output lacks %q:\n%s", action, want, output)
			}
		}
		const still = "Nothing repairs or changes them until Fairlead is deployed again, unless the controller outside of the cluster still runs.\n"
		if action == "uninstall" && !strings.Contains(output, still) {
			t.Errorf("the output lacks %q:\n%s", still, output)
		}
	}
}

// refusesWithoutTerminal wants neither command to delete anything where it can ask no question.
func refusesWithoutTerminal(t *testing.T, o options, applications dynamic.ResourceInterface) {
	t.Helper()
	for action, command := range map[string]string{"uninstall-crds": "make uninstall", "uninstall": "make undeploy DELETE_CRDS=1"} {
		o.overlay = filepath.Join("..", "..", "artifacts", "overlays", "default")
		o.deleteCRDs = action == "uninstall"
		o.confirm = question(strings.NewReader("yes\n"), false, o.deleteCRDs)
		var output bytes.Buffer
		err := run(t.Context(), []string{action}, o, &output)
		want := "nothing was deleted: there is no terminal to ask at; to delete without a question, pass -yes: " + command + " ARGS=-yes"
		if err == nil || err.Error() != want {
			t.Errorf("%s without a terminal: %v, want %q", action, err, want)
		}
		if strings.Contains(output.String(), "deleted:") || strings.Contains(output.String(), "deleting:") {
			t.Errorf("%s without a terminal deletes:\n%s", action, &output)
		}
	}
	for _, name := range []string{"web", "held", "theirs"} {
		if live, err := applications.Get(t.Context(), name, metav1.GetOptions{}); err != nil || live.GetDeletionTimestamp() != nil {
			t.Errorf("%s after a refusal: %v", name, err)
		}
	}
}

// TestTargetOf: a message begins with what the user ran.
func TestTargetOf(t *testing.T) {
	for action, want := range map[string]string{"install": "deploy", "uninstall": "undeploy", "install-crds": "install", "uninstall-crds": "uninstall", "else": "deploy"} {
		if got := targetOf([]string{action}); got != want {
			t.Errorf("%s: got %q, want %q", action, got, want)
		}
	}
}

// TestUsage: the flags of a target of make are shown under its name.
func TestUsage(t *testing.T) {
	var output bytes.Buffer
	o, yes := options{}, false
	arguments := []string{"--help", "uninstall-crds"}
	flags := newFlags(&o, &yes, targetOf(arguments))
	flags.Init(flags.Name(), flag.ContinueOnError)
	flags.SetOutput(&output)
	if err := flags.Parse(arguments); !errors.Is(err, flag.ErrHelp) {
		t.Error(err)
	}
	if want := "Usage: make uninstall ARGS=\"flags\"\n  -context string\n"; !strings.HasPrefix(output.String(), want) {
		t.Errorf("the output does not begin with %q:\n%s", want, &output)
	}
}

// Ctrl-C at the question deletes nothing, and ends the command at once.
func TestInterruptedQuestion(t *testing.T) {
	terminal, typing := io.Pipe()
	t.Cleanup(func() { _ = typing.Close() })
	ctx, interrupt := context.WithCancelCause(t.Context())
	asked := &until{text: "Type yes: ", stop: func() { interrupt(errors.New("interrupt signal received")) }}
	err := confirm(ctx, asked, terminal)
	if want := "nothing was deleted: interrupt signal received"; !errors.Is(err, errDeclined) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestProblemsAreNamed(t *testing.T) {
	empty := t.TempDir()
	kubeconfig := filepath.Join(empty, "kubeconfig")
	unreachable := `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]}`
	if err := os.WriteFile(kubeconfig, []byte(unreachable), 0o600); err != nil {
		t.Fatal(err)
	}
	crds := filepath.Join("..", "..", "artifacts", "crds")
	for _, test := range []struct {
		name    string
		options options
		want    string
	}{
		{"no kubeconfig", options{kubeconfig: filepath.Join(empty, "none"), crds: crds}, "none: no such file"},
		{"no CRDs", options{kubeconfig: kubeconfig, crds: empty}, "there is no *.yaml in " + empty},
		{"no cluster", options{kubeconfig: kubeconfig, crds: crds}, "connection refused"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.options.timeout = time.Minute
			err := run(t.Context(), []string{"install-crds"}, test.options, &bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

// A user who starts the controller reads what to do next.
func TestMakeRunNamesTheNextStep(t *testing.T) {
	command := exec.CommandContext(t.Context(), "make", "--dry-run", "run")
	command.Dir = filepath.Join("..", "..")
	output, err := command.CombinedOutput()
	if want := "kubectl apply -f artifacts/examples/minimal.yaml"; err != nil || !strings.Contains(string(output), want) {
		t.Errorf("%v: the output lacks %q:\n%s", err, want, output)
	}
}

// until stops the command once it has printed the text.
type until struct {
	bytes.Buffer

	text string
	stop func()
}

func (u *until) Write(p []byte) (int, error) {
	n, err := u.Buffer.Write(p)
	if strings.Contains(u.String(), u.text) {
		u.stop()
	}
	return n, err
}

func mustRun(t *testing.T, action string, o options) string {
	t.Helper()
	var output bytes.Buffer
	if err := run(t.Context(), []string{action}, o, &output); err != nil {
		t.Fatalf("%v; output:\n%s", err, &output)
	}
	return output.String()
}
