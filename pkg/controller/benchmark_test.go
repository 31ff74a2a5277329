// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"

	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/consistency"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/payload"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/workqueue"
)

// BenchmarkSync is a sync that finds nothing to do, the most frequent one, with what queues it: once
// without a recorder, and once with one that nobody looks at.
func BenchmarkSync(b *testing.B) {
	for _, with := range []struct {
		name     string
		recorder *debug.Recorder
	}{{"without", nil}, {"recorded", debug.New()}} {
		b.Run(with.name, func(b *testing.B) { benchmarkSync(b, with.recorder) })
	}
}

func benchmarkSync(b *testing.B, recorder *debug.Recorder) {
	b.Helper()
	server := applytest.NewServer(b)
	applytest.Put(server, applytest.Applications, application("web"))
	informers, err := informer.New(server.Kube(), server.Fairlead(), informer.Options{Metadata: server.Metadata(), Access: permitAll, Debug: recorder})
	if err != nil {
		b.Fatal(err)
	}
	store := consistency.NewStore()
	c, err := New(Config{
		Informers: informers, Writer: apply.NewWriter(server.Client(), store), ConsistencyStore: store, Differ: plan.NewDiffer(scheme.Scheme),
		Applications: server.Fairlead().AppsV1(), Classes: server.Fairlead().AppsV1(), Recorder: events.NewFakeRecorder(1000),
		Payload: payload.NewReader(server.Kube().CoreV1(), hashKey), Workers: 1, WorkersPerNamespace: 1, Debug: recorder,
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	filled, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- c.Run(ctx, func(ctx context.Context, _ func(ctx, lease context.Context)) error {
			close(filled)
			<-ctx.Done()
			return nil
		})
	}()
	<-filled
	forced := workqueue.Trigger{Kind: "Secret", Event: workqueue.Updated, ForceFullSync: true}
	sync := func() {
		c.queue.Add(key("web"), forced) // Otherwise the sync would end at the fingerprint.
		item, _ := c.queue.Get()
		c.processKey(ctx, item)
	}
	// Until it has come to rest: children written, caches caught up, status told.
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		sync()
	}
	writes := func() int { return len(server.Requests(applytest.Request.Writes)) }
	before := writes()
	b.ReportAllocs()
	for b.Loop() {
		sync()
	}
	if now := writes(); now != before {
		b.Errorf("at rest there were %d writes", now-before)
	}
	stop()
	if err := <-ended; err != nil {
		b.Error(err)
	}
}
