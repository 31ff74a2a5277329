// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lab has what the labs of the book share: a cluster, a namespace for each, and output that is the same in every
// run.
package lab

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Lab is what one lab gets. Its methods may be called concurrently.
type Lab struct {
	// Config is an administrator's, without a client-side rate limit.
	Config *rest.Config
	// Client uses it. Labs that intercept requests, or need another kind of client, make their own.
	Client kubernetes.Interface
	// Kubeconfig is the same for programs that a lab starts.
	Kubeconfig string
	// Namespace is the lab's own. The output calls it lab.
	Namespace string
	// Child returns a command that runs this program again, for a part of a lab that must not run in this process.
	Child func(ctx context.Context, part string) *exec.Cmd

	mu       sync.Mutex
	output   io.Writer
	versions map[string]string
}

// Say prints a line.
func (l *Lab) Say(format string, arguments ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := strings.ReplaceAll(fmt.Sprintf(format, arguments...), l.Namespace, "lab")
	fmt.Fprintln(l.output, strings.TrimRight(line, " "))
}

// Step prints a heading, after an empty line.
func (l *Lab) Step(format string, arguments ...any) {
	l.Say("")
	l.Say("# "+format, arguments...)
}

// Version names a value that differs from run to run, such as a resourceVersion or a UID: the first one is v1, and the same
// value always gets the same name.
func (l *Lab) Version(value string) string {
	if value == "" || value == "0" {
		return fmt.Sprintf("%q", value)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.versions == nil {
		l.versions = map[string]string{}
	}
	name, known := l.versions[value]
	if !known {
		name = fmt.Sprintf("v%d", len(l.versions)+1)
		l.versions[value] = name
	}
	return name
}

// Took formats a measured time. The check of the output ignores times in this form.
func (l *Lab) Took(d time.Duration) string {
	return fmt.Sprintf("~%.2f ms", d.Seconds()*1000)
}
