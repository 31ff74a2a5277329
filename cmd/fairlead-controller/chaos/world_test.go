// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
	"fairlead.dev/fairlead/pkg/testing/wallclock"
)

const (
	// user is the field manager of all that a program does to objects.
	user = "kubectl-edit"
	// period is how often a condition is looked at.
	period = 100 * time.Millisecond
	// stopTimeout is far more than a controller needs to drain its workers, on a busy machine.
	stopTimeout = 3 * time.Minute
)

// world is a namespace, a controller that knows nothing else, and the network between it and the API server.
type world struct {
	cluster   *controlplane.ControlPlane
	kube      kubernetes.Interface
	fairlead  versioned.Interface
	dynamic   dynamic.Interface
	namespace string
	network   *network
	began     time.Time
	common    *common
	log       *recentLog
	// mayEnd: something else than the network may make the controller end. It is started again.
	mayEnd bool
	// configure, if set, changes how the controller is configured.
	configure func(*app.Config)
	// past is what the oracles need to know of what was done.
	past past

	mu sync.Mutex
	// replicas is how many controllers run at once. If there is more than one, they elect a leader.
	replicas  int
	processes []*process         // nil where none runs
	clocks    []*wallclock.Clock // of the machines of the processes
	runs      int                // how often the controller was run
	failure   error              // of a controller that ended although nothing ended it
	counter   int                // makes each edit a change
	closed    bool
}

// process is one replica of the controller. If it ends without being told to, it is started again.
type process struct {
	connection *connection
	clock      *wallclock.Clock
	elects     bool
	identity   string // of its present run
	cancel     context.CancelFunc
	done       chan struct{}
}

// newWorld makes a namespace, and starts a controller for it.
func newWorld(ctx context.Context, cluster *controlplane.ControlPlane) (*world, error) {
	w, err := newNamespace(ctx, cluster)
	if err != nil {
		return nil, err
	}
	return w, w.start(ctx)
}

// newNamespace makes a namespace without a controller.
func newNamespace(ctx context.Context, cluster *controlplane.ControlPlane) (*world, error) {
	config := cluster.Config()
	config.UserAgent = "fairlead-chaos"
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return insistent{next} })
	w := &world{
		cluster: cluster, network: newNetwork(), common: commonOf(cluster), began: time.Now(), log: &recentLog{}, past: newPast(), replicas: 1,
		kube: kubernetes.NewForConfigOrDie(config), fairlead: versioned.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config),
	}
	namespace, err := w.kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "chaos-"}}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("create namespace: %w", err)
	}
	w.namespace = namespace.Name
	err = wait.PollUntilContextTimeout(ctx, period, insistence, true, func(ctx context.Context) (bool, error) {
		_, err := w.kube.CoreV1().ServiceAccounts(w.namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, ignoreNotFound(err)
	})
	if err != nil {
		return nil, fmt.Errorf("wait for the ServiceAccount of namespace %s: %w", w.namespace, err)
	}
	return w, nil
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// start starts all replicas of the controller that do not run.
func (w *world) start(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	for len(w.processes) < w.replicas {
		w.processes, w.clocks = append(w.processes, nil), append(w.clocks, &wallclock.Clock{})
	}
	for i := range w.replicas {
		if w.processes[i] == nil {
			w.processes[i] = w.newProcess(ctx, w.clocks[i])
		}
	}
	return nil
}

// aftermath is how long the end of an outage may still keep a controller from starting: the API server answers some requests before
// others.
const aftermath = time.Minute

// newProcess starts a replica as a kubelet does: it is started again if a fault ends it. The caller holds the lock.
func (w *world) newProcess(ctx context.Context, clock *wallclock.Clock) *process {
	p := &process{clock: clock, elects: w.replicas > 1, done: make(chan struct{})}
	p.connection = &connection{network: w.network, gate: &gate{}, dead: make(chan struct{}), once: &sync.Once{}, crash: func() { go w.crashed(ctx, p) }}
	ctx, p.cancel = context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), w.log.logger()))
	go func() {
		defer close(p.done)
		for ctx.Err() == nil {
			begin := time.Now()
			var err error
			w.labelled(ctx, func(ctx context.Context) { err = w.runController(ctx, p) })
			if ctx.Err() != nil {
				return
			}
			// A replica that cannot renew its lease in time ends, and on a busy machine needs no fault for that.
			if last := w.network.lastFault(); last.Before(begin) && len(w.common.since(begin.Add(-aftermath))) == 0 && !w.mayEnd && !p.elects && !errors.Is(err, errNotReached) {
				w.fail(fmt.Errorf("the controller ended by itself: %w", err))
				return
			}
			_ = let(ctx, w, []string{"1s"})
		}
	}()
	return p
}

// errNotReached is that of a controller which gave up before it began: on a busy machine the API server may take longer to
// answer than the controller waits at its start. The kubelet starts it again. If that does not help, the world does not converge.
var errNotReached = errors.New("not started")

// runController runs the controller as its command does.
func (w *world) runController(ctx context.Context, p *process) error {
	options := app.NewOptions()
	options.Kubeconfig, options.Namespaces, options.AllowUnreviewedServiceAccounts = w.cluster.Kubeconfig(), []string{w.namespace}, true
	options.Workers = 4
	p.elect(options, w.namespace)
	config, err := options.Config()
	if err != nil {
		return err
	}
	config.Now = p.clock.Now
	identity := w.nextIdentity(p)
	if config.LeaderElection != nil {
		config.LeaderElection.Identity = identity
	}
	config.Client.UserAgent += " " + identity
	config.Client.Wrap(func(next http.RoundTripper) http.RoundTripper {
		c := *p.connection
		c.next, c.identity = next, identity
		return &c
	})
	if w.configure != nil {
		w.configure(config)
	}
	completed, err := config.Complete(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotReached, err)
	}
	return app.Run(ctx, completed)
}

// nextIdentity names the next run of a process.
func (w *world) nextIdentity(p *process) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs++
	p.identity = fmt.Sprintf("%s.run-%d", w.namespace, w.runs)
	return p.identity
}

func (w *world) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failure = errors.Join(w.failure, err)
}

// isDisturbed reports whether a fault lasts, here or in the cluster.
func (w *world) isDisturbed() bool {
	w.mu.Lock()
	paused := slices.ContainsFunc(w.processes, func(p *process) bool { return p != nil && p.connection.gate.held() != nil })
	w.mu.Unlock()
	w.network.mu.Lock()
	defer w.network.mu.Unlock()
	return paused || w.common.isDisturbed() || w.network.down || len(w.network.forbidden) > 0 || len(w.network.frozen) > 0
}

// crashed is called when a fault has cut the connection of a process, which now ends; another one starts.
func (w *world) crashed(ctx context.Context, p *process) {
	w.mu.Lock()
	i := slices.Index(w.processes, p)
	if i >= 0 {
		w.processes[i] = nil
	}
	w.mu.Unlock()
	if i < 0 {
		return // It is being stopped anyway.
	}
	w.terminate(p, true)
	if err := w.start(ctx); err != nil {
		w.fail(err)
	}
}

// stop ends all replicas: by a crash, or as SIGTERM does.
func (w *world) stop(crash bool) {
	w.mu.Lock()
	processes := slices.DeleteFunc(slices.Clone(w.processes), func(p *process) bool { return p == nil })
	clear(w.processes)
	w.mu.Unlock()
	var ending sync.WaitGroup
	for _, p := range processes {
		ending.Go(func() { w.terminate(p, crash) })
	}
	ending.Wait()
}

// terminate ends one process.
func (w *world) terminate(p *process, crash bool) {
	if crash {
		p.connection.kill()
	}
	p.connection.gate.open() // A process that is paused would not see a signal.
	p.cancel()
	select {
	case <-p.done:
	case <-time.After(stopTimeout):
		w.fail(fmt.Errorf("the controller did not stop within %s", stopTimeout))
	}
}

// health returns why the controller cannot be judged any more: it has ended by itself, or a sync has panicked.
func (w *world) health() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if line := w.log.panicked(); line != "" {
		return fmt.Errorf("a sync panicked: %s", line)
	}
	return w.failure
}

// close stops the controller and deletes the namespace.
func (w *world) close(ctx context.Context) error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.mend()
	w.stop(false)
	w.network.late.Wait()
	w.common.audit.forget(w.namespace)
	_ = w.fairlead.AppsV1().ApplicationClasses().Delete(ctx, w.namespace, metav1.DeleteOptions{})
	_ = w.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(ctx, w.policyName(), metav1.DeleteOptions{})
	_ = w.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(ctx, w.policyName(), metav1.DeleteOptions{})
	return errors.Join(w.letGo(ctx), ignoreNotFound(w.kube.CoreV1().Namespaces().Delete(ctx, w.namespace, metav1.DeleteOptions{})))
}

// letGo removes the finalizers of all Applications, as no controller does any more. The namespace controller would try for ever to
// delete them, and after a hundred programs with Orphan the API server would have little else to do.
func (w *world) letGo(ctx context.Context) error {
	client := w.fairlead.AppsV1().Applications(w.namespace)
	list, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if len(list.Items[i].Finalizers) == 0 {
			continue
		}
		_, err := client.Patch(ctx, list.Items[i].Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err := tolerate(err); err != nil {
			return err
		}
	}
	return nil
}

// logger logs everything that the controller says at level 4.
func (l *recentLog) logger() klog.Logger {
	return textlogger.NewLogger(textlogger.NewConfig(textlogger.Verbosity(4), textlogger.Output(l)))
}
