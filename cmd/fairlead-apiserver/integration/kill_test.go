// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// serverVariable, if set, makes the test executable a server and nothing else; it has the arguments in JSON.
const serverVariable = "FAIRLEAD_TEST_SERVER"

// arguments are those of a server in a process of its own.
type arguments struct {
	Port                          int
	CertFile, KeyFile, Kubeconfig string
}

// runServer runs a server until the process is killed, or stdin ends because the process of the tests has.
func runServer(encoded string) error {
	var given arguments
	if err := json.Unmarshal([]byte(encoded), &given); err != nil {
		return err
	}
	s := &server{port: given.Port, certFile: given.CertFile, keyFile: given.KeyFile, kubeconfig: given.Kubeconfig}
	if err := s.start(context.Background()); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// startProcess starts the server in a process, in the place of one that has stopped, and returns what kills it.
func (s *server) startProcess(t *testing.T) (kill func()) {
	t.Helper()
	encoded, err := json.Marshal(arguments{s.port, s.certFile, s.keyFile, s.kubeconfig})
	if err != nil {
		t.Fatal(err)
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.CommandContext(t.Context(), executable)
	process.Env = append(os.Environ(), serverVariable+"="+string(encoded))
	process.Stderr = os.Stderr
	if _, err := process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := process.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = process.Wait() // It says that the process was killed.
	}
}

// TestKillMidStream kills the server's process while a client follows a log and another one watches. Both streams end, and
// the next server serves. It is not parallel, like TestOutage.
func TestKillMidStream(t *testing.T) {
	f := startAlone(t)
	f.apply("followed", 0)
	shared.stop()
	kill := shared.startProcess(t)
	views := f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace)
	f.view("followed", func(*v1alpha1.ApplicationRuntime) bool { return true })
	log, watching := f.logAndWatch("followed")

	kill()
	// It says no reason, and whether an error is up to kube-apiserver.
	read, err := io.ReadAll(log)
	t.Logf("the log ends with %q, %v", read, err)
	for range watching.ResultChan() { // The channel is closed with the connection.
	}
	f.eventually("an answer that the server is not available", func() error {
		_, err := views.Get(t.Context(), "followed", metav1.GetOptions{})
		if status := code(err); status != 503 && status != 404 { // 404 once the APIService is deleted.
			return fmt.Errorf("it is %d", status)
		}
		return nil
	})

	if err := shared.start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := waitAvailable(t.Context(), dynamic.NewForConfigOrDie(cluster.Config())); err != nil {
		t.Fatal(err)
	}
	f.view("followed", func(*v1alpha1.ApplicationRuntime) bool { return true })
}
