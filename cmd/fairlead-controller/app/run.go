// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"

	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/controller"
	"fairlead.dev/fairlead/pkg/freshness"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	fairleadscheme "fairlead.dev/fairlead/pkg/generated/clientset/versioned/scheme"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/plan"
)

// controllerName is how Events name who reported them.
const controllerName = "fairlead.dev/controller"

// Run wires everything together and runs until ctx ends.
func Run(ctx context.Context, config CompletedConfig) error {
	// One HTTP client, so one pool of connections, for all of them.
	httpClient, err := rest.HTTPClientFor(config.Client)
	if err != nil {
		return fmt.Errorf("make HTTP client: %w", err)
	}
	defer httpClient.CloseIdleConnections()
	// Built-in types travel as protobuf; it costs a fraction of JSON.
	protobuf := rest.CopyConfig(config.Client)
	protobuf.ContentType = "application/vnd.kubernetes.protobuf"
	protobuf.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	kube, err := kubernetes.NewForConfigAndClient(protobuf, httpClient)
	if err != nil {
		return fmt.Errorf("make Kubernetes client: %w", err)
	}
	fairlead, err := versioned.NewForConfigAndClient(config.Client, httpClient)
	if err != nil {
		return fmt.Errorf("make Fairlead client: %w", err)
	}
	children, err := apply.NewClient(config.Client, httpClient)
	if err != nil {
		return err
	}

	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: kube.EventsV1()})
	// The last syncs, which run on when ctx has ended, report too.
	recordingCtx, stopRecording := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRecording()
	if err := broadcaster.StartRecordingToSinkWithContext(recordingCtx); err != nil {
		return fmt.Errorf("start recording events: %w", err)
	}
	defer broadcaster.Shutdown()

	informers, err := informer.New(kube, fairlead, informer.Options{Namespaces: config.Namespaces, Resync: config.ResyncPeriod})
	if err != nil {
		return fmt.Errorf("make informers: %w", err)
	}
	tracker := freshness.NewTracker()
	loop, err := controller.New(controller.Config{
		Informers:    informers,
		Writer:       apply.NewWriter(children, tracker),
		Tracker:      tracker,
		Differ:       plan.NewDiffer(scheme.Scheme),
		Applications: fairlead.AppsV1(),
		Recorder:     broadcaster.NewRecorder(fairleadscheme.Scheme, controllerName),
		Workers:      config.Workers,
		Facts:        config.Facts,
		Validation:   config.Validation,
	})
	if err != nil {
		return fmt.Errorf("make controller: %w", err)
	}
	return loop.Run(ctx, nil)
}
