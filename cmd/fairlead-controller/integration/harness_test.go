// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests the whole controller, wired as the command wires it, against a real
// control plane.
//
// A test calls start, which gives it a namespace and a controller of its own, applies
// Applications, acts as a person on what the controller makes of them, and waits with eventually
// and its relatives (harness_wait_test.go); nothing sleeps.
package integration

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// shared is the cluster of all tests. Each test has a namespace of its own in it, and a
// controller of its own that watches this namespace alone; so tests are parallel, and the log
// that a failed test prints is its own.
var shared = controlplane.NewShared(controlplane.WithAuditLog())

const (
	crds = "../../../artifacts/crds"
	// controllerAgent is how the user agent of the controller begins, in the audit log.
	controllerAgent = "fairlead-controller/"
	// person is the field manager of whatever a test does to objects by hand.
	person = "kubectl-edit"
	// stopTimeout is more than the controller needs to drain its workers.
	stopTimeout = 30 * time.Second
)

func TestMain(m *testing.M) {
	// The tests mostly wait, so more of them than there are processors may run at once.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(shared.Main(m))
}

// setup is what a test may change before its controller starts.
type setup struct {
	// Options are the flags. The namespace of the test is in Namespaces; nil watches all.
	*app.Options
	// Config, if set, is called with what the flags became, e.g. to wrap the transport.
	Config func(*app.Config)
}

// unreviewedAccounts lets Applications name ServiceAccounts although the controller serves no webhooks.
func unreviewedAccounts(s *setup) { s.AllowUnreviewedServiceAccounts = true }

// env is a namespace of a cluster, the clients to act there as an administrator, and a controller.
type env struct {
	testing.TB
	cluster   *controlplane.ControlPlane
	namespace string
	kube      kubernetes.Interface
	fairlead  versioned.Interface
	dynamic   dynamic.Interface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	log       *recentLog
	running   *run     // nil while there is no controller
	mine      []string // the Applications that the test has applied; a failed test shows them
}

// run is a controller that runs.
type run struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when Run has returned; err is complete then
	err    error
}

// start makes a namespace in the shared cluster and starts a controller for it, which is stopped
// when the test ends. The test fails if Run returned an error.
func start(t testing.TB, mutate ...func(*setup)) *env {
	t.Helper()
	e := newEnv(t, shared.Get(t))
	e.run(mutate...)
	return e
}

// newEnv makes a namespace and clients, but starts no controller. It is for tests that prepare
// something first, or that have a cluster of their own.
func newEnv(t testing.TB, cluster *controlplane.ControlPlane) *env {
	t.Helper()
	cluster.InstallCRDs(t, crds)
	config := cluster.Config()
	config.UserAgent = "fairlead-tests"
	discovery := discovery.NewDiscoveryClientForConfigOrDie(config)
	return &env{
		TB:        t,
		cluster:   cluster,
		namespace: cluster.Namespace(t),
		kube:      kubernetes.NewForConfigOrDie(config),
		fairlead:  versioned.NewForConfigOrDie(config),
		dynamic:   dynamic.NewForConfigOrDie(config),
		mapper:    restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discovery)),
		log:       &recentLog{},
	}
}

// run starts the controller as the command does. A controller that was stopped may be started
// again, as after a restart of its pod.
func (e *env) run(mutate ...func(*setup)) {
	e.Helper()
	if e.running != nil {
		e.Fatal("the controller runs already")
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), e.log.logger()))
	config, err := e.config(ctx, mutate...)
	if err != nil {
		cancel()
		e.Fatalf("start the controller: %v", err)
	}
	r := &run{cancel: cancel, done: make(chan struct{})}
	e.running = r
	go func() {
		defer close(r.done)
		r.err = app.Run(ctx, config)
	}()
	e.Cleanup(func() {
		if e.running == r {
			e.stop()
		}
	})
}

func (e *env) config(ctx context.Context, mutate ...func(*setup)) (app.CompletedConfig, error) {
	s := &setup{Options: app.NewOptions()}
	s.Kubeconfig = e.cluster.Kubeconfig()
	s.Namespaces = []string{e.namespace}
	for _, m := range mutate {
		m(s)
	}
	config, err := s.Options.Config()
	if err != nil {
		return app.CompletedConfig{}, err
	}
	if s.Config != nil {
		s.Config(config)
	}
	return config.Complete(ctx)
}

// stop stops the controller and waits until Run has returned. The test fails if that was with
// an error, or if a sync had panicked.
func (e *env) stop() {
	e.Helper()
	r := e.running
	e.running = nil
	r.cancel()
	select {
	case <-r.done:
	case <-time.After(stopTimeout):
		e.Fatalf("the controller did not stop within %s", stopTimeout)
	}
	if r.err != nil {
		e.Errorf("the controller ended with an error: %v", r.err)
	}
	if line := e.log.find("panic:"); line != "" {
		e.Errorf("a sync panicked: %s", line)
	}
}

// died returns why the controller is not running although the test did not stop it, or nil.
func (e *env) died() error {
	if e.running == nil {
		return nil
	}
	select {
	case <-e.running.done:
		return errors.Join(errors.New("the controller has ended by itself"), e.running.err)
	default:
		return nil
	}
}

// logger logs everything that the controller says, level 4 included.
func (l *recentLog) logger() klog.Logger {
	return textlogger.NewLogger(textlogger.NewConfig(textlogger.Verbosity(4), textlogger.Output(l)))
}

// audited returns the requests of controllers in the namespace since the cursor. Begin with
// e.cluster.AuditCursor.
func (e *env) audited(since *controlplane.AuditCursor, filters ...controlplane.AuditFilter) []controlplane.AuditEvent {
	e.Helper()
	return since.Events(e.TB, append(filters, controlplane.FromUserAgent(controllerAgent), controlplane.InNamespace(e.namespace))...)
}

// written returns what controllers wrote in the namespace since the cursor, Events left out.
func (e *env) written(since *controlplane.AuditCursor, filters ...controlplane.AuditFilter) []controlplane.AuditEvent {
	e.Helper()
	notEvent := func(event *controlplane.AuditEvent) bool { return event.Resource != "events" }
	return e.audited(since, append(filters, controlplane.Writes(), notEvent)...)
}

// wroteNothing fails the test if a controller wrote anything in the namespace since the cursor.
func (e *env) wroteNothing(since *controlplane.AuditCursor, filters ...controlplane.AuditFilter) {
	e.Helper()
	for _, event := range e.written(since, filters...) {
		e.Errorf("the controller wrote: %s", event)
	}
}

// ref names an object in the namespace for messages.
func (e *env) ref(kind, name string) string { return fmt.Sprintf("%s %s/%s", kind, e.namespace, name) }
