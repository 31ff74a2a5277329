// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/component-base/metrics"

	"fairlead.dev/fairlead/pkg/aggregation"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/consistency"
	"fairlead.dev/fairlead/pkg/controller"
	fairleadscheme "fairlead.dev/fairlead/pkg/generated/clientset/versioned/scheme"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/payload"
	"fairlead.dev/fairlead/pkg/plan"
)

// controllerName is the reporting controller of Events.
const controllerName = "fairlead.dev/controller"

// Run wires everything together and runs until ctx ends. Reads and writes have separate clients, since a replica that
// does not lead also answers webhooks, but must not write.
func Run(ctx context.Context, config CompletedConfig) error {
	ctx, stop := context.WithCancel(withoutBodies(ctx))
	defer stop()
	recorder := config.recorder()
	readClients, err := newClients(config.Client, recorder)
	if err != nil {
		return err
	}
	defer readClients.close()
	writeClients, candidate := readClients, (*candidate)(nil)
	if config.LeaderElection != nil {
		leases, leaseHTTP, err := newLeaseClient(config.Client, *config.LeaderElection)
		if err != nil {
			return err
		}
		defer utilnet.CloseIdleConnectionsFor(leaseHTTP.Transport)
		candidate = newCandidate(ctx, *config.LeaderElection, &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: config.LeaderElection.Namespace, Name: config.LeaderElection.LeaseName},
			Client:     leases,
			LockConfig: resourcelock.ResourceLockConfig{Identity: config.LeaderElection.Identity},
		}, config.Now)
		if writeClients, err = guardedClients(config.Client, candidate.fence); err != nil {
			return err
		}
		defer writeClients.close()
	}

	// An Event changes no state, so it may be sent after the release of the lease.
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: readClients.kube.EventsV1()})
	// The last syncs, which finish after ctx has ended, still record Events.
	recordingCtx, stopRecording := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRecording()
	if err := broadcaster.StartRecordingToSinkWithContext(recordingCtx); err != nil {
		return fmt.Errorf("start recording events: %w", err)
	}
	defer broadcaster.Shutdown()

	access := informer.OwnAccess(readClients.kube.AuthorizationV1())
	namespaces, err := readsNamespaces(ctx, config, access)
	if err != nil {
		return err
	}
	optional, err := optionalAPIs(ctx, readClients)
	if err != nil {
		return err
	}
	informers, err := informer.New(readClients.kube, readClients.fairlead, informer.Options{
		Namespaces:     config.Namespaces,
		Resync:         config.ResyncPeriod,
		Metadata:       readClients.metadata,
		Access:         access,
		WithoutClasses: !config.Classes, WithoutNamespaces: !namespaces,
		Debug:    recorder,
		Optional: optional,
	})
	if err != nil {
		return fmt.Errorf("create informers: %w", err)
	}
	tracer, flush, err := newTracer(ctx, config.Tracing)
	if err != nil {
		return err
	}
	defer flush()
	registry := metrics.NewKubeRegistry()
	counts := controller.NewMetrics(registry)
	consistencyStore := consistency.NewStore()
	differ := plan.NewDiffer(scheme.Scheme)
	go differ.Warm()
	loop, err := controller.New(controller.Config{
		Informers:           informers,
		Writer:              apply.NewWriter(apply.Instrument(writeClients.children, counts.ObserveWrite, apply.Record), consistencyStore),
		ConsistencyStore:    consistencyStore,
		Differ:              differ,
		Applications:        writeClients.fairlead.AppsV1(),
		Classes:             writeClients.fairlead.AppsV1(),
		Recorder:            broadcaster.NewRecorder(fairleadscheme.Scheme, controllerName),
		Payload:             payload.NewReader(writeClients.kube.CoreV1(), config.HashKeySecret),
		Workers:             config.Workers,
		WorkersPerNamespace: config.WorkersPerNamespace,
		Facts:               config.Facts,
		Validation:          config.Validation,
		RequireClass:        config.RequireClass,
		Metrics:             counts,
		Debug:               recorder,
		Tracer:              tracer,
		Now:                 config.Now,
	})
	if err != nil {
		return fmt.Errorf("create controller: %w", err)
	}
	certificates, err := newCertificates(config, writeClients.kube)
	if err != nil {
		return err
	}
	endpoints, err := newEndpoints(ctx, config, parts{
		loop: loop, informers: informers, clients: readClients, candidate: candidate, certificates: certificates, registry: registry, recorder: recorder, stopping: ctx.Done(),
	})
	if err != nil {
		return err
	}
	replica := replica{
		endpoints: endpoints, candidate: candidate, certificates: certificates,
		keeper: newKeeper(config, certificates, writeClients), shutdownDelay: config.Serving.ShutdownDelay,
	}
	return replica.run(ctx, stop, loop)
}

// replica is everything that runs in this process.
type replica struct {
	endpoints     *endpoints
	candidate     *candidate // nil without leader election
	certificates  *certificates
	keeper        *aggregation.Keeper // nil without an aggregated API server
	shutdownDelay time.Duration
}

// run runs the loop and the endpoints until ctx ends, or until one of them fails.
//
// The shutdown has an order. First /readyz fails, because ctx has ended, and the workers drain; then the lease is
// released, so that another replica takes over. Webhooks still answer until Services stop sending requests here, which
// takes the shutdown delay. They need the caches, so the caches stop last.
func (r *replica) run(ctx context.Context, stop context.CancelFunc, loop *controller.Controller) error {
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	var running sync.WaitGroup
	var served error
	running.Go(func() {
		served = r.endpoints.run(serving)
		stop() // If it failed, everything else stops too.
	})
	delayed := make(chan struct{})
	running.Go(func() {
		defer close(delayed)
		<-ctx.Done()
		timer := time.NewTimer(r.shutdownDelay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-serving.Done():
		}
	})
	err := loop.Run(ctx, func(ctx context.Context, work func(ctx, lease context.Context)) error {
		unregister := r.endpoints.register(ctx)
		err := r.lead(ctx, work)
		stop()
		unregister()
		<-delayed
		stopServing()
		running.Wait()
		return err
	})
	stop()
	stopServing()
	running.Wait()
	return errors.Join(err, served)
}

// lead runs the work while this replica may write. Certificates do not wait for a predecessor: if two replicas write
// them at once, the API server refuses one.
func (r *replica) lead(ctx context.Context, work func(ctx, lease context.Context)) error {
	if r.keeper != nil {
		work = besideWork(work, r.keeper.Run)
	}
	if r.candidate == nil {
		return controller.NoElection(ctx, r.certificates.rotateWhileLeading(work))
	}
	return r.candidate.run(ctx, r.certificates.rotateWhileLeading(r.candidate.waitForPredecessor(work)))
}
