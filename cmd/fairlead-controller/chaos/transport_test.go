// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// moment is when a fault meets a request.
type moment string

const (
	// before: the request never leaves.
	before moment = "before"
	// sent: the API server has carried it out, and its answer is lost.
	sent moment = "sent"
	// answered: the answer arrives, and then the fault.
	answered moment = "answered"
)

// rule is a fault that waits for the nth write.
type rule struct {
	nth  int
	when moment
	// code is the status of the answer that the API server gives in the place of its own; 0 breaks the connection.
	code int
	// crash ends the process at that moment.
	crash bool
}

// write is a request that would change something, as the transport saw it.
type write struct {
	// identity is the run of the controller that sent it.
	identity string
	// sent is when the controller let it go, and at when its answer arrived.
	sent, at                          time.Time
	verb, resource, subresource, name string
	ok                                bool
}

// network is what lies between the controller of one namespace and the API server. It outlives restarts of the
// controller, and is safe for concurrent use.
type network struct {
	// late are the requests of a paused process that arrive when it goes on.
	late sync.WaitGroup

	mu    sync.Mutex
	rules []*rule
	down  bool
	// sent are the writes that left, by their name in the audit log, and writes those that have ended.
	sent   map[string]write
	writes []write
	// faultAt is when a request last met a fault.
	faultAt time.Time
	// forbidden and gone are resources whose requests are answered 403, and whose next watch is answered 410.
	forbidden, gone sets.Set[string]
	// frozen are resources whose watches deliver nothing until the channel is closed.
	frozen  map[string]chan struct{}
	streams map[*stream]bool
}

func newNetwork() *network {
	return &network{sent: map[string]write{}, forbidden: sets.New[string](), gone: sets.New[string](), frozen: map[string]chan struct{}{}, streams: map[*stream]bool{}}
}

// connection is the part of the network that one process uses. It ends with its process.
type connection struct {
	*network
	// crash is called when a rule ends the process.
	crash func()
	gate  *gate
	dead  chan struct{}
	once  *sync.Once
	// next and identity are those of one run.
	next     http.RoundTripper
	identity string
}

var (
	errBroken = errors.New("chaos: connection reset by peer")
	infos     = request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
)

func (c *connection) WrappedRoundTripper() http.RoundTripper { return c.next }

// kill ends the process, as the API server sees it: nothing is sent any more, nothing arrives.
func (c *connection) kill() {
	c.once.Do(func() { close(c.dead) })
	for _, s := range c.streamsOf("") {
		if s.connection.dead == c.dead {
			_ = s.Close()
		}
	}
}

func (c *connection) isDead() bool {
	select {
	case <-c.dead:
		return true
	default:
		return false
	}
}

// RoundTrip sends a request, unless a fault is due.
func (c *connection) RoundTrip(r *http.Request) (*http.Response, error) {
	info, err := infos.NewRequestInfo(r)
	if err != nil {
		return nil, err
	}
	sent := time.Now()
	if answer, err := c.refused(r, info); answer != nil || err != nil {
		closeBody(r)
		return answer, err
	}
	due := c.due(info)
	if due != nil && due.when == before {
		closeBody(r)
		return c.strike(r, due, nil)
	}
	if err := c.pass(r); err != nil {
		if isWrite(info) {
			c.deliverLate(r, info, sent)
		}
		closeBody(r)
		return nil, err
	}
	response, err := c.send(r, info, sent)
	if err != nil {
		return nil, err
	}
	if err := c.pass(r); err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	switch {
	case due != nil:
		return c.strike(r, due, response)
	case info.Verb == "watch":
		response.Body = c.open(info.Resource, response.Body)
	}
	return response, nil
}

// send passes a request on, and records the answer.
func (c *connection) send(r *http.Request, info *request.RequestInfo, sent time.Time) (*http.Response, error) {
	if !isWrite(info) {
		return c.next.RoundTrip(r)
	}
	next, auditID := write{identity: c.identity, sent: sent}, string(uuid.NewUUID())
	c.mu.Lock()
	c.sent[auditID] = next
	c.mu.Unlock()
	r = r.Clone(r.Context())
	r.Header.Set(auditIDHeader, auditID)
	response, err := c.next.RoundTrip(r)
	c.record(next, info, response)
	return response, err
}

// pass waits while the process is paused. The client may give up meanwhile.
func (c *connection) pass(r *http.Request) error {
	opened := c.gate.held()
	if opened == nil {
		return nil
	}
	select {
	case <-opened:
	case <-r.Context().Done():
		return context.Cause(r.Context())
	case <-c.dead:
	}
	c.disturbed()
	if c.isDead() {
		return errBroken
	}
	return nil
}

// lateTimeout bounds a request that arrives late.
const lateTimeout = time.Minute

// deliverLate sends a request that its client gave up while the process was paused: it was on its way, and arrives when the
// process goes on.
func (c *connection) deliverLate(r *http.Request, info *request.RequestInfo, sent time.Time) {
	opened := c.gate.held()
	body, err := copyBody(r)
	if err != nil || opened == nil {
		return
	}
	c.late.Go(func() {
		select {
		case <-opened:
		case <-c.dead:
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), lateTimeout)
		defer cancel()
		late := r.Clone(ctx)
		late.Body = io.NopCloser(bytes.NewReader(body))
		if answer, err := c.refused(late, info); answer != nil || err != nil { //nolint:bodyclose // It is in memory.
			return
		}
		if response, err := c.send(late, info, sent); err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
	})
}

// copyBody returns the body of a request, which the client may reuse once it has an answer.
func copyBody(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	if r.GetBody == nil {
		return nil, errors.New("the body can be read only once")
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(body)
}

// refused returns what lasting faults answer.
func (c *connection) refused(r *http.Request, info *request.RequestInfo) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.isDead() || c.down:
		c.faultAt = time.Now()
		return nil, errBroken
	case info.IsResourceRequest && c.forbidden.Has(info.Resource):
		c.faultAt = time.Now()
		return statusResponse(r, http.StatusForbidden), nil
	case info.Verb == "watch" && c.gone.Has(info.Resource):
		c.faultAt = time.Now()
		c.gone.Delete(info.Resource)
		return statusResponse(r, http.StatusGone), nil
	}
	return nil, nil
}

// disturbed notes that a fault meets the controller now.
func (n *network) disturbed() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faultAt = time.Now()
}

func (n *network) lastFault() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.faultAt
}

// due returns the rule that the request meets, and counts it for the others.
func (c *connection) due(info *request.RequestInfo) *rule {
	if !isWrite(info) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var due *rule
	for _, armed := range c.rules {
		armed.nth--
		if armed.nth == 0 && due == nil {
			due = armed
		}
	}
	if due != nil {
		c.faultAt = time.Now()
	}
	c.rules = slices.DeleteFunc(c.rules, func(armed *rule) bool { return armed.nth <= 0 })
	return due
}

// strike lets a rule happen to a request and its response; nil if the request was not sent.
func (c *connection) strike(r *http.Request, due *rule, response *http.Response) (*http.Response, error) {
	if due.crash {
		c.kill()
		c.crash()
	}
	if response != nil && due.when == answered {
		return response, nil
	}
	if response != nil {
		_ = response.Body.Close()
	}
	if due.code != 0 {
		return statusResponse(r, due.code), nil
	}
	return nil, errBroken
}

// isWrite reports whether a request changes objects that the oracles are about.
func isWrite(info *request.RequestInfo) bool {
	return info.IsResourceRequest && slices.Contains([]string{"create", "update", "patch", "delete"}, info.Verb) &&
		info.Resource != "events" && info.Resource != "leases" && !strings.HasSuffix(info.Resource, "reviews")
}

// record completes a write that was answered, or not.
func (c *connection) record(w write, info *request.RequestInfo, response *http.Response) {
	w.at, w.verb, w.resource, w.subresource, w.name = time.Now(), info.Verb, info.Resource, info.Subresource, info.Name
	w.ok = response != nil && response.StatusCode < 300
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes = append(c.writes, w)
}

// statusResponse is an answer of the API server that carries nothing but an error.
func statusResponse(r *http.Request, code int) *http.Response {
	reasons := map[int]metav1.StatusReason{
		http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusConflict: metav1.StatusReasonConflict, http.StatusGone: metav1.StatusReasonExpired,
		http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests, http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable,
		http.StatusInternalServerError: metav1.StatusReasonInternalError,
	}
	body, _ := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reasons[code], Message: "chaos",
	})
	header := http.Header{"Content-Type": {"application/json"}}
	if code == http.StatusTooManyRequests {
		header.Set("Retry-After", "1")
	}
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}
