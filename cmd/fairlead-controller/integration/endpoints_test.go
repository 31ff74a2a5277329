// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const certSecret = "fairlead-controller-certs"

// served waits until the replica serves, and returns the port.
func (r *replica) served(server string) string {
	r.e.Helper()
	line := r.waitFor(`"Serving" server="` + server + `"`)
	found := regexp.MustCompile(`address=".*:(\d+)"`).FindStringSubmatch(line)
	if found == nil {
		r.e.Fatalf("no address in %s", line)
	}
	return net.JoinHostPort("127.0.0.1", found[1])
}

// ask asks once. The token and the CAs may be empty.
func (e *env) ask(url, token string, trusted *x509.CertPool) (code int, body string) {
	e.Helper()
	return e.send(http.MethodGet, url, token, trusted)
}

func (e *env) send(method, url, token string, trusted *x509.CertPool) (code int, body string) {
	e.Helper()
	request, err := http.NewRequestWithContext(e.Context(), method, url, nil)
	if err != nil {
		e.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, ServerName: "fairlead-metrics." + e.namespace + ".svc"}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport, Timeout: 20 * time.Second}).Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error() // The connection was cut.
	}
	return response.StatusCode, string(content)
}

// token makes a ServiceAccount and a token of it.
func (e *env) token(name string) string {
	e.Helper()
	accounts := e.kube.CoreV1().ServiceAccounts(e.namespace)
	if _, err := accounts.Create(e.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		e.Fatal(err)
	}
	request, err := accounts.CreateToken(e.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		e.Fatal(err)
	}
	return request.Status.Token
}

// let gives a ServiceAccount verbs on paths.
func (e *env) let(account string, verbs []string, paths ...string) {
	e.Helper()
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: e.namespace + "-" + account},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: paths, Verbs: verbs}},
	}
	if _, err := e.kube.RbacV1().ClusterRoles().Create(e.Context(), role, metav1.CreateOptions{}); err != nil {
		e.Fatal(err)
	}
	e.bind(account, role.Name)
}

// bind binds a ServiceAccount to a ClusterRole.
func (e *env) bind(account, role string) {
	e.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: e.namespace + "-" + account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: e.namespace, Name: account}},
	}
	if _, err := e.kube.RbacV1().ClusterRoleBindings().Create(e.Context(), binding, metav1.CreateOptions{}); err != nil {
		e.Fatal(err)
	}
}

// trusted are the CAs of the certificates that the controller made.
func (e *env) trusted() *x509.CertPool {
	e.Helper()
	pool := x509.NewCertPool()
	e.eventually("a certificate was made", func() (bool, string) {
		secret, err := e.kube.CoreV1().Secrets(e.namespace).Get(e.Context(), certSecret, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return pool.AppendCertsFromPEM(secret.Data["ca.crt"]), "no CA"
	})
	return pool
}

// TestS19Endpoints asks a leader and a follower (S19).
func TestS19Endpoints(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	e.releasedLease()
	serving := func(s *setup) {
		s.Serving.HealthBindAddress = "127.0.0.1:0"
		s.Serving.MetricsBindAddress = ":0"
		s.Serving.CertSecret = certSecret
	}
	one := e.replica("one", serving)
	one.waitFor("Starting workers")
	two := e.replica("two", serving, func(s *setup) { s.Serving.Profiling = true })
	trusted, stranger, reader := e.trusted(), e.token("stranger"), e.token("reader")
	e.let("reader", []string{"get"}, "/metrics", "/debug/pprof/*") // what the metrics-reader role has, and profiles
	e.apply(small)
	e.waitReady("web")

	for _, r := range []*replica{one, two} {
		health := "http://" + r.served("health")
		e.eventually(r.identity+" is ready", func() (bool, string) {
			code, body := e.ask(health+"/readyz?verbose", "", nil)
			return code == http.StatusOK, body
		})
		if code, body := e.ask(health+"/livez?verbose", "", nil); code != http.StatusOK || !strings.Contains(body, "[+]leaderElection ok") {
			t.Errorf("%s: /livez is %d %s", r.identity, code, body)
		}
		metrics := "https://" + r.served("metrics")
		for token, want := range map[string]int{"": http.StatusUnauthorized, "forged": http.StatusUnauthorized, stranger: http.StatusForbidden, reader: http.StatusOK} {
			e.eventually("the roles are known", func() (bool, string) {
				code, body := e.ask(metrics+"/metrics", token, trusted)
				return code == want, body
			})
		}
		_, page := e.ask(metrics+"/metrics", reader, trusted)
		for _, want := range []string{
			"fairlead_applications 1\n", "fairlead_serving_certificate_not_after_seconds ", `workqueue_depth{name="applications"}`,
			"rest_client_requests_total{", "leader_election_master_status{name=\"" + leaseName + "\"}", "fairlead_sync_duration_seconds_bucket{",
		} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: %s is missing", r.identity, want)
			}
		}
		profiles := map[*replica]int{one: http.StatusNotFound, two: http.StatusOK}
		if code, _ := e.ask(metrics+"/debug/pprof/heap", reader, trusted); code != profiles[r] {
			t.Errorf("%s: a profile gets %d, want %d", r.identity, code, profiles[r])
		}
		if code, _ := e.ask(metrics+"/debug/pprof/heap", stranger, trusted); code != http.StatusForbidden {
			t.Errorf("%s: a stranger's profile gets %d", r.identity, code)
		}
		if code, body := e.ask("http"+strings.TrimPrefix(metrics, "https")+"/metrics", reader, nil); code == http.StatusOK {
			t.Errorf("%s: plain HTTP gets %d %s", r.identity, code, body)
		}
	}
}

// TestS19LiveView asks for the live view as in a cluster: beside the metrics, with the role that ships (S19).
func TestS19LiveView(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	e.releasedLease()
	serving := func(s *setup) {
		s.Serving.MetricsBindAddress = ":0"
		s.Serving.CertSecret = certSecret
	}
	leader := e.replica("leader", serving, func(s *setup) { s.Serving.DebugPipeline = true })
	leader.waitFor("Starting workers")
	usual := e.replica("usual", serving)
	trusted := e.trusted()
	// scraper may read the metrics, and operator more than the role has.
	scraper, reader, operator := e.token("scraper"), e.token("reader"), e.token("operator")
	e.let("scraper", []string{"get"}, "/metrics")
	e.let("operator", []string{"get", "head", "post", "delete"}, "/debug/pipeline/*")
	e.applyAnywhere(e.manifest("rbac/users/live-view.yaml"))
	e.bind("reader", "fairlead-pipeline-reader")
	e.apply(small)
	e.waitReady("web")

	const page, view = "/debug/pipeline/", "/debug/pipeline/v1/snapshot"
	for _, test := range []struct {
		replica             *replica
		method, path, token string
		want                int
	}{
		{leader, http.MethodGet, view, "", http.StatusUnauthorized},
		{leader, http.MethodGet, view, "forged", http.StatusUnauthorized},
		{leader, http.MethodGet, view, scraper, http.StatusForbidden},
		{leader, http.MethodGet, page, scraper, http.StatusForbidden},
		{leader, http.MethodGet, view, reader, http.StatusOK},
		{leader, http.MethodGet, page, reader, http.StatusOK},
		{leader, http.MethodGet, "/metrics", reader, http.StatusForbidden},
		{leader, http.MethodPost, view, reader, http.StatusForbidden},
		{leader, http.MethodHead, view, operator, http.StatusOK},
		{leader, http.MethodPost, view, operator, http.StatusMethodNotAllowed},
		{leader, http.MethodDelete, page, operator, http.StatusMethodNotAllowed},
		{usual, http.MethodGet, view, "", http.StatusUnauthorized},
		{usual, http.MethodGet, view, reader, http.StatusNotFound},
		{usual, http.MethodGet, page, reader, http.StatusNotFound},
	} {
		url := "https://" + test.replica.served("metrics") + test.path
		e.eventually(fmt.Sprintf("%s %s of %s gets %d", test.method, test.path, test.replica.identity, test.want), func() (bool, string) {
			code, body := e.send(test.method, url, test.token, trusted)
			return code == test.want, fmt.Sprint(code, " ", body)
		})
	}

	t.Run("by the service proxy", func(t *testing.T) { liveViewByServiceProxy(t, e, leader, view, reader) })

	_, body := e.ask("https://"+leader.served("metrics")+view, reader, trusted)
	var snapshot debug.Snapshot
	if err := json.Unmarshal([]byte(body), &snapshot); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	wrote := slices.ContainsFunc(snapshot.Events, func(event debug.Event) bool { return event.Type == debug.TypeWrote })
	if snapshot.Version != debug.Version || len(snapshot.Stages) != len(debug.Stages()) || !wrote {
		t.Errorf("the snapshot is %s", body)
	}

	keys := "https://" + leader.served("metrics") + "/debug/pipeline/v1/keys"
	if code, body := e.ask(keys+"?limit=0", reader, trusted); code != http.StatusBadRequest || !strings.Contains(body, "limit must be a number from 1 to 5000") {
		t.Errorf("limit=0 gets %d %s", code, body)
	}
	web := `"namespace":"` + e.namespace + `","name":"web"`
	if _, body := e.ask(keys, reader, trusted); !strings.Contains(body, web) {
		t.Errorf("the keys are %s", body)
	}
	remove[v1.Application](e, "web")
	e.eventually("the live view forgets the deleted Application", func() (bool, string) {
		code, body := e.ask(keys, reader, trusted)
		return code == http.StatusOK && !strings.Contains(body, web), body
	})
}

// liveViewByServiceProxy sends a request through the API server's service proxy. The proxy removes the credentials
// from requests, so the controller refuses them all, as docs/operations.md says.
func liveViewByServiceProxy(t *testing.T, e *env, leader *replica, view, token string) {
	host := controlplane.HostAddress(t)
	port := netip.MustParseAddrPort(leader.served("metrics")).Port()
	cluster := shared.Get(t)
	path := cluster.ServiceProxy(t, e.namespace, netip.AddrPortFrom(host, port))
	client, err := rest.HTTPClientFor(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, cluster.Config().Host+path+view, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	// The API server's own refusal would be a Status.
	if err != nil || response.StatusCode != http.StatusUnauthorized || string(body) != "Unauthorized\n" {
		t.Errorf("the answer is %d %s, %v", response.StatusCode, body, err)
	}
}
