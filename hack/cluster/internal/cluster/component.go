// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/hack/cluster/internal/process"
)

const (
	probePeriod  = 20 * time.Millisecond
	startTimeout = 2 * time.Minute // A loaded two-core machine needs seconds; this is for one that hangs.
	logTail      = 15
)

// component is a spec and the process that runs it.
type component struct {
	*spec
	process *process.Process
	client  *http.Client

	mu sync.Mutex // Held during an action, so that two of them on one component do not interleave.
}

func newComponent(s *spec, dataDir string, client *http.Client, failed func(error)) *component {
	c := &component{spec: s, client: client}
	c.process = process.New(process.Config{
		Name:    s.name,
		Path:    s.path,
		Args:    s.args,
		Env:     environment(dataDir),
		LogFile: filepath.Join(dataDir, "logs", s.name+".log"),
		OnUnexpectedExit: func(err error) {
			failed(c.failure(err))
		},
	})
	return c
}

// environment keeps what belongs to the machine and drops what could configure a component from outside, such as
// KUBECONFIG, ETCD_* or KWOK_*.
func environment(dataDir string) []string {
	kept := []string{"HOME=" + dataDir}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		switch name {
		case "PATH", "TMPDIR", "TZ", "SSL_CERT_FILE", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK":
			kept = append(kept, variable)
		}
	}
	return kept
}

// start runs the component and returns when it is ready. A component that does not become ready is stopped again.
func (c *component) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("it was not ready within %s", startTimeout))
	defer cancel()
	c.release()
	if err := c.process.Start(); err != nil {
		return err
	}
	if err := c.waitReady(ctx); err != nil {
		// The wait has failed already; how the process ends does not matter any more.
		return errors.Join(c.failure(err), c.process.Kill())
	}
	c.process.Supervise()
	return nil
}

// waitReady polls the component's own health endpoint until it answers 200, the process exits or ctx ends.
func (c *component) waitReady(ctx context.Context) error {
	exited := c.process.Exited()
	var last error
	err := wait.PollUntilContextCancel(ctx, probePeriod, true, func(ctx context.Context) (bool, error) {
		select {
		case <-exited:
			return false, c.process.Exit()
		default:
		}
		last = c.probe(ctx)
		return last == nil, nil
	})
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case last == nil:
		return context.Cause(ctx)
	default:
		return fmt.Errorf("%w; its last answer: %w", context.Cause(ctx), last)
	}
}

// probe asks once.
func (c *component) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+c.readyz, http.NoBody)
	if err != nil {
		return err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", response.Status, strings.TrimSpace(string(body)))
	}
	return nil
}

// stop terminates the process, by force after a while.
func (c *component) stop() (killed bool, err error) {
	return c.process.Terminate(c.stopGrace)
}

func (c *component) failure(cause error) error {
	return &componentError{
		component: c.name,
		cause:     cause,
		logFile:   c.process.LogFile(),
		logLines:  process.Tail(c.process.LogFile(), logTail),
	}
}
