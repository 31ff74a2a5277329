// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/pkg/debug/live"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestServiceProxy opens the page as kubectl proxy and the API server's service proxy show it: below a long path, and
// with its links and redirections in the hands of others.
func TestServiceProxy(t *testing.T) {
	host := controlplane.HostAddress(t)
	cluster := controlplane.ForTest(t, controlplane.APIOnly())
	f := newFake(t)
	path := cluster.ServiceProxy(t, cluster.Namespace(t), f.serveTLS(t, host))
	proxy := kubectlProxy(t, cluster.Config())

	b := open(t, proxy.URL+path+strings.TrimSuffix(live.Root, "/")) // The redirection to the page passes both proxies too.
	if got, want := evaluate[string](b, "location.pathname"), path+live.Root; got != want {
		t.Errorf("the page is at %s, want %s", got, want)
	}
	f.publish(queued("shop", "before"))
	b.listed("shop/before")
	b.click("[data-stage=store]")
	b.eventually("the cache is shown", `document.querySelector("[aria-label='Objects in the cache'] tbody tr")`)
	b.shoot("service-proxy")
	if complaints := b.heard(); len(complaints) > 0 {
		t.Errorf("the browser complains: %q", complaints)
	}

	b.run(chromedp.KeyEvent(kb.Escape)) // Back to all events.

	f.stop()
	b.eventually("it says that nothing comes", `document.querySelector(".connection.lost")`)
	f.publish(queued("shop", "meanwhile"))
	f.restart(f.snapshot.Instance)
	b.eventually("it is live", `document.querySelector(".connection.live")`)
	b.listed("shop/meanwhile")
	b.expect("503", "ERR_") // Refused, or cut off.
}

// serveTLS serves the same by TLS at an address of this machine, and returns it with the port.
func (f *fake) serveTLS(t *testing.T, host netip.Addr) netip.AddrPort {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", netip.AddrPortFrom(host, 0).String())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(f)
	_ = server.Listener.Close() // The one that it came with.
	server.Listener = listener
	server.StartTLS()
	t.Cleanup(func() {
		f.stop() // Streams end.
		server.Close()
	})
	return netip.MustParseAddrPort(listener.Addr().String())
}

// kubectlProxy passes everything on to the API server with the credentials of a kubeconfig, as kubectl proxy does.
func kubectlProxy(t *testing.T, config *rest.Config) *httptest.Server {
	t.Helper()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport})
	t.Cleanup(server.Close)
	return server
}
