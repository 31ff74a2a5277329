// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
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
	log       *recentLog
	// mayEnd: something else than the network may make the controller end. It is started again.
	mayEnd bool
	// configure, if set, changes how the controller is configured.
	configure func(*app.Config)
	// past is what the oracles need to know of what was done.
	past past

	mu      sync.Mutex
	process *process // nil while none runs
	failure error    // of a controller that ended although nothing ended it
	counter int      // makes each edit a change
	closed  bool
}

// process is one run of the controller.
type process struct {
	connection *connection
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
		cluster: cluster, network: newNetwork(), log: &recentLog{}, past: newPast(),
		kube: kubernetes.NewForConfigOrDie(config), fairlead: versioned.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config),
	}
	w.network.crash = func() { go w.crashed(ctx) }
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

// start starts the controller as a kubelet does: it is started again if a fault ends it.
func (w *world) start(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.process != nil || w.closed {
		return nil
	}
	p := &process{connection: &connection{network: w.network, dead: make(chan struct{}), once: &sync.Once{}}, done: make(chan struct{})}
	ctx, p.cancel = context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), w.log.logger()))
	w.process = p
	go func() {
		defer close(p.done)
		for ctx.Err() == nil {
			begin := time.Now()
			err := w.runController(ctx, p)
			if ctx.Err() != nil {
				return
			}
			if last := w.network.lastFault(); last.Before(begin) && !w.mayEnd && !errors.Is(err, errNotReached) {
				w.fail(fmt.Errorf("the controller ended by itself: %w", err))
				return
			}
			_ = let(ctx, w, []string{"1s"})
		}
	}()
	return nil
}

// errNotReached is that of a controller which gave up before it began: on a busy machine the API server may take longer to
// answer than the controller waits at its start. The kubelet starts it again. If that does not help, the world does not converge.
var errNotReached = errors.New("not started")

// runController runs the controller as its command does.
func (w *world) runController(ctx context.Context, p *process) error {
	options := app.NewOptions()
	options.Kubeconfig, options.Namespaces, options.AllowUnreviewedServiceAccounts = w.cluster.Kubeconfig(), []string{w.namespace}, true
	options.Workers = 4
	config, err := options.Config()
	if err != nil {
		return err
	}
	config.Client.Wrap(func(next http.RoundTripper) http.RoundTripper {
		c := *p.connection
		c.next = next
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

func (w *world) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failure = errors.Join(w.failure, err)
}

// isDisturbed reports whether a fault lasts.
func (w *world) isDisturbed() bool {
	w.network.mu.Lock()
	defer w.network.mu.Unlock()
	return w.network.down || len(w.network.forbidden) > 0 || len(w.network.frozen) > 0
}

// crashed is called when a fault has cut the connection of a process, which now ends; another one starts.
func (w *world) crashed(ctx context.Context) {
	w.stop(true)
	if err := w.start(ctx); err != nil {
		w.fail(err)
	}
}

// stop ends the controller: by a crash, or as SIGTERM does.
func (w *world) stop(crash bool) {
	w.mu.Lock()
	p := w.process
	w.process = nil
	w.mu.Unlock()
	if p == nil {
		return
	}
	if crash {
		p.connection.kill()
	}
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
	w.network.mend()
	w.stop(false)
	_ = w.fairlead.AppsV1().ApplicationClasses().Delete(ctx, w.namespace, metav1.DeleteOptions{})
	_ = w.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(ctx, w.policyName(), metav1.DeleteOptions{})
	_ = w.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(ctx, w.policyName(), metav1.DeleteOptions{})
	return ignoreNotFound(w.kube.CoreV1().Namespaces().Delete(ctx, w.namespace, metav1.DeleteOptions{}))
}

// logger logs everything that the controller says at level 4.
func (l *recentLog) logger() klog.Logger {
	return textlogger.NewLogger(textlogger.NewConfig(textlogger.Verbosity(4), textlogger.Output(l)))
}
