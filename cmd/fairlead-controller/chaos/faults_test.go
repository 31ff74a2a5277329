// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"strconv"

	"k8s.io/apimachinery/pkg/util/sets"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// watched are the resources whose watches are disturbed.
var watched = []string{"applications", "deployments", "services", "configmaps", "controllerrevisions", "serviceaccounts", "pods", "secrets", "ingresses"}

// nth are the writes that a fault waits for.
var nth = []string{"1", "2", "3", "5", "8"}

// faults are what goes wrong between the controller and the API server. Those that last end at the end of the program, if
// nothing ends them before.
func faults() []verb {
	moments := []string{string(before), string(sent), string(answered)}
	return []verb{
		{"crash", [][]string{nth, moments}, func(_ context.Context, w *world, arguments []string) error {
			return w.arm(arguments[0], rule{when: moment(arguments[1]), crash: true})
		}},
		{"lose", [][]string{nth, {string(before), string(sent)}}, func(_ context.Context, w *world, arguments []string) error {
			return w.arm(arguments[0], rule{when: moment(arguments[1])})
		}},
		{"refuse", [][]string{nth, {"409", "429", "500", "503"}}, func(_ context.Context, w *world, arguments []string) error {
			code, err := strconv.Atoi(arguments[1])
			if err != nil {
				return err
			}
			return w.arm(arguments[0], rule{when: before, code: code})
		}},
		{"restart", nil, func(ctx context.Context, w *world, _ []string) error {
			w.stop(false)
			return w.start(ctx)
		}},
		{"kill", nil, func(ctx context.Context, w *world, _ []string) error {
			w.stop(true)
			return w.start(ctx)
		}},
		{"freeze", [][]string{watched}, func(_ context.Context, w *world, arguments []string) error {
			w.network.freeze(arguments[0])
			return nil
		}},
		{"thaw", nil, func(_ context.Context, w *world, _ []string) error {
			w.network.thaw()
			return nil
		}},
		{"drop", [][]string{watched}, func(_ context.Context, w *world, arguments []string) error {
			w.network.drop(arguments[0])
			return nil
		}},
		{"relist", [][]string{watched}, func(_ context.Context, w *world, arguments []string) error {
			w.network.relist(arguments[0])
			return nil
		}},
		{"spoil", [][]string{watched, {"garble", "truncate"}}, func(_ context.Context, w *world, arguments []string) error {
			for _, s := range w.network.streamsOf(arguments[0]) {
				s.garble.Store(arguments[1] == "garble")
				s.truncate.Store(arguments[1] == "truncate")
			}
			return nil
		}},
		{"forbid", [][]string{watched}, func(_ context.Context, w *world, arguments []string) error {
			w.network.forbid(arguments[0])
			return nil
		}},
		{"permit", nil, func(_ context.Context, w *world, _ []string) error {
			w.network.permit()
			return nil
		}},
		{"cut", nil, func(_ context.Context, w *world, _ []string) error {
			w.network.cut()
			return nil
		}},
		{"mend", nil, func(_ context.Context, w *world, _ []string) error {
			w.mend()
			return nil
		}},
		{"replicas", [][]string{{"1", "2", "2"}}, setReplicas},
		{"pause", [][]string{{"briefly", "takeover", "takeover"}}, pause},
		{"resume", nil, func(_ context.Context, w *world, _ []string) error {
			w.resume()
			return nil
		}},
		{"lease", [][]string{{"delete", "give"}}, lease},
		{"clock", [][]string{{"forward", "back", "right"}}, setClock},
		{"outage", [][]string{{"kill", "freeze"}, {string(controlplane.KubeAPIServer), string(controlplane.Etcd)}}, outage},
	}
}

// arm adds a rule for the nth write from now on.
func (w *world) arm(nth string, armed rule) (err error) {
	if armed.nth, err = strconv.Atoi(nth); err != nil {
		return err
	}
	w.network.mu.Lock()
	defer w.network.mu.Unlock()
	w.network.rules = append(w.network.rules, &armed)
	return nil
}

func (n *network) freeze(resource string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.frozen[resource] == nil {
		n.frozen[resource] = make(chan struct{})
	}
}

func (n *network) thaw() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for resource, thawed := range n.frozen {
		close(thawed)
		delete(n.frozen, resource)
	}
}

// drop ends the watches of a resource; the reflectors watch again from where they were.
func (n *network) drop(resource string) {
	for _, s := range n.streamsOf(resource) {
		_ = s.Close()
	}
}

// relist ends the watches of a resource, and says of their versions that they are too old.
func (n *network) relist(resource string) {
	n.mu.Lock()
	n.gone.Insert(resource)
	n.mu.Unlock()
	n.drop(resource)
}

func (n *network) forbid(resource string) {
	n.mu.Lock()
	n.forbidden.Insert(resource)
	n.mu.Unlock()
	n.drop(resource)
}

func (n *network) permit() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.forbidden = sets.New[string]()
}

// cut lets nothing through in either direction, until mend.
func (n *network) cut() {
	n.mu.Lock()
	n.down = true
	n.mu.Unlock()
	n.drop("") // All of them.
}

// mend ends every fault in the network.
func (n *network) mend() {
	n.thaw()
	n.permit()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down, n.rules, n.gone = false, nil, sets.New[string]()
}
