// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
)

const (
	// leaseName is the default of the command.
	leaseName = "fairlead-controller"
	// The lease is short, so that a takeover does not take most of a program, and long enough for a busy machine.
	leaseDuration = 6 * time.Second
	renewDeadline = 4 * time.Second
	retryPeriod   = 500 * time.Millisecond
	// takeover is how long a step waits for another leader. There is none if the network is cut, for example.
	takeover = 30 * time.Second
)

// elect configures the leader election, if there is one.
func (p *process) elect(options *app.Options, namespace string) {
	options.LeaderElection.Enabled, options.LeaderElection.Namespace = p.elects, namespace
	options.LeaderElection.LeaseDuration, options.LeaderElection.RenewDeadline, options.LeaderElection.RetryPeriod = leaseDuration, renewDeadline, retryPeriod
}

// setReplicas stops the controller, and starts one, or two that elect a leader.
func setReplicas(ctx context.Context, w *world, arguments []string) error {
	count, err := strconv.Atoi(arguments[0])
	if err != nil {
		return err
	}
	w.stop(false)
	w.mu.Lock()
	w.replicas = count
	w.mu.Unlock()
	return w.start(ctx)
}

// pause holds back what the leader sends and receives, as if its machine had stopped. "takeover" waits until another replica
// leads.
func pause(ctx context.Context, w *world, arguments []string) error {
	p, identity, err := w.leader(ctx)
	if p == nil || err != nil {
		return err
	}
	p.connection.gate.shut()
	w.network.disturbed()
	if arguments[0] != "takeover" || !p.elects {
		return nil
	}
	err = wait.PollUntilContextTimeout(ctx, period, takeover, true, func(ctx context.Context) (bool, error) {
		holder, err := w.holder(ctx)
		return holder != "" && holder != identity, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return nil
	}
	return err
}

// lease deletes the Lease, or gives it to a replica that does not exist.
func lease(ctx context.Context, w *world, arguments []string) error {
	client := w.kube.CoordinationV1().Leases(w.namespace)
	if arguments[0] == "delete" {
		return tolerate(client.Delete(ctx, leaseName, metav1.DeleteOptions{}))
	}
	live, err := client.Get(ctx, leaseName, metav1.GetOptions{})
	if err != nil {
		return tolerate(err)
	}
	live.Spec.HolderIdentity, live.Spec.RenewTime = new("another"), new(metav1.NowMicro())
	_, err = client.Update(ctx, live, metav1.UpdateOptions{FieldManager: user})
	return tolerate(err)
}

// holder returns who holds the Lease; "" if there is none.
func (w *world) holder(ctx context.Context) (string, error) {
	live, err := w.kube.CoordinationV1().Leases(w.namespace).Get(ctx, leaseName, metav1.GetOptions{})
	if err != nil || live.Spec.HolderIdentity == nil {
		return "", ignoreNotFound(err)
	}
	return *live.Spec.HolderIdentity, nil
}

// leader returns the process that leads, and its identity. While none does, that is the first one.
func (w *world) leader(ctx context.Context) (*process, string, error) {
	holder, err := w.holder(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	var first *process
	for _, p := range w.processes {
		switch {
		case p == nil:
		case p.elects && p.identity == holder:
			return p, holder, err
		case first == nil:
			first = p
		}
	}
	if first == nil {
		return nil, "", err
	}
	return first, first.identity, err
}

// resume lets all replicas go on.
func (w *world) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.processes {
		if p != nil {
			p.connection.gate.open()
		}
	}
}

// mend ends every fault.
func (w *world) mend() {
	w.resume()
	w.network.mend()
}

// gate holds back what passes it while it is shut.
type gate struct {
	mu     sync.Mutex
	opened chan struct{} // nil while it is open
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened == nil {
		g.opened = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened != nil {
		close(g.opened)
		g.opened = nil
	}
}

// held is closed when the gate opens; nil while it is open.
func (g *gate) held() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened
}
