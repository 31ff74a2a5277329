// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestKubeconfigIsNotRead keeps the tests away from the clusters of the people who run them: KUBECONFIG names a
// cluster in nearly every shell of a Kubernetes user.
func TestKubeconfigIsNotRead(t *testing.T) {
	running := sharedPlane.Get(t)
	for name, kubeconfig := range map[string]string{
		"of a running cluster": running.Kubeconfig(),
		"of no file":           filepath.Join(t.TempDir(), "stale"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", kubeconfig)
			cp := ForTest(t, APIOnly())
			if cp.Config().Host == running.Config().Host || cp.Kubeconfig() == kubeconfig {
				t.Errorf("got the cluster at %s with %s, want one that the test started", cp.Config().Host, cp.Kubeconfig())
			}
			cp.Namespace(t)
		})
	}
}

func TestAuditNeedsItsOption(t *testing.T) {
	cp := &ControlPlane{process: &process{}}
	fake := &failingTB{TB: t}
	if message := fake.failureOf(func() { cp.AuditEvents(fake) }); !strings.Contains(message, "WithAuditLog") {
		t.Errorf("got %q, want a failure that names the option", message)
	}
}

func TestFindBinary(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "pkg", "deep")
	for _, dir := range []string{deep, filepath.Join(root, "bin")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(binaryEnv, "")
	t.Chdir(deep)
	if _, err := findBinary(); err == nil || !strings.Contains(err.Error(), "make cluster") {
		t.Errorf("without a binary: got %v, want an error that says what to do", err)
	}
	binary := filepath.Join(root, "bin", "fairlead-cluster")
	if err := os.WriteFile(binary, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := findBinary(); err != nil || filepath.Base(got) != "fairlead-cluster" {
		t.Errorf("with one in bin of a parent directory: got %q, %v", got, err)
	}
	t.Setenv(binaryEnv, filepath.Join(root, "none"))
	if _, err := findBinary(); err == nil || !strings.Contains(err.Error(), binaryEnv) {
		t.Errorf("with %s set to nothing: got %v, want an error that names the variable", binaryEnv, err)
	}
}

// failingTB is a test that is expected to fail.
type failingTB struct {
	testing.TB
	message string
}

// failureOf returns the message with which run fails the test.
func (f *failingTB) failureOf(run func()) string {
	f.message = ""
	done := make(chan struct{})
	go func() { // Fatal ends the goroutine that calls it.
		defer close(done)
		run()
	}()
	<-done
	return f.message
}

func (f *failingTB) Fatal(args ...any) {
	f.message = fmt.Sprint(args...)
	runtime.Goexit()
}

func (f *failingTB) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }
