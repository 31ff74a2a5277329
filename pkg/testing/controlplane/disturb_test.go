// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func TestKillAndRestart(t *testing.T) {
	cp := sharedPlane.Get(t)
	client := newClient(t, cp.Config())
	namespace := cp.Namespace(t)
	for _, component := range []Component{KubeAPIServer, Etcd} {
		t.Run(string(component), func(t *testing.T) {
			name := string(component)
			createConfigMap(t, client, namespace, name)
			cp.Kill(t, component)
			if answers(t, client) {
				t.Errorf("the API server serves reads although %s is dead", component)
			}
			cp.Restart(t, component)
			eventually(t, "the data is still there", func(ctx context.Context) (bool, error) {
				_, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
				return err == nil, err
			})
		})
	}
}

func TestPauseAndResume(t *testing.T) {
	cp := sharedPlane.Get(t)
	client := newClient(t, cp.Config())
	cp.Pause(t, KubeAPIServer)
	if answers(t, client) {
		t.Error("a paused API server answers")
	}
	cp.Resume(t, KubeAPIServer)
	if !answers(t, client) {
		t.Error("a resumed API server does not answer")
	}
}

func TestClusterIsRepairedAfterTheTest(t *testing.T) {
	cp := sharedPlane.Get(t)
	t.Run("breaks it", func(t *testing.T) {
		cp.Kill(t, Etcd)
		cp.Terminate(t, KubeAPIServer)
		cp.Pause(t, KubeScheduler)
	})
	if !answers(t, newClient(t, cp.Config())) {
		t.Error("the API server does not answer after the end of the test that broke it")
	}
}

func TestTwoClustersSideBySide(t *testing.T) {
	one := ForTest(t, APIOnly())
	two := ForTest(t, APIOnly())
	name := one.Namespace(t)
	if _, err := newClient(t, two.Config()).CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{}); err == nil {
		t.Errorf("namespace %s, created in one cluster, is in the other", name)
	}
	if one.URL(t, Etcd) == two.URL(t, Etcd) {
		t.Errorf("both clusters use %s", one.URL(t, Etcd))
	}
}

// TestNothingOutlivesItsParent kills a process that started a cluster, and the process that runs one. In both cases all
// processes of the cluster must go.
func TestNothingOutlivesItsParent(t *testing.T) {
	t.Run("the process that started the cluster", func(t *testing.T) {
		helper := exec.CommandContext(t.Context(), os.Args[0])
		helper.Env = append(os.Environ(), helperEnv+"=1")
		helper.Stderr = os.Stderr
		output, err := helper.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := helper.Start(); err != nil {
			t.Fatal(err)
		}
		started := readStarted(t, bufio.NewScanner(output))
		if err := helper.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = helper.Wait() // Says "signal: killed".
		waitGone(t, started.PIDs)
		if _, err := os.Stat(started.Dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the cluster left its data in %s (%v)", started.Dir, err)
		}
	})
	t.Run("the process that runs the cluster", func(t *testing.T) {
		cp, err := Start(t.Context(), APIOnly())
		if err != nil {
			t.Fatal(err)
		}
		if err := cp.process.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		waitGone(t, cp.started().PIDs)
		if err := cp.Stop(); err == nil {
			t.Error("Stop said nothing about a cluster that had ended before")
		}
		if err := os.RemoveAll(cp.process.dir); err != nil { // Kept for whoever wants to know why it ended.
			t.Error(err)
		}
	})
}

// helperEnv makes the test binary the process that TestNothingOutlivesItsParent kills.
const helperEnv = "FAIRLEAD_CONTROLPLANE_HELPER"

// startClusterAndWait prints what it has started and waits to be killed. It returns only if it fails.
func startClusterAndWait() error {
	cp, err := Start(context.Background(), APIOnly())
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(cp.started()); err != nil {
		return errors.Join(err, cp.Stop())
	}
	select {}
}

// started is what a cluster must not leave behind.
type started struct {
	PIDs []int
	Dir  string
}

func (cp *ControlPlane) started() started {
	s := started{PIDs: []int{cp.process.info.PID}, Dir: cp.process.dir}
	for _, component := range cp.process.info.Components {
		s.PIDs = append(s.PIDs, component.PID)
	}
	return s
}

func readStarted(t *testing.T, lines *bufio.Scanner) started {
	t.Helper()
	var s started
	if !lines.Scan() {
		t.Fatalf("the helper process ended without saying what it started: %v", lines.Err())
	}
	if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
		t.Fatalf("the helper process said %q: %v", lines.Text(), err)
	}
	return s
}

func waitGone(t *testing.T, pids []int) {
	t.Helper()
	eventually(t, fmt.Sprintf("the processes %v are gone", pids), func(context.Context) (bool, error) {
		for _, pid := range pids {
			if alive(pid) {
				return false, fmt.Errorf("process %d is still there", pid)
			}
		}
		return true, nil
	})
}

// alive reports whether a process runs. A zombie does not: it only waits for its new parent to notice.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, afterName, _ := bytes.Cut(stat, []byte(") "))
	return len(afterName) > 0 && afterName[0] != 'Z'
}

// answers reports whether the API server serves a read that goes to etcd.
func answers(t *testing.T, client kubernetes.Interface) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
	return err == nil
}

func createConfigMap(t *testing.T, client kubernetes.Interface, namespace, name string) {
	t.Helper()
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), configMap, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
