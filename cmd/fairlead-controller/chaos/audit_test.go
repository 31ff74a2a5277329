// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/pkg/testing/auditlog"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// auditIDHeader names a request. The API server takes the name over into its audit log.
const auditIDHeader = "Audit-ID"

// controllerAgent is how the user agent of the controller begins.
const controllerAgent = "fairlead-controller/"

// flushTimeout is more than an API server takes to log a request, on a busy machine.
const flushTimeout = 30 * time.Second

// auditor reads which writes of controllers the API server of a cluster has carried out. It reads the log once, however many
// programs ask.
type auditor struct {
	cluster *controlplane.ControlPlane

	mu     sync.Mutex
	offset int64
	events map[string][]auditlog.Event // by the namespace of the controller
}

// newAuditor returns the auditor of a cluster, which must have an audit log.
func newAuditor(cluster *controlplane.ControlPlane) *auditor {
	return &auditor{cluster: cluster, events: map[string][]auditlog.Event{}}
}

// writes returns the writes of the controllers of a namespace, in the order in which the API server completed them.
func (a *auditor) writes(ctx context.Context, namespace string) ([]auditlog.Event, error) {
	err := wait.PollUntilContextTimeout(ctx, insistPeriod, insistence, true, func(ctx context.Context) (bool, error) {
		// The API server may be away, or be killed before it has logged the request that marks the end.
		ctx, cancel := context.WithTimeout(ctx, flushTimeout)
		defer cancel()
		return a.cluster.FlushAudit(ctx) == nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("flush the audit log: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	events, next, err := a.cluster.AuditLog().Since(a.offset, isControllerWrite)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	a.offset = next
	for _, event := range events {
		_, identity, _ := strings.Cut(event.UserAgent, " ")
		of, _, _ := strings.Cut(identity, ".")
		a.events[of] = append(a.events[of], event)
	}
	return slices.Clone(a.events[namespace]), nil
}

// forget drops what is known of a namespace.
func (a *auditor) forget(namespace string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.events, namespace)
}

// hashKey is the Secret with the controller's key for the hashes of Secret contents.
const hashKey = "fairlead-config-hash-key"

// isControllerWrite selects the same requests as isWrite does in the transport, but not the one for the controller's own
// key, whose namespace no program has.
func isControllerWrite(e *auditlog.Event) bool {
	return strings.HasPrefix(e.UserAgent, controllerAgent) && e.Stage == auditlog.ResponseComplete && e.IsWrite() &&
		!slices.Contains([]string{"events", "leases"}, e.Resource) && e.Name != hashKey
}

// audited returns the writes of this controller that the API server has carried out. All must be in its namespace (I5). When it
// sent them, the transport knows: a write that passes it by passes the fence by, too.
func (w *world) audited(ctx context.Context) ([]write, error) {
	events, err := w.common.audit.writes(ctx, w.namespace)
	if err != nil {
		return nil, err
	}
	w.network.mu.Lock()
	sent := maps.Clone(w.network.sent)
	w.network.mu.Unlock()
	var writes []write
	for _, event := range events {
		next, found := sent[event.ID]
		if !found || !strings.HasSuffix(event.UserAgent, " "+next.identity) {
			return nil, violated("I4", "the API server carried out a write that no replica is known to have sent: %s", event)
		}
		if event.Namespace != "" && event.Namespace != w.namespace {
			return nil, violated("I5", "the controller of namespace %s wrote in another one: %s", w.namespace, event)
		}
		next.at, next.ok = event.Completed, event.Code < 300
		next.verb, next.resource, next.subresource, next.name = event.Verb, event.Resource, event.Subresource, event.Name
		writes = append(writes, next)
	}
	return writes, nil
}
