// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/hack/bench/internal/report"
	"fairlead.dev/fairlead/hack/internal/metrics"
)

// G10: how long the webhooks take at a steady rate.

const (
	// reviewRate is how many reviews the controller gets in a second.
	reviewRate = 200.0
	// reviewsEach is how many one new Application causes: a mutating and a validating one.
	reviewsEach = 2
)

// measureWebhooks creates Applications in a dry run: everything happens but the write to etcd.
func (b *bench) measureWebhooks(ctx context.Context, l *lab) error {
	b.progress.step("G10: %.0f admission reviews a second for %s", reviewRate, b.options.step)
	var client report.Sample
	var server metrics.Histogram
	err := l.withController(ctx, func(c *controller) error {
		if _, err := c.AwaitLog(ctx, webhooksRegistered); err != nil {
			return err
		}
		if err := l.awaitRest(ctx, c, l.applications); err != nil {
			return err
		}
		if err := l.collectGarbage(ctx); err != nil {
			return err
		}
		before, err := c.metrics(ctx)
		if err != nil {
			return err
		}
		if client, err = l.dryRuns(ctx, reviewRate/reviewsEach, b.options.step); err != nil {
			return err
		}
		after, err := c.metrics(ctx)
		const histogram = "fairlead_admission_duration_seconds" // of both webhooks and all operations
		server = after.Histogram(histogram, "")
		server.Add(before.Histogram(histogram, ""), -1)
		return err
	}, "--webhook-bind-address=127.0.0.1:0", "--webhook-url=https://127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	if got, want := server.Count(), reviewsEach*len(client); int(got) < want {
		return fmt.Errorf("the webhooks were asked %.0f times, want %d", got, want)
	}
	b.progress.result("p99 %.2f ms in the server, %.2f ms at the client", server.Quantile(0.99)*1000, client.Quantile(0.99))
	b.add(
		report.Row{
			Goal: "G10", What: "p99 of a webhook, in the server", Unit: "ms", Must: report.AtMost(20), Aim: report.AtMost(5),
			Measured: report.Sample{server.Quantile(0.99) * 1000},
			Note:     fmt.Sprintf("%.0f reviews, from the controller's histogram, estimated within its buckets", server.Count()),
		},
		report.Row{
			Goal: "G10", What: "p99 of a creation, at the client", Unit: "ms", Measured: report.Sample{client.Quantile(0.99)},
			Note: "a dry run of a new Application: the API server and both webhooks",
		},
	)
	return nil
}

// dryRuns returns how many milliseconds each took, from when it was due: one that had to wait for its turn has waited.
func (l *lab) dryRuns(ctx context.Context, rate float64, lasting time.Duration) (report.Sample, error) {
	var mu sync.Mutex
	var milliseconds report.Sample
	_, err := atRate(ctx, rate, lasting, func(ctx context.Context, i int) error {
		began := time.Now()
		application := newApplication(i)
		application.Name = fmt.Sprintf("dry-run-%d", i)
		_, err := l.clients.fairlead.AppsV1().Applications(application.Namespace).
			Create(ctx, application, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		mu.Lock()
		defer mu.Unlock()
		milliseconds = append(milliseconds, time.Since(began).Seconds()*1000)
		return err
	})
	return milliseconds, err
}
