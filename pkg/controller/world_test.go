// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/consistency"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/payload"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/testing/wallclock"
)

// world is a running controller with real informers and an API server in memory, in a bubble of
// testing/synctest: time passes only while everybody waits, and so a test of hours takes
// milliseconds and no test waits for "long enough".
//
// The fake clientsets alone would not do: their objects get no UIDs and versions, and a cache
// whose LastStoreSyncResourceVersion never grows would make each sync after a write look stale for
// ever. applytest gives lists and watch events versions of one sequence, as the API server does.
type world struct {
	*testing.T
	setup      setup
	server     *applytest.Server
	store      *consistency.Store
	recorder   *events.FakeRecorder
	controller *Controller
	log        *log
	// stop asks Run to return; stopped is closed once it has, with its error in err.
	stop    context.CancelFunc
	stopped chan struct{}
	err     error
}

// setup is how a world begins.
type setup struct {
	// workers is 1 if not set.
	workers int
	resync  time.Duration
	// access answers who asks what the controller may watch; all, if it is not set.
	access informer.Access
	// pipeline records what the controller does; nil is none.
	pipeline *debug.Recorder
	// tracer makes spans of the syncs; nil makes none.
	tracer trace.Tracer
	// clock is the clock of the controller's machine; nil is right.
	clock *wallclock.Clock
	// begin is called before the informers list.
	begin func(*applytest.Server)
}

// inWorld runs a test in a new world, and stops the controller after it.
func inWorld(t *testing.T, s setup, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, setup: s, server: applytest.NewServer(t), log: &log{}}
		if s.begin != nil {
			s.begin(w.server)
		}
		w.start()
		test(w)
		w.end()
	})
}

// start runs a new controller.
func (w *world) start() {
	w.Helper()
	w.make()
	ctx, stop := context.WithCancel(klog.NewContext(w.Context(), w.log.logger()))
	w.stop, w.stopped = stop, make(chan struct{})
	go func() {
		defer close(w.stopped)
		w.err = w.controller.Run(ctx, NoElection)
	}()
}

// make makes a new controller. It knows nothing but what the server stores.
func (w *world) make() {
	w.Helper()
	counts := NewMetrics(metrics.NewKubeRegistry())
	w.store = consistency.NewStore()
	// It blocks when it is full.
	w.recorder = events.NewFakeRecorder(1000)
	fairlead := w.server.Fairlead()
	if w.setup.access == nil {
		w.setup.access = permitAll
	}
	informers, err := informer.New(w.server.Kube(), fairlead, informer.Options{Resync: w.setup.resync, Metadata: w.server.Metadata(), Access: w.setup.access, Debug: w.setup.pipeline})
	if err != nil {
		w.Fatal(err)
	}
	var now func() time.Time
	if w.setup.clock != nil {
		now = w.setup.clock.Now
	}
	w.controller, err = New(Config{
		Informers:           informers,
		Writer:              apply.NewWriter(apply.Instrument(w.server.Client(), counts.ObserveWrite, apply.Record), w.store),
		ConsistencyStore:    w.store,
		Differ:              plan.NewDiffer(scheme.Scheme),
		Applications:        fairlead.AppsV1(),
		Classes:             fairlead.AppsV1(),
		Recorder:            w.recorder,
		Payload:             payload.NewReader(w.server.Kube().CoreV1(), hashKey),
		Workers:             max(w.setup.workers, 1),
		WorkersPerNamespace: max(w.setup.workers, 1),
		Metrics:             counts,
		Debug:               w.setup.pipeline,
		Tracer:              w.setup.tracer,
		Now:                 now,
	})
	if err != nil {
		w.Fatal(err)
	}
}

// end stops the controller and waits for it.
func (w *world) end() {
	w.Helper()
	w.stop()
	<-w.stopped
	if w.err != nil {
		w.Errorf("Run: %v", w.err)
	}
}

// log keeps what is logged, each message as one string, however many lines it has.
type log struct {
	mu       sync.Mutex
	messages []string
}

// Write is called once for each message.
func (l *log) Write(message []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages = append(l.messages, string(message))
	return len(message), nil
}

func (l *log) logger() klog.Logger {
	return textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(l), textlogger.Verbosity(4)))
}

// find returns the messages that contain all parts.
func (l *log) find(parts ...string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []string
	for _, message := range l.messages {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(message, part) }) {
			found = append(found, message)
		}
	}
	return found
}

// errors returns the messages of errors.
func (l *log) errors() []string {
	return slices.DeleteFunc(l.find(), func(message string) bool { return message[0] != 'E' })
}

// pass lets time pass, and then everybody finish what is to be done by then.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

const namespace = "shop"

func key(name string) cache.ObjectName {
	return cache.ObjectName{Namespace: namespace, Name: name}
}

// application has a Deployment, a Service and a ServiceAccount.
func application(name string) *v1.Application {
	return &v1.Application{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1.ApplicationSpec{
			Image:    "registry.example.com/" + name + ":1",
			Replicas: new(int32(1)),
			Ports:    []v1.ApplicationPort{{Name: "http", ContainerPort: 8080}},
		},
	}
}

func withApplications(applications ...*v1.Application) func(*applytest.Server) {
	return func(s *applytest.Server) {
		for _, application := range applications {
			applytest.Put(s, applytest.Applications, application)
		}
	}
}

func (w *world) application(name string) *v1.Application {
	return applytest.Get[*v1.Application](w.server, applytest.Applications, namespace, name)
}

func (w *world) edit(name string, change func(*v1.Application)) {
	w.Helper()
	applytest.Edit(w.server, applytest.Applications, namespace, name, change)
}

func (w *world) deployment(name string) *appsv1.Deployment {
	return applytest.Get[*appsv1.Deployment](w.server, child.Deployment, namespace, name)
}

// image is what the Deployment runs, "" if there is none.
func (w *world) image(name string) string {
	deployment := w.deployment(name)
	if deployment == nil {
		return ""
	}
	return deployment.Spec.Template.Spec.Containers[0].Image
}

// pods plays the Deployment's controller: so many of its pods are ready.
func (w *world) pods(name string, ready int32) {
	w.Helper()
	applytest.EditStatus(w.server, child.Deployment, namespace, name, func(d *appsv1.Deployment) {
		available := appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: "False", Reason: "MinimumReplicasUnavailable"}
		if ready >= *d.Spec.Replicas {
			available.Status, available.Reason = "True", "MinimumReplicasAvailable"
		}
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation,
			Replicas:           *d.Spec.Replicas, UpdatedReplicas: *d.Spec.Replicas,
			ReadyReplicas: ready, AvailableReplicas: ready, UnavailableReplicas: *d.Spec.Replicas - ready,
			Conditions: []appsv1.DeploymentCondition{available},
		}
	})
}

func (w *world) ready(name string) bool {
	return meta.IsStatusConditionTrue(w.application(name).Status.Conditions, v1.ConditionReady)
}

// wantCondition compares a condition's status and reason.
func (w *world) wantCondition(name, conditionType string, want metav1.ConditionStatus, reason string) {
	w.Helper()
	got := meta.FindStatusCondition(w.application(name).Status.Conditions, conditionType)
	if got == nil || got.Status != want || got.Reason != reason {
		w.Errorf("%s: %s is %+v, want %s %s", name, conditionType, got, want, reason)
	}
}

// count is how many requests so far the filter accepts.
func (w *world) count(accept func(applytest.Request) bool) int {
	return len(w.server.Requests(accept))
}

func statusOf(name string) func(applytest.Request) bool {
	return func(r applytest.Request) bool { return r.Name == name && r.OnStatus() && r.Writes() }
}

func toChildren(r applytest.Request) bool {
	return r.Writes() && r.Kind != applytest.Applications
}

func createOf(kind child.Kind) func(applytest.Request) bool {
	return func(r applytest.Request) bool { return r.Verb == "create" && r.Kind == kind }
}

// told are the Events since the last call.
func (w *world) told() []string {
	told := []string{}
	for {
		select {
		case event := <-w.recorder.Events:
			told = append(told, event)
		default:
			return told
		}
	}
}
