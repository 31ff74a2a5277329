// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/freshness"
	appsclient "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/apps/v1"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render"
)

// drainTimeout bounds how long a running sync may go on after the controller was told to stop.
const drainTimeout = 20 * time.Second

// Config is everything that a Controller works with. All fields are required but Facts and
// Validation, whose zero values are the defaults.
type Config struct {
	Informers *informer.Informers
	Writer    *apply.Writer
	Tracker   *freshness.Tracker
	Differ    plan.Differ
	// Applications writes status and finalizers.
	Applications appsclient.ApplicationsGetter
	Recorder     events.EventRecorder
	// Workers is how many syncs run at once.
	Workers int
	// Facts are what the rendering needs to know about the cluster.
	Facts render.Facts
	// Validation are the limits that the platform sets.
	Validation validation.Options
}

// Controller keeps the children of all Applications. Make it with New, run it once with Run.
type Controller struct {
	Config
	queue      *queue
	contention *apply.Contention
	deferred   *deferredStatus
	synced     []cache.DoneChecker
}

// New makes a Controller and registers its handlers, so the informers must not run yet.
func New(config Config) (*Controller, error) {
	if config.Workers < 1 {
		return nil, fmt.Errorf("workers is %d, but at least 1 is needed", config.Workers)
	}
	c := &Controller{
		Config:     config,
		queue:      newQueue(),
		contention: apply.NewContention(),
		deferred:   newDeferredStatus(),
	}
	h := &handlers{enqueue: c.queue.enqueue}
	synced, err := config.Informers.Handle(h, h)
	if err != nil {
		return nil, err
	}
	c.synced = synced
	return c, nil
}

// Run runs the informers and workers until ctx ends. Then it takes no further key, waits for the
// syncs that run (at most drainTimeout), and returns once every goroutine has ended.
func (c *Controller) Run(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	// The informers outlive ctx by the time that the last syncs need: they read the caches.
	informersCtx, stopInformers := context.WithCancel(context.WithoutCancel(ctx))
	defer c.Informers.Shutdown()
	defer stopInformers()
	defer c.queue.ShutDown()

	logger.Info("Starting informers")
	c.Informers.Start(informersCtx)
	if !cache.WaitFor(ctx, "", c.synced...) {
		logger.Info("Stopped before the caches were filled")
		return nil
	}
	logger.Info("Caches are filled; starting workers", "workers", c.Workers)

	syncCtx, stopSyncs := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSyncs()
	var workers sync.WaitGroup
	for range c.Workers {
		workers.Go(func() { c.work(ctx, syncCtx) })
	}
	<-ctx.Done()
	logger.Info("Stopping; waiting for running syncs")
	deadline := time.AfterFunc(drainTimeout, stopSyncs)
	defer deadline.Stop()
	c.queue.ShutDown()
	workers.Wait()
	logger.Info("Workers have stopped")
	return nil
}
