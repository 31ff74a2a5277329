// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/generated/openapi"
)

// drainTime is for how long watches may end one by one at a shutdown.
const drainTime = 5 * time.Second

// Clients are what the server reads and writes with, as itself.
type Clients struct {
	Kubernetes kubernetes.Interface
	// Logs reads logs, over connections of its own; see NewLogTransport.
	Logs     coreclient.PodsGetter
	Fairlead versioned.Interface
	// Pods connects users with pods.
	Pods *PodConnections
	// Dynamic reads children, for renderings.
	Dynamic dynamic.Interface
	Metrics metricsclient.MetricsV1beta1Interface
}

// Config is what the server is made of. Serving, authentication and authorization are in Generic, to which the options of
// k8s.io/apiserver apply.
type Config struct {
	Generic  *genericapiserver.Config
	Clients  Clients
	Limits   Limits
	Platform Platform
	Leader   Leader
	// ServingName is the name that the serving certificate must be valid for before the server is ready; empty: any.
	ServingName string
}

// NewGenericConfig returns the part of a Config that this API determines: no storage, no admission plugins, and the
// server's own codecs and documents.
func NewGenericConfig(scheme *runtime.Scheme, codecs serializer.CodecFactory) *genericapiserver.Config {
	config := genericapiserver.NewConfig(codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	// kube-apiserver keeps exactly these open too; it has the names of the subresources hard-coded.
	config.LongRunningFunc = genericfilters.BasicLongRunningRequestCheck(sets.NewString("watch"), sets.NewString("log", "exec", "portforward"))
	config.BuildHandlerChainFunc = func(handler http.Handler, c *genericapiserver.Config) http.Handler {
		return withController(genericapiserver.DefaultBuildHandlerChain(handler, c))
	}
	config.ShutdownWatchTerminationGracePeriod = drainTime
	config.EnableProfiling = false
	namer := openapinamer.NewDefinitionNamer(scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(openapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(openapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIConfig.Info.Title, config.OpenAPIV3Config.Info.Title = "Fairlead", "Fairlead"
	return config
}

type completedConfig struct {
	generic  genericapiserver.CompletedConfig
	clients  Clients
	limits   Limits
	platform Platform
	leader   Leader
	// servingName is Config.ServingName.
	servingName string
	// stopping is closed when the server begins to shut down.
	stopping <-chan struct{}
	scheme   *runtime.Scheme
	codecs   serializer.CodecFactory
}

// CompletedConfig is a Config that was checked. Only Complete returns one.
type CompletedConfig struct{ *completedConfig }

// Complete checks that the server can tell users apart.
func (c *Config) Complete(scheme *runtime.Scheme, codecs serializer.CodecFactory) (CompletedConfig, error) {
	if c.Generic.Authentication.Authenticator == nil || c.Generic.Authorization.Authorizer == nil {
		return CompletedConfig{}, errors.New("the API server needs delegated authentication and authorization")
	}
	if front := c.Generic.Authentication.RequestHeaderConfig; front != nil && len(front.AllowedClientNames.Value()) == 0 {
		return CompletedConfig{}, errors.New("the cluster allows every client of its front-proxy CA to name any user: set --requestheader-allowed-names of kube-apiserver to the common name of its proxy client certificate")
	}
	return CompletedConfig{&completedConfig{
		generic: c.Generic.Complete(nil), clients: c.Clients, limits: c.Limits, platform: c.Platform, leader: c.Leader, servingName: c.ServingName, stopping: c.Generic.ShutdownInitiatedNotify(),
		scheme: scheme, codecs: codecs,
	}}, nil
}

// NewScheme returns the types of the API, and the codecs for them.
func NewScheme() (*runtime.Scheme, serializer.CodecFactory) {
	scheme := newScheme()
	return scheme, serializer.NewCodecFactory(scheme)
}

// Server is the API server with what runs beside its requests.
type Server struct {
	generic *genericapiserver.GenericAPIServer
	caches  *caches
	beside  []func(context.Context)
}

// New installs the registries.
func (c CompletedConfig) New() (*Server, error) {
	generic, err := c.generic.New("fairlead-apiserver", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, fmt.Errorf("make generic API server: %w", err)
	}
	caches, err := newCaches(c.clients.Kubernetes, c.clients.Fairlead)
	if err != nil {
		return nil, err
	}
	history := newHistory(time.Now())
	meter := &meter{list: c.clients.Metrics.PodMetricses(metav1.NamespaceAll).List}
	views := newViews(caches, history, meter.used)
	synced, err := views.handle()
	if err != nil {
		return nil, err
	}
	access := access{authorizer: generic.Authorizer}

	group := genericapiserver.NewDefaultAPIGroupInfo(v1alpha1.GroupName, c.scheme, runtime.NewParameterCodec(c.scheme), c.codecs)
	storage := map[string]rest.Storage{
		v1.ApplicationResource:           &applications{history: history, access: access, watches: newQuota("watches", c.limits.WatchesPerUser, c.limits.Watches)},
		v1.ApplicationResource + "/tree": &tree{caches: caches, history: history, access: access},
	}
	streams := newQuota("streams", c.limits.StreamsPerUser, c.limits.Streams)
	storage[v1.ApplicationResource+"/log"] = &logs{
		caches: caches, history: history, access: access, limits: c.limits, stopping: c.stopping,
		streams: streams, readers: make(readers, c.limits.Containers),
		open: func(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
			return c.clients.Logs.Pods(namespace).GetLogs(pod, options).Stream(ctx)
		},
	}
	if storage[v1.ApplicationResource+"/render"], err = newRenderer(caches, history, access, c.clients, c.limits, c.platform); err != nil {
		return nil, err
	}
	if c.leader.Lease != "" {
		recorder, err := newRecorder(c.leader, c.clients.Kubernetes)
		if err != nil {
			return nil, err
		}
		storage[v1.ApplicationResource+"/timeline"] = &timelines{
			caches: caches, history: history, access: access, limits: c.limits, stopping: c.stopping,
			open: newQuota("timelines", c.limits.TimelinesPerUser, c.limits.Timelines), recorded: recorder.timeline,
		}
	}
	for _, connection := range connections() {
		storage[v1.ApplicationResource+"/"+connection.subresource] = &connector{
			connection: connection, caches: caches, history: history, access: access, limits: c.limits, streams: streams,
			pods: c.clients.Pods, stopping: c.stopping,
		}
	}
	for _, edit := range edits() {
		storage[v1.ApplicationResource+"/"+edit.subresource] = &editor{edit: edit, applications: c.clients.Fairlead.AppsV1(), access: access}
	}
	group.VersionedResourcesStorageMap[v1alpha1.SchemeGroupVersion.Version] = storage
	if err := generic.InstallAPIGroup(&group); err != nil {
		return nil, fmt.Errorf("install %s: %w", v1alpha1.SchemeGroupVersion, err)
	}
	checks := []healthz.HealthChecker{healthz.NamedCheck("caches", func(*http.Request) error { return history.ready() })}
	if c.servingName != "" {
		certificate := c.generic.SecureServing.Cert
		checks = append(checks, healthz.NamedCheck("certificate", func(*http.Request) error { return servesName(certificate, c.servingName) }))
	}
	if err := generic.AddReadyzChecks(checks...); err != nil {
		return nil, fmt.Errorf("add readiness check: %w", err)
	}
	return &Server{generic: generic, caches: caches, beside: []func(context.Context){
		meter.run, func(ctx context.Context) { views.run(ctx, synced) },
	}}, nil
}

// Run serves until ctx ends. The caches outlive the last request.
func (s *Server) Run(ctx context.Context) error {
	beside, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var running sync.WaitGroup
	s.caches.start(beside)
	for _, run := range s.beside {
		running.Go(func() { run(beside) })
	}
	err := s.generic.PrepareRun().RunWithContext(ctx)
	stop()
	running.Wait()
	s.caches.shutdown()
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
