// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// prometheus is a Prometheus that runs with the configuration that the operator made.
type prometheus struct {
	*lab
	url string
}

// prometheus waits for the configuration, and starts Prometheus with it. What the operator mounts into the pod is in a
// directory here. Three things are changed: how often it scrapes, who looks for the endpoints, and the way to the pods of the
// Application, which are simulated and have no network.
func (l *lab) prometheus(binary string, interval time.Duration) *prometheus {
	l.Helper()
	dir := l.TempDir()
	var config string
	l.eventually("the operator has every ServiceMonitor and every rule", func(ctx context.Context) (bool, string) {
		secret, err := l.kube.CoreV1().Secrets(monitoringNamespace).Get(ctx, "prometheus-main", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		config = l.gunzip(secret.Data["prometheus.yaml.gz"])
		for _, part := range []string{"/fairlead-system/fairlead-controller/0", "/monitoring/kube-state-metrics/0", "/shop/orders/0", "rulefiles-0"} {
			if !strings.Contains(config, part) {
				return false, config
			}
		}
		return true, ""
	})
	l.mount(dir)
	// The config-reloader of the pod fills in which of the replicas it is.
	pod := strings.NewReplacer("/etc/prometheus", dir+"/etc/prometheus", mountedAccount, dir+mountedAccount, "$(SHARD)", "0", "$(POD_NAME)", "prometheus-main-0")
	var parsed map[string]any
	if err := yaml.Unmarshal([]byte(pod.Replace(config)), &parsed); err != nil {
		l.Fatal(err)
	}
	jobs, _ := parsed["scrape_configs"].([]any)
	for _, item := range jobs {
		job, _ := item.(map[string]any)
		job["scrape_interval"] = interval.String()
		// Debian builds Prometheus without the discovery in Kubernetes. The test does that part.
		for _, item := range asList(job["kubernetes_sd_configs"]) {
			discovery, _ := item.(map[string]any)
			namespaces, _ := discovery["namespaces"].(map[string]any)
			for _, namespace := range asList(namespaces["names"]) {
				job["static_configs"] = append(asList(job["static_configs"]), l.endpoints(fmt.Sprint(namespace))...)
			}
		}
		delete(job, "kubernetes_sd_configs")
		if job["job_name"] == "serviceMonitor/shop/orders/0" {
			job["proxy_url"] = l.podNetwork()
		}
	}
	content, err := yaml.Marshal(parsed)
	if err != nil {
		l.Fatal(err)
	}
	address := "127.0.0.1:" + l.freePort("127.0.0.1")
	started := l.start(exec.Command(binary, "--config.file="+l.writeFile(content, dir, "prometheus.yaml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address))
	started.waitFor(l, "Server is ready to receive web requests")
	return &prometheus{l, "http://" + address}
}

func asList(value any) []any {
	list, _ := value.([]any)
	return list
}

// labelName writes a key of a label as a discovery in Kubernetes does.
var labelName = regexp.MustCompile(`[^a-zA-Z0-9_]`)

// endpoints are the endpoints of all Services of a namespace, with the labels that Prometheus' discovery gives them.
func (l *lab) endpoints(namespace string) (all []any) {
	l.Helper()
	least := 1
	if namespace == team {
		least = 2 * 2 // Two pods with two ports.
	}
	slicesOf := l.kube.DiscoveryV1().EndpointSlices(namespace)
	l.eventually("a Service of "+namespace+" has all its endpoints", func(ctx context.Context) (bool, string) {
		list, err := slicesOf.List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		all = nil
		for _, slice := range list.Items {
			for _, endpoint := range slice.Endpoints {
				for _, port := range slice.Ports {
					all = append(all, map[string]any{
						"targets": []any{fmt.Sprintf("%s:%d", endpoint.Addresses[0], *port.Port)}, "labels": discovered(slice, endpoint, port),
					})
				}
			}
		}
		return len(all) >= least, fmt.Sprint(list.Items)
	})
	return all
}

func discovered(slice discoveryv1.EndpointSlice, endpoint discoveryv1.Endpoint, port discoveryv1.EndpointPort) map[string]any {
	const meta = "__meta_kubernetes_"
	labels := map[string]any{
		meta + "namespace": slice.Namespace, meta + "service_name": slice.Labels[discoveryv1.LabelServiceName],
		meta + "endpointslice_port_name": *port.Name, meta + "endpointslice_name": slice.Name,
	}
	// The slices have the labels of their Service.
	for key, value := range slice.Labels {
		name := labelName.ReplaceAllString(key, "_")
		labels[meta+"service_label_"+name], labels[meta+"service_labelpresent_"+name] = value, "true"
	}
	if pod := endpoint.TargetRef; pod != nil {
		labels[meta+"endpointslice_address_target_kind"], labels[meta+"endpointslice_address_target_name"] = pod.Kind, pod.Name
		labels[meta+"pod_name"], labels[meta+"pod_phase"] = pod.Name, string(corev1.PodRunning)
	}
	return labels
}

func (l *lab) gunzip(compressed []byte) string {
	l.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return ""
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		l.Fatal(err)
	}
	return string(content)
}

// mount writes what the pod of Prometheus has in volumes.
func (l *lab) mount(dir string) {
	l.Helper()
	core := l.kube.CoreV1()
	assets, err := core.Secrets(monitoringNamespace).Get(l.Context(), "prometheus-main-tls-assets-0", metav1.GetOptions{})
	if err != nil {
		l.Fatal(err)
	}
	for name, content := range assets.Data {
		l.writeFile(content, dir, "etc", "prometheus", "certs", name)
	}
	configMaps, err := core.ConfigMaps(monitoringNamespace).List(l.Context(), metav1.ListOptions{})
	if err != nil {
		l.Fatal(err)
	}
	for _, rules := range configMaps.Items {
		if strings.HasPrefix(rules.Name, "prometheus-main-rulefiles-") {
			for name, content := range rules.Data {
				l.writeFile([]byte(content), dir, "etc", "prometheus", "rules", rules.Name, name)
			}
		}
	}
	config := l.cluster.Config()
	if err := rest.LoadTLSFiles(config); err != nil {
		l.Fatal(err)
	}
	l.writeFile(config.CAData, dir, mountedAccount, "ca.crt")
	l.writeFile([]byte(l.token(monitoringNamespace, "prometheus")), dir, mountedAccount, "token")
}

// podNetwork is an HTTP proxy that answers for every pod of the Application.
func (l *lab) podNetwork() string {
	l.Helper()
	var orders atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/internal/metrics" || r.URL.Port() != "9797" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, "# TYPE shop_orders_total counter\nshop_orders_total %d\n", orders.Add(1))
	}))
	l.Cleanup(server.Close)
	return server.URL
}

// ask calls the API of Prometheus. An error of its own is in why.
func (p *prometheus) ask(ctx context.Context, path string, query url.Values, data any) (why string) {
	p.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/api/v1/"+path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		p.Fatal(err)
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	answer := struct {
		Status, Error string
		Warnings      []string
		Data          json.RawMessage
	}{}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		p.Fatalf("%s: %v", path, err)
	}
	if answer.Status != "success" || len(answer.Warnings) > 0 {
		return fmt.Sprintf("%s: %s %v", answer.Status, answer.Error, answer.Warnings)
	}
	if err := json.Unmarshal(answer.Data, data); err != nil {
		p.Fatalf("%s: %v\n%s", path, err, answer.Data)
	}
	return ""
}

type target struct {
	ScrapePool, ScrapeURL, Health, LastError string
	Labels                                   map[string]string
}

// waitTargets waits until a job has so many targets, all of them as wanted.
func (p *prometheus) waitTargets(pool string, count int, health, lastError string) []target {
	p.Helper()
	var found []target
	p.eventually(fmt.Sprintf("%d targets of %s are %s %s", count, pool, health, lastError), func(ctx context.Context) (bool, string) {
		var data struct{ ActiveTargets []target }
		if why := p.ask(ctx, "targets", url.Values{"state": {"active"}}, &data); why != "" {
			return false, why
		}
		found = slices.DeleteFunc(data.ActiveTargets, func(t target) bool { return t.ScrapePool != pool })
		wrong := slices.ContainsFunc(found, func(t target) bool { return t.Health != health || !strings.Contains(t.LastError, lastError) })
		return len(found) == count && !wrong, fmt.Sprint(data.ActiveTargets)
	})
	return found
}

// results is how many series a query has.
func (p *prometheus) results(ctx context.Context, query string) (count int, why string) {
	p.Helper()
	var data struct{ Result []json.RawMessage }
	why = p.ask(ctx, "query", url.Values{"query": {query}}, &data)
	return len(data.Result), why
}

func (p *prometheus) waitResult(query string) {
	p.Helper()
	p.eventually("a result of "+query, func(ctx context.Context) (bool, string) {
		count, why := p.results(ctx, query)
		return count > 0, why
	})
}

type alert struct {
	State  string
	Labels map[string]string
}

func (p *prometheus) alerts(ctx context.Context) []alert {
	p.Helper()
	var data struct{ Alerts []alert }
	if why := p.ask(ctx, "alerts", nil, &data); why != "" {
		p.Fatal(why)
	}
	return data.Alerts
}

func (p *prometheus) waitAlert(name, state, application string) {
	p.Helper()
	p.eventually(fmt.Sprintf("%s is %s for %s", name, state, application), func(ctx context.Context) (bool, string) {
		all := p.alerts(ctx)
		return slices.ContainsFunc(all, func(a alert) bool {
			return a.State == state && a.Labels["alertname"] == name && a.Labels["namespace"] == team && a.Labels["application"] == application
		}), fmt.Sprint(all)
	})
}

// wantRules wants every shipped rule to be loaded, and to be evaluated without an error.
func (p *prometheus) wantRules(shipped []*unstructured.Unstructured) {
	p.Helper()
	var want []string
	for _, object := range shipped {
		if object.GetKind() != "PrometheusRule" {
			continue
		}
		groups, _, _ := unstructured.NestedSlice(object.Object, "spec", "groups")
		for _, item := range groups {
			group, _ := item.(map[string]any)
			rules, _ := group["rules"].([]any)
			for _, item := range rules {
				rule, _ := item.(map[string]any)
				want = append(want, fmt.Sprint(rule["alert"]))
			}
		}
	}
	slices.Sort(want)
	if len(want) < 10 {
		p.Fatalf("only the rules %q are shipped", want)
	}
	p.eventually("every rule was evaluated", func(ctx context.Context) (bool, string) {
		var data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError string }
			}
		}
		if why := p.ask(ctx, "rules", nil, &data); why != "" {
			return false, why
		}
		var good []string
		for _, group := range data.Groups {
			for _, rule := range group.Rules {
				if rule.Health == "ok" && rule.LastError == "" {
					good = append(good, rule.Name)
				}
			}
		}
		slices.Sort(good)
		return slices.Equal(good, want), fmt.Sprint(data)
	})
	p.Logf("%d shipped rules are evaluated", len(want))
}

// wantPanels wants every query of a dashboard to have a result, with the variables as Grafana fills them in for everything.
func (p *prometheus) wantPanels(dashboard string) {
	p.Helper()
	var parsed struct {
		Title  string
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(dashboard), &parsed); err != nil {
		p.Fatal(err)
	}
	variables := strings.NewReplacer("$__rate_interval", "1m", "$namespace", ".+", "$application", ".*")
	queries := 0
	for _, panel := range parsed.Panels {
		for _, target := range panel.Targets {
			queries++
			query := variables.Replace(target.Expr)
			if strings.Contains(query, "$") {
				p.Errorf("panel %s of %s has a variable that this test does not know: %s", panel.Title, parsed.Title, query)
			}
			p.waitResult(query)
		}
	}
	if queries == 0 {
		p.Errorf("%s has no query", parsed.Title)
	}
	p.Logf("%s: %d queries", parsed.Title, queries)
}
