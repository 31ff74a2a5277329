// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import "sync"

// LabelProbe is on the Application that Registrar creates in a dry run, to find out whether the API server
// reaches the webhooks. Its value is the token of the attempt.
const LabelProbe = "apps.fairlead.dev/webhook-probe"

// probes are the tokens that a Registrar waits for.
type probes struct {
	mu      sync.Mutex
	waiting map[string]chan struct{}
}

// await returns a channel that is closed when a request with the token arrives. Call stop afterwards.
func (p *probes) await(token string) (seen <-chan struct{}, stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting == nil {
		p.waiting = map[string]chan struct{}{}
	}
	arrived := make(chan struct{})
	p.waiting[token] = arrived
	return arrived, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.waiting, token)
	}
}

// saw is called with the label of every request; most have none.
func (p *probes) saw(token string) {
	if token == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if arrived, waits := p.waiting[token]; waits {
		close(arrived)
		delete(p.waiting, token)
	}
}
