// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// insideVariable says what this executable does when it runs in a sandbox.
const insideVariable = "FAIRLEAD_TEST_INSIDE"

func TestMain(m *testing.M) {
	if what := os.Getenv(insideVariable); what != "" {
		os.Exit(inside(what, os.Getenv("DIR")))
	}
	os.Exit(m.Run())
}

// inside is what the command in the sandbox does; it returns its exit code.
func inside(what, dir string) int {
	switch what {
	case "exit":
		return 7
	case "look":
		report, err := look()
		if err != nil {
			report = err.Error()
		}
		if err := os.WriteFile(filepath.Join(dir, "report"), []byte(report), 0o600); err != nil {
			return 1
		}
		return 0
	case "leave a process":
		// In a session of its own, as daemons do it, and deaf to what a terminal says.
		cmd := exec.Command("sleep", "3600")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return 1
		}
		return 0
	case "stay":
		if err := os.WriteFile(filepath.Join(dir, "report"), []byte("here"), 0o600); err != nil {
			return 1
		}
		select {}
	}
	return 1
}

// look reports what it sees in a sandbox, and makes a mess.
func look() (string, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return "", err
	}
	names := make([]string, 0, len(interfaces))
	for _, i := range interfaces {
		names = append(names, i.Name)
	}
	if err := os.WriteFile("/run/mess", nil, 0o600); err != nil {
		return "", err
	}
	if err := os.WriteFile("/proc/sys/kernel/panic", []byte("77"), 0o600); err != nil {
		return "", err
	}
	if err := syscall.Mount("none", os.Getenv("DIR")+"/mountpoint", "tmpfs", 0, ""); err != nil {
		return "", err
	}
	return fmt.Sprintf("interfaces %s; parent %d", strings.Join(names, ","), os.Getppid()), nil
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to create namespaces")
	}
}

func run(ctx context.Context, t *testing.T, what, dir string, shadows map[string]string, started func(int)) (int, error) {
	t.Helper()
	return Run(ctx, Command{
		Args: []string{"-test.run=^$"}, Env: []string{insideVariable + "=" + what, "DIR=" + dir}, Shadows: shadows, Started: started,
	})
}

func TestExitCode(t *testing.T) {
	needRoot(t)
	if code, err := run(t.Context(), t, "exit", "", nil, nil); code != 7 || err != nil {
		t.Errorf("got %d, %v; want 7", code, err)
	}
}

func TestNothingLeaks(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "mountpoint"), 0o700); err != nil {
		t.Fatal(err)
	}
	standIn := filepath.Join(dir, "panic")
	if err := os.WriteFile(standIn, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := read(t, "/proc/sys/kernel/panic")
	if code, err := run(t.Context(), t, "look", dir, map[string]string{"/proc/sys/kernel/panic": standIn}, nil); code != 0 || err != nil {
		t.Fatalf("got %d, %v", code, err)
	}
	// Its parent is the first process there. The network is a new one: the loopback device, and after it at most what
	// the kernel puts into each.
	if report := read(t, filepath.Join(dir, "report")); !strings.HasPrefix(report, "interfaces lo") || !strings.HasSuffix(report, "; parent 1") {
		t.Errorf("inside: %s", report)
	}
	if _, err := os.Stat("/run/mess"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file in /run of the sandbox is in that of the machine: %v", err)
	}
	if after := read(t, "/proc/sys/kernel/panic"); after != before || read(t, standIn) != "77" {
		t.Errorf("kernel.panic is %s, was %s; the stand-in is %s", after, before, read(t, standIn))
	}
	if mounts := read(t, "/proc/self/mountinfo"); strings.Contains(mounts, dir) {
		t.Error("a mount of the sandbox is one of the machine")
	}
}

// TestProcessesEnd holds for what a node leaves behind, shims above all.
func TestProcessesEnd(t *testing.T) {
	needRoot(t)
	var namespace string
	started := func(pid int) { namespace = namespaceOf(t, pid) }
	if code, err := run(t.Context(), t, "leave a process", "", nil, started); code != 0 || err != nil {
		t.Fatalf("got %d, %v", code, err)
	}
	awaitEmpty(t, namespace)
}

func TestCancel(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var namespace string
	go func() {
		_ = wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(context.Context) (bool, error) {
			_, err := os.Stat(filepath.Join(dir, "report"))
			return err == nil, nil
		})
		cancel()
	}()
	_, err := run(ctx, t, "stay", dir, nil, func(pid int) { namespace = namespaceOf(t, pid) })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
	awaitEmpty(t, namespace)
}

// namespaceOf waits until the holder of a sandbox has made the namespace of its children.
func namespaceOf(t *testing.T, pid int) (namespace string) {
	t.Helper()
	own := link(t, "/proc/self/ns/pid")
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		namespace, _ = os.Readlink(fmt.Sprintf("/proc/%d/ns/pid_for_children", pid))
		return namespace != "" && namespace != own, nil
	})
	if err != nil {
		t.Errorf("the sandbox has no namespace: %v", err)
	}
	return namespace
}

func link(t *testing.T, file string) string {
	t.Helper()
	target, err := os.Readlink(file)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// awaitEmpty waits until no process is in the namespace.
func awaitEmpty(t *testing.T, namespace string) {
	t.Helper()
	if namespace == "" {
		t.Fatal("the sandbox had no namespace")
	}
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return false, err
		}
		for _, entry := range entries {
			if _, err := strconv.Atoi(entry.Name()); err != nil {
				continue
			}
			if link, _ := os.Readlink(fmt.Sprintf("/proc/%s/ns/pid", entry.Name())); link == namespace {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		t.Errorf("a process of the sandbox lives on: %v", err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(content))
}
