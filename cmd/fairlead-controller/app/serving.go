// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/pkg/admission"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/certs"
	"fairlead.dev/fairlead/pkg/controller"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/debug/live"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/server"
)

// endpoints are the servers of this replica, whether it leads or not.
type endpoints struct {
	listeners    []*server.Listener
	certificates *certificates
	// webhookClients verifies the clients of the webhooks; nil allows any client.
	webhookClients *server.Clients
	// registrar registers the webhooks by URL; nil if manifests do that.
	registrar *admission.Registrar
}

// parts are what the endpoints serve.
type parts struct {
	loop      *controller.Controller
	informers *informer.Informers
	clients   *clients
	// candidate is nil without leader election.
	candidate    *candidate
	certificates *certificates
	registry     metrics.KubeRegistry
	// recorder is nil unless a flag serves the live view.
	recorder *debug.Recorder
	// stopping is closed when the replica shuts down.
	stopping <-chan struct{}
}

// newEndpoints listens on all addresses, so that an address in use fails at once.
func newEndpoints(ctx context.Context, config CompletedConfig, p parts) (_ *endpoints, err error) {
	e := &endpoints{certificates: p.certificates}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	if address := config.Serving.HealthBindAddress; address != "" {
		live, ready := p.checks()
		if _, err := e.listen(ctx, "health", address, server.HealthHandler(live, ready), nil); err != nil {
			return nil, err
		}
	}
	if config.Serving.MetricsBindAddress != "" {
		if err := e.listenMetrics(ctx, config, p); err != nil {
			return nil, err
		}
	}
	if config.Serving.DebugBindAddress != "" {
		if err := e.listenDebug(ctx, config, p); err != nil {
			return nil, err
		}
	}
	if config.Serving.WebhookBindAddress != "" {
		if err := e.listenWebhooks(ctx, config, p); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *endpoints) listen(ctx context.Context, name, address string, handler http.Handler, tlsConfig *tls.Config) (*server.Listener, error) {
	listener, err := server.Listen(ctx, name, address, handler, tlsConfig)
	if err != nil {
		return nil, err
	}
	e.listeners = append(e.listeners, listener)
	return listener, nil
}

// checks returns the health checks of /livez and /readyz.
func (p *parts) checks() (live, ready []healthz.HealthChecker) {
	live = append(live, server.NewCheck("workers", p.loop.CheckWorkers))
	if p.candidate != nil {
		live = append(live, p.candidate.health)
	}
	ready = append(ready, healthz.NewShutdownHealthz(p.stopping), server.NewCheck("caches", p.loop.CachesSynced))
	if p.certificates != nil {
		ready = append(ready, server.NewCheck("serving-certificate", func() error {
			return certs.Healthy(p.certificates.provider, time.Now())
		}))
	}
	return live, ready
}

func (e *endpoints) listenMetrics(ctx context.Context, config CompletedConfig, p parts) error {
	server.RegisterBuildInfo(p.registry)
	if p.certificates != nil {
		if err := certs.RegisterMetrics(p.registry.CustomRegister, p.certificates.provider); err != nil {
			return err
		}
	}
	handler := server.MetricsHandler(p.registry, config.Serving.Profiling)
	var view *live.Handler
	if config.Serving.DebugPipeline {
		view = newView(p.recorder)
		handler = beside(handler, view)
	}
	var tlsConfig *tls.Config
	if config.Serving.metricsSecured() {
		access, err := server.NewAccess(p.clients.kube)
		if err != nil {
			return fmt.Errorf("guard metrics: %w", err)
		}
		handler, tlsConfig = access.Require(handler), p.certificates.serving.Config()
	} else {
		handler = server.LoopbackNamesOnly(handler)
	}
	listener, err := e.listen(ctx, "metrics", config.Serving.MetricsBindAddress, handler, tlsConfig)
	if err == nil && view != nil {
		listener.OnShutdown(view.Close)
	}
	return err
}

func (e *endpoints) listenWebhooks(ctx context.Context, config CompletedConfig, p parts) error {
	counts := admission.NewMetrics()
	if err := counts.Register(p.registry.Register); err != nil {
		return fmt.Errorf("register metrics of webhooks: %w", err)
	}
	handler, err := admission.New(admission.Config{
		Validation:   config.Validation,
		Classes:      p.informers,
		RequireClass: config.RequireClass,
		Routes:       p.informers,
		Revisions:    p.informers,
		ReviewAccess: admission.ReviewAccessBy(p.clients.kube.AuthorizationV1().SubjectAccessReviews()),
		Find:         admission.FindBy(p.clients.metadata),
		WithSelection: func(ctx context.Context, deployment *metav1.PartialObjectMetadata) metav1.Object {
			return apply.WithSelection(ctx, p.clients.children, deployment)
		},
		Unavailable: p.informers.Unavailable,
		Metrics:     counts,
	})
	if err != nil {
		return fmt.Errorf("create webhooks: %w", err)
	}
	tlsConfig := p.certificates.serving.Config()
	if file := config.Serving.WebhookClientCA; file != "" {
		if e.webhookClients, err = server.NewClients(file, config.Serving.WebhookClientNames); err != nil {
			return fmt.Errorf("read --webhook-client-ca-file: %w", err)
		}
		tlsConfig = e.webhookClients.Guard(tlsConfig)
	}
	listener, err := e.listen(ctx, "webhooks", config.Serving.WebhookBindAddress, handler, tlsConfig)
	if err != nil || config.Serving.WebhookURL == "" {
		return err
	}
	target, err := withPort(config.Serving.WebhookURL, listener.Addr().Port)
	if err != nil {
		return err
	}
	probed := metav1.NamespaceDefault
	if len(config.Namespaces) > 0 {
		probed = config.Namespaces[0]
	}
	e.registrar = &admission.Registrar{
		Configurations: p.clients.kube.AdmissionregistrationV1(),
		Applications:   p.clients.fairlead.AppsV1(),
		Handler:        handler,
		URL:            target,
		CABundle:       p.certificates.caBundle(),
		ProbeNamespace: probed,
	}
	return nil
}

// withPort replaces a port 0.
func withPort(address string, port int) (string, error) {
	target, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("parse --webhook-url: %w", err)
	}
	if target.Port() == "0" {
		target.Host = net.JoinHostPort(target.Hostname(), strconv.Itoa(port))
	}
	return target.String(), nil
}

// run serves until ctx ends. An error means that a listener failed.
func (e *endpoints) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	if e.certificates != nil {
		running.Go(func() { e.certificates.serving.Run(ctx) })
		if e.certificates.follow != nil {
			running.Go(func() { e.certificates.follow(ctx) })
		}
	}
	if e.webhookClients != nil {
		running.Go(func() { e.webhookClients.Run(ctx) })
	}
	failures := make(chan error, len(e.listeners))
	for _, listener := range e.listeners {
		running.Go(func() {
			// A listener that fails stops the others.
			defer stop()
			failures <- listener.Serve(ctx)
		})
	}
	<-ctx.Done()
	running.Wait()
	close(failures)
	var errs []error
	for err := range failures {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// close closes endpoints that never ran.
func (e *endpoints) close() {
	for _, listener := range e.listeners {
		listener.Close()
	}
}

// register lets the API server call the webhooks at the URL, until the returned function is called. If the API server
// cannot reach them, the controller works without them.
func (e *endpoints) register(ctx context.Context) (unregister func()) {
	if e.registrar == nil {
		return func() {}
	}
	logger := klog.FromContext(ctx)
	registering, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		keepRegistered(klog.NewContext(registering, logger.WithValues("url", e.registrar.URL)), e.registrar.Register, e.registrar.Missing)
	}()
	return func() {
		stop()
		<-done
		if err := e.registrar.Unregister(context.WithoutCancel(ctx)); err != nil {
			logger.Error(err, "Cannot unregister the webhooks; delete the webhook configurations", "name", admission.OutOfClusterConfigurationName)
		}
	}
}

const (
	// registerPeriod is how long the controller waits before it tries again to register the webhooks.
	registerPeriod = 10 * time.Second
	// missingPeriod is how often the controller checks whether the webhooks are still registered.
	missingPeriod = 30 * time.Second
)

// keepRegistered registers the webhooks, and again whenever the registration is missing, until ctx ends. It gives up if the API
// server cannot reach them at the first attempt. A second controller outside of the cluster replaces the registration, and takes its own back when it ends. Without
// the checks the API server would call no webhooks from then on. While the second one is registered, it stays so.
func keepRegistered(ctx context.Context, register func(context.Context) error, missing func(context.Context) (bool, error)) {
	logger := klog.FromContext(ctx)
	if !registerWebhooks(ctx, register) {
		return
	}
	logger.Info("Registered the webhooks")
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(missingPeriod):
		}
		// After an error the next check may do better.
		if gone, err := missing(ctx); err != nil || !gone {
			continue
		}
		// The API server has reached them before, and may again.
		if registerWebhooks(ctx, register) {
			logger.Info("Registered the webhooks again, because their registration was gone")
		}
	}
}

// registerWebhooks registers the webhooks, and reports whether it could. It gives up if the API server cannot reach them,
// since that does not change. Anything else may: the CRDs may be on their way out, because `make uninstall` waits for this
// controller to remove a finalizer, and come back with the next `make install`.
func registerWebhooks(ctx context.Context, register func(context.Context) error) bool {
	logger := klog.FromContext(ctx)
	for last := ""; ; {
		err := register(ctx)
		switch {
		case err == nil:
			return true
		case ctx.Err() != nil:
			return false
		case errors.As(err, new(*admission.UnreachableError)):
			logger.Info("Continuing without webhooks: the API server cannot reach them", "err", err)
			return false
		case err.Error() != last:
			last = err.Error()
			logger.Info("Cannot register the webhooks; trying again", "every", registerPeriod, "err", err)
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(registerPeriod):
		}
	}
}
