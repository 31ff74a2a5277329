// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/hack/internal/metrics"
)

// controller is the real executable at work, as a user runs it on a cluster.
type controller struct {
	*subject
	client *http.Client
	url    string // of /metrics and /debug/pprof
	port   int    // of the API server
}

// startController returns when it has begun to serve its metrics; its caches may still be empty.
func (l *lab) startController(ctx context.Context, args ...string) (*controller, error) {
	args = append([]string{
		"--kubeconfig=" + l.plane.Kubeconfig(),
		"--workers=" + strconv.Itoa(l.options.workers),
		"--health-bind-address=127.0.0.1:0",
		"--metrics-bind-address=127.0.0.1:0",
		"--profiling",
	}, append(args, l.options.controllerArgs...)...)
	server, err := url.Parse(l.plane.Config().Host)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(server.Port())
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(l.options.controller(), args...)
	cmd.Env = append(os.Environ(), "GOMEMLIMIT="+memoryLimit) // As installed.
	s, err := l.start(cmd, "fairlead-controller")
	if err != nil {
		return nil, err
	}
	address, err := s.AwaitLog(ctx, metricsServed)
	if err != nil {
		return nil, errors.Join(err, s.stop(ctx))
	}
	// No connection is kept, since none should be left over when the controller has ended.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return &controller{subject: s, client: client, url: "http://" + address[1], port: port}, nil
}

// What the controller logs: where its metrics are, that its workers may start, and that the API server asks its webhooks.
var (
	metricsServed      = regexp.MustCompile(`server="metrics".* address="([^"]+)"`)
	cachesFilled       = regexp.MustCompile("Caches synced")
	webhooksRegistered = regexp.MustCompile("Registered the webhooks")
)

// withController runs the controller meanwhile.
func (l *lab) withController(ctx context.Context, run func(*controller) error, args ...string) error {
	c, err := l.startController(ctx, args...)
	if err != nil {
		return err
	}
	return errors.Join(run(c), c.stop(ctx))
}

func (c *controller) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return nil, errors.Join(err, c.Err())
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", path, response.Status)
	}
	return body, err
}

// exposition is what /metrics says.
type exposition struct{ metrics.Families }

func (c *controller) metrics(ctx context.Context) (exposition, error) {
	body, err := c.get(ctx, "/metrics")
	if err != nil {
		return exposition{}, err
	}
	families, err := metrics.Parse(body)
	return exposition{families}, err
}

// syncs is how many syncs have ended.
func (m exposition) syncs() int {
	n := 0
	for _, series := range m.Families["fairlead_sync_duration_seconds"].GetMetric() {
		n += int(series.GetHistogram().GetSampleCount())
	}
	return n
}

// depth is how many keys wait for a worker.
func (m exposition) depth() int { return int(m.ofQueue("workqueue_depth").GetGauge().GetValue()) }

// idle reports whether no key waits and no worker is busy. For the latter there is a gauge too, but it is only written
// twice a second, which is longer than what is measured.
func (m exposition) idle() bool {
	taken := m.ofQueue("workqueue_queue_duration_seconds").GetHistogram().GetSampleCount()
	done := m.ofQueue("workqueue_work_duration_seconds").GetHistogram().GetSampleCount()
	return m.depth() == 0 && taken == done
}

// ofQueue is a metric of the work queue; nil, which has no values, if there is none.
func (m exposition) ofQueue(name string) *dto.Metric {
	for _, series := range m.Families[name].GetMetric() {
		for _, pair := range series.GetLabel() {
			if pair.GetName() == "name" && pair.GetValue() == "applications" {
				return series
			}
		}
	}
	return nil
}

// awaitSyncs waits until there were so many syncs and nothing is left to do, looking once a period.
func (c *controller) awaitSyncs(ctx context.Context, syncs int, period time.Duration) error {
	return wait.PollUntilContextCancel(ctx, period, true, func(ctx context.Context) (bool, error) {
		m, err := c.metrics(ctx)
		return err == nil && m.syncs() >= syncs && m.idle(), err
	})
}

// collectGarbage makes the controller's memory what it needs: it collects, and waits until the runtime has given back what
// it will give back.
func (c *controller) collectGarbage(ctx context.Context, period time.Duration) (int64, error) {
	for range 2 { // What a finalizer holds needs a second one.
		if _, err := c.get(ctx, "/debug/pprof/heap?gc=1"); err != nil {
			return 0, err
		}
	}
	return c.leastRSS(ctx, period)
}

// heap is what live objects take, after collectGarbage.
func (c *controller) heap(ctx context.Context) (float64, error) {
	m, err := c.metrics(ctx)
	if err != nil {
		return 0, err
	}
	for _, series := range m.Families["go_memstats_heap_alloc_bytes"].GetMetric() {
		return series.GetGauge().GetValue(), nil
	}
	return 0, errors.New("the controller has no metric go_memstats_heap_alloc_bytes")
}
