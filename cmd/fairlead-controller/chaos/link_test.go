// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// link passes connections on to a server, and can freeze: what is sent waits, and nothing is lost.
type link struct {
	listener net.Listener
	target   string

	mu          sync.Mutex
	thawed      chan struct{} // closed while the link flows
	connections []net.Conn
	running     sync.WaitGroup
}

// newLink opens a link to a server at host:port. It ends with the test.
func newLink(t *testing.T, target string) *link {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{listener: listener, target: target, thawed: make(chan struct{})}
	close(l.thawed)
	l.running.Go(l.accept)
	t.Cleanup(l.close)
	return l
}

func (l *link) accept() {
	for {
		from, err := l.listener.Accept()
		if err != nil {
			return // Closed.
		}
		to, err := net.Dial("tcp", l.target)
		if err != nil {
			_ = from.Close()
			continue
		}
		l.mu.Lock()
		l.connections = append(l.connections, from, to)
		l.mu.Unlock()
		l.running.Go(func() { l.pass(from, to) })
		l.running.Go(func() { l.pass(to, from) })
	}
}

// pass passes on what one side sends.
func (l *link) pass(from, to net.Conn) {
	defer func() { _, _ = from.Close(), to.Close() }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		l.mu.Lock()
		thawed := l.thawed
		l.mu.Unlock()
		<-thawed
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (l *link) freeze() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.thawed = make(chan struct{})
}

func (l *link) thaw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.thawed:
	default:
		close(l.thawed)
	}
}

func (l *link) close() {
	_ = l.listener.Close()
	l.thaw()
	l.mu.Lock()
	for _, conn := range l.connections {
		_ = conn.Close()
	}
	l.mu.Unlock()
	l.running.Wait()
}

// reader sends lists and watches to another API server than the rest, while there is one. It asks for any version, as a
// client without streaming lists does: for the newest one, that API server would have to ask etcd.
type reader struct {
	next    http.RoundTripper
	another *atomic.Pointer[url.URL]
}

var _ utilnet.RoundTripperWrapper = reader{}

func (r reader) WrappedRoundTripper() http.RoundTripper { return r.next }

func (r reader) RoundTrip(request *http.Request) (*http.Response, error) {
	info, err := infos.NewRequestInfo(request)
	if err != nil {
		return nil, err
	}
	another := r.another.Load()
	if another == nil || info.Verb != "list" && info.Verb != "watch" {
		return r.next.RoundTrip(request)
	}
	request = request.Clone(request.Context())
	request.URL.Host, request.Host = another.Host, ""
	if query := request.URL.Query(); query.Get("resourceVersion") == "" {
		query.Set("resourceVersion", "0")
		request.URL.RawQuery = query.Encode()
	}
	return r.next.RoundTrip(request)
}
