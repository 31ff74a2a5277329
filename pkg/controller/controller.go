// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/consistency"
	"fairlead.dev/fairlead/pkg/debug"
	appsclient "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/apps/v1"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/payload"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render"
)

// Config is everything that a Controller works with. All fields are required but Facts,
// Validation, RequireClass, CaughtUp, metrics and Recorder, whose zero values are the defaults.
type Config struct {
	Informers        *informer.Informers
	Writer           *apply.Writer
	ConsistencyStore *consistency.Store
	Differ           plan.Differ
	// Applications writes status and finalizers; Classes writes status.
	Applications appsclient.ApplicationsGetter
	Classes      appsclient.ApplicationClassesGetter
	Recorder     events.EventRecorder
	// Payload reads the content of ConfigMaps and Secrets that Applications refer to.
	Payload *payload.Reader
	// Workers is how many syncs run at once.
	Workers int
	// Facts are what the rendering needs to know about the cluster.
	Facts render.Facts
	// Validation are the limits that the platform sets.
	Validation validation.Options
	// RequireClass refuses Applications that no ApplicationClass applies to.
	RequireClass bool
	// CaughtUp is called when no key waits for the first time: all Applications that were there at the start have been
	// looked at, but for the last few. It must not block. Nil: nobody wants to know.
	CaughtUp func()
	// Metrics count what the syncs do. Nil: nobody reads them.
	Metrics *Metrics
	// Debug records what the syncs do, and what leads to them. Nil: nobody wants to know.
	Debug *debug.Recorder
}

// Elect calls work while this replica, and no other, may write. It is called once the caches are
// filled, and returns when ctx has ended and work has returned.
//
// work takes keys until ctx ends, and returns when the syncs that run have ended. When lease ends
// it interrupts them at once: then somebody else may write.
type Elect func(ctx context.Context, work func(ctx, lease context.Context)) error

// Alone is the Elect of a controller that has no other replicas.
func Alone(ctx context.Context, work func(ctx, lease context.Context)) error {
	work(ctx, context.WithoutCancel(ctx)) // Nobody takes it away.
	return nil
}

// Controller keeps the children of all Applications. Make it with New, run it once with Run.
type Controller struct {
	Config
	settling      *settling
	queue         *queue
	repairBackoff *apply.RepairBackoff
	deferred      *deferredStatus
	rested        *rested
	grants        *grants
	watchdog      *watchdog
	classes       *classStatuses
	synced        []cache.DoneChecker
}

// New makes a Controller and registers its handlers, so the informers must not run yet.
func New(config Config) (*Controller, error) {
	if config.Workers < 1 {
		return nil, fmt.Errorf("workers is %d, but at least 1 is needed", config.Workers)
	}
	if config.Metrics == nil {
		config.Metrics = NewMetrics(metrics.NewKubeRegistry())
	}
	if config.CaughtUp == nil {
		config.CaughtUp = func() {}
	}
	config.CaughtUp = sync.OnceFunc(config.CaughtUp)
	c := &Controller{
		Config:        config,
		settling:      newSettling(),
		queue:         newQueue(config.Debug),
		repairBackoff: apply.NewRepairBackoff(),
		deferred:      newDeferredStatus(),
		rested:        newRested(),
		watchdog:      newWatchdog(),
		classes:       newClassStatuses(config.Informers, config.Classes),
	}
	config.Debug.SetQueue(c.queueState)
	c.grants = newGrants(config.Informers, c.queue.enqueue)
	h := &handlers{enqueue: c.queue.enqueue, contenders: c.grants.contenders}
	synced, err := config.Informers.Handle(h, h)
	if err != nil {
		return nil, err
	}
	config.Informers.HandleServed(h.Served)
	pods, err := config.Informers.HandlePods(h)
	if err != nil {
		return nil, err
	}
	classes, err := c.classes.handle(c.queue.enqueue)
	if err != nil {
		return nil, err
	}
	if err := config.Informers.HandleReferences(&referenceHandlers{queue: c.queue, settling: c.settling}); err != nil {
		return nil, err
	}
	c.synced = slices.Concat(synced, pods, classes)
	if err := config.Metrics.registry.CustomRegister(newApplications(config.Informers.VisitApplications)); err != nil {
		return nil, fmt.Errorf("register metrics of Applications: %w", err)
	}
	return c, nil
}

// Run keeps the caches filled until ctx ends, in every replica. The workers run while elect lets
// them. Run returns once every goroutine has ended.
func (c *Controller) Run(ctx context.Context, elect Elect) error {
	logger := klog.FromContext(ctx)
	// The informers outlive ctx by the time that the last syncs need: they read the caches.
	informersCtx, stopInformers := context.WithCancel(context.WithoutCancel(ctx))
	defer c.Informers.Shutdown()
	defer stopInformers()
	defer c.queue.ShutDown()
	defer c.classes.queue.ShutDown()

	logger.Info("Starting informers")
	c.Informers.Start(informersCtx)
	if !cache.WaitFor(ctx, "", c.synced...) {
		logger.Info("Stopped before the caches were filled")
		return nil
	}
	logger.Info("Caches are filled")
	return elect(ctx, c.work)
}

// CachesFilled tells whether every handler has processed the first list of its informer.
func (c *Controller) CachesFilled() error {
	for _, synced := range c.synced {
		if !cache.IsDone(synced) {
			return fmt.Errorf("%s has not been listed and processed", synced.Name())
		}
	}
	return nil
}

// Stuck tells what a worker does not come back from, or what none takes. Nil: nothing.
func (c *Controller) Stuck() error {
	return c.watchdog.check(c.queue.Len(), time.Now())
}
