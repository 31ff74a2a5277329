// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"
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
	"fairlead.dev/fairlead/pkg/workqueue"
)

// Config has the dependencies of a Controller. All fields are required except Facts, Validation, RequireClass, Metrics,
// Debug, Tracer and Now, whose zero values are the defaults.
type Config struct {
	Informers        *informer.Informers
	Writer           *apply.Writer
	ConsistencyStore *consistency.Store
	Differ           plan.Differ
	// Applications writes status and finalizers, Classes writes status.
	Applications appsclient.ApplicationsGetter
	Classes      appsclient.ApplicationClassesGetter
	Recorder     events.EventRecorder
	// Payload reads the content of ConfigMaps and Secrets that Applications refer to.
	Payload *payload.Reader
	// Workers is the number of concurrent syncs, WorkersPerNamespace their maximum for one namespace.
	Workers, WorkersPerNamespace int
	// Facts are facts about the cluster for the rendering.
	Facts render.Facts
	// Validation has the limits that the platform sets.
	Validation validation.Options
	// RequireClass refuses Applications without an ApplicationClass.
	RequireClass bool
	// Metrics count what the syncs do; nil disables them.
	Metrics *Metrics
	// Debug records the syncs and their causes for the live view; nil disables recording.
	Debug *debug.Recorder
	// Tracer makes a trace of each sync; nil makes none.
	Tracer trace.Tracer
	// Now reads the clock of the machine; nil is time.Now.
	Now func() time.Time
}

// LeaderElector calls run while this replica, and no other, may write. It is called once the caches are synced, and
// returns when ctx has ended and run has returned.
//
// run takes keys until ctx ends, and returns when the running syncs have ended. When lease ends it interrupts them at
// once: another replica may write from then on.
type LeaderElector func(ctx context.Context, run func(ctx, lease context.Context)) error

// NoElection is the LeaderElector of a controller that has no other replicas.
func NoElection(ctx context.Context, run func(ctx, lease context.Context)) error {
	run(ctx, context.WithoutCancel(ctx)) // No other replica takes the lease.
	return nil
}

// Controller reconciles all Applications. Create it with New, and call Run once.
type Controller struct {
	Config
	queue     *workqueue.Queue
	memory    *memory
	throttled *throttle
	grants    *grants
	watchdog  *watchdog
	classes   *classStatuses
	synced    []cache.DoneChecker
	// stages are the Controller itself, or a recorder around it.
	stages stages
}

// queueName is the name of the queue in metrics.
const queueName = "applications"

// New returns a Controller and registers its handlers. Call it before the informers run.
func New(config Config) (*Controller, error) {
	if config.Workers < 1 {
		return nil, fmt.Errorf("workers is %d, but at least 1 is needed", config.Workers)
	}
	if config.WorkersPerNamespace < 1 {
		return nil, fmt.Errorf("workersPerNamespace is %d, but at least 1 is needed", config.WorkersPerNamespace)
	}
	if config.Metrics == nil {
		config.Metrics = NewMetrics(metrics.NewKubeRegistry())
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	c := &Controller{
		Config:    config,
		memory:    newMemory(config.ConsistencyStore),
		throttled: newThrottle(),
		watchdog:  newWatchdog(),
		classes:   newClassStatuses(config.Informers, config.Classes, config.Now),
	}
	c.stages = c
	if config.Debug == nil {
		c.queue = workqueue.New(queueName, config.WorkersPerNamespace, nil)
	} else {
		observed := newObservedQueue(config.Debug)
		c.queue = workqueue.New(queueName, config.WorkersPerNamespace, observed)
		c.instrument(config.Debug, observed)
	}
	if config.Tracer != nil {
		c.stages = tracedStages{stages: c.stages, tracer: config.Tracer}
	}
	c.grants = newGrants(config.Informers, c.queue.Add)
	h := &handlers{enqueue: c.queue.Add, claimants: c.grants.claimants}
	synced, err := config.Informers.Handle(h, h)
	if err != nil {
		return nil, err
	}
	config.Informers.HandleServed(h.Served)
	pods, err := config.Informers.HandlePods(h)
	if err != nil {
		return nil, err
	}
	classes, err := c.classes.handle(c.grants.claimants)
	if err != nil {
		return nil, err
	}
	if err := config.Informers.HandleReferences(&referenceHandlers{queue: c.queue, memory: c.memory, now: c.Now}); err != nil {
		return nil, err
	}
	c.synced = slices.Concat(synced, pods, classes)
	if err := config.Metrics.registry.CustomRegister(newApplications(config.Informers.VisitApplications)); err != nil {
		return nil, fmt.Errorf("register metrics of Applications: %w", err)
	}
	return c, nil
}

// Run keeps the caches synced until ctx ends, in every replica. The workers run while elect permits it. Run returns once
// every goroutine has ended.
func (c *Controller) Run(ctx context.Context, elect LeaderElector) error {
	logger := klog.FromContext(ctx)
	// The informers outlive ctx until the last syncs have ended, because those read the caches.
	informersCtx, stopInformers := context.WithCancel(context.WithoutCancel(ctx))
	defer c.Informers.Shutdown()
	defer stopInformers()
	defer c.queue.ShutDown()
	defer c.classes.queue.ShutDown()

	logger.Info("Starting informers")
	c.Informers.Start(informersCtx)
	if !cache.WaitFor(ctx, "", c.synced...) {
		logger.Info("Stopped before the caches synced")
		return nil
	}
	logger.Info("Caches synced")
	return elect(ctx, c.work)
}

// CachesSynced returns an error until every handler has processed the initial list of its informer.
func (c *Controller) CachesSynced() error {
	for _, synced := range c.synced {
		if !cache.IsDone(synced) {
			return fmt.Errorf("%s has not been listed and processed", synced.Name())
		}
	}
	return nil
}

// CheckWorkers returns an error if a sync does not end, or no worker takes a key.
func (c *Controller) CheckWorkers() error {
	return c.watchdog.check(c.queue.Len(), c.Now())
}
