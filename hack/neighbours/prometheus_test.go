// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const (
	monitoringNamespace = "monitoring"
	certSecret          = "fairlead-controller-certs"
	// mountedAccount is where a pod has the token of its ServiceAccount.
	mountedAccount = "/var/run/secrets/kubernetes.io/serviceaccount"
	// prometheusAccess is what the documents of the operator give to Prometheus, so that it finds targets.
	prometheusAccess = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: prometheus}
rules:
- apiGroups: [""]
  resources: [nodes, services, endpoints, pods]
  verbs: [get, list, watch]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [get, list, watch]
`
	// prometheusObject asks for a Prometheus that takes every ServiceMonitor and every rule. Its version is that of the binary.
	prometheusObject = `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: monitoring}
spec:
  version: %q
  serviceAccountName: prometheus
  serviceDiscoveryRole: EndpointSlice
  serviceMonitorSelector: {}
  serviceMonitorNamespaceSelector: {}
  ruleSelector: {}
  ruleNamespaceSelector: {}
  evaluationInterval: 1s
  apiserverConfig:
    host: %s
    authorization: {type: Bearer, credentialsFile: /var/run/secrets/kubernetes.io/serviceaccount/token}
    tlsConfig: {caFile: /var/run/secrets/kubernetes.io/serviceaccount/ca.crt}
`
	// stateMetricsService is kube-state-metrics as its manifests have it, scraped as docs/neighbours.md says.
	stateMetricsService = `
apiVersion: v1
kind: Service
metadata: {name: kube-state-metrics, namespace: monitoring, labels: {app.kubernetes.io/name: kube-state-metrics}}
spec:
  selector: {app.kubernetes.io/name: kube-state-metrics}
  ports: [{name: http-metrics, port: 8080, targetPort: http-metrics}]
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: kube-state-metrics, namespace: monitoring}
spec:
  selector: {matchLabels: {app.kubernetes.io/name: kube-state-metrics}}
  endpoints: [{port: http-metrics, honorLabels: true}]
`
	monitored = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: monitored, namespace: shop}
spec:
  image: registry.example.com/web:1
  replicas: 2
  ports: [{name: http, containerPort: 8080}, {name: metrics, containerPort: 9797, servicePort: 9000}]
  monitoring: {port: metrics, path: /internal/metrics}
`
)

// TestPrometheus lets the Prometheus operator make the configuration of a real Prometheus from what Fairlead ships and from the
// ServiceMonitor of an Application, and looks at what that Prometheus makes of it.
func TestPrometheus(t *testing.T) {
	binary, version := prometheusBinary(t)
	host := controlplane.HostAddress(t).String()
	l := newLab(t)
	source := l.moduleDir("prometheus-operator", "github.com/prometheus-operator/prometheus-operator")
	l.cluster.InstallCRDs(t, filepath.Join(source, "example", "prometheus-operator-crd"))
	l.namespaces(operatorNamespace, monitoringNamespace, team)
	shipped := l.kustomize("hack/neighbours/testdata/monitoring")
	for _, object := range shipped {
		if slices.Contains([]string{"Lease", "Service", "ClusterRole", "ServiceMonitor", "PrometheusRule"}, object.GetKind()) {
			l.applyObjects(object)
		}
	}
	metricsPort, webhookPort := l.freePort(host), l.freePort("127.0.0.1")
	l.controller("--leader-elect", "--operator-namespace="+operatorNamespace, "--cert-secret="+certSecret,
		"--metrics-bind-address="+host+":"+metricsPort, "--webhook-bind-address=127.0.0.1:"+webhookPort)
	l.serves(operatorNamespace, "fairlead-metrics", "metrics", host, metricsPort)

	l.applyObjects(l.decode(l.readFile(source, "example", "rbac", "prometheus-operator", "prometheus-operator-cluster-role.yaml"))...)
	const operator = "prometheus-operator"
	l.account(monitoringNamespace, operator, operator)
	command := l.neighbour(operator, "--web.listen-address=127.0.0.1:0")
	command.Env = append(command.Env, "KUBECONFIG="+l.kubeconfigOf(monitoringNamespace, operator))
	l.start(command)

	const stateMetrics = "kube-state-metrics"
	l.account(monitoringNamespace, stateMetrics, "fairlead-application-metrics-reader")
	stateMetricsURL, err := url.Parse(l.kubeStateMetrics(shipped, l.kubeconfigOf(monitoringNamespace, stateMetrics), host))
	if err != nil {
		t.Fatal(err)
	}
	l.apply(stateMetricsService)
	l.serves(monitoringNamespace, stateMetrics, "http-metrics", host, stateMetricsURL.Port())

	l.apply(states)
	l.apply(monitored)
	for _, name := range []string{"ready", "monitored", "rolled-back"} {
		l.waitReady(name)
	}
	l.patch("rolled-back", `{"spec":{"image":"registry.example.com/simulate/image-pull-error:2"}}`)
	l.waitCondition("rolled-back", "RolledBack", "True", "RolledBack")
	l.review(webhookPort)

	l.apply(prometheusAccess)
	l.account(monitoringNamespace, "prometheus", "prometheus")
	l.apply(fmt.Sprintf(prometheusObject, version, l.cluster.Config().Host))
	p := l.prometheus(binary)

	// The token is checked.
	const fairleadPool = "serviceMonitor/fairlead-system/fairlead-controller/0"
	p.waitTargets(fairleadPool, 1, "down", "403")
	l.bind(monitoringNamespace, "prometheus", "fairlead-metrics-reader")
	p.waitTargets(fairleadPool, 1, "up", "")
	p.waitTargets("serviceMonitor/monitoring/kube-state-metrics/0", 1, "up", "")
	for _, target := range p.waitTargets("serviceMonitor/shop/monitored/0", 2, "up", "") {
		if !strings.HasSuffix(target.ScrapeURL, ":9797/internal/metrics") || target.Labels["namespace"] != team || target.Labels["service"] != "monitored" {
			t.Errorf("the Application is scraped at %s, with the labels %v", target.ScrapeURL, target.Labels)
		}
	}
	p.waitResult(`count(shop_orders_total{namespace="shop", job="monitored"}) == 2`)

	p.wantRules(shipped)
	p.waitAlert("ApplicationRolledBack", "firing", "rolled-back")
	for _, name := range []string{"waiting", "crashing"} {
		p.waitAlert("ApplicationNotReady", "pending", name)
	}
	l.eventually("nothing is wrong with the controller", func(ctx context.Context) (bool, string) {
		for _, alert := range p.alerts(ctx) {
			if strings.HasPrefix(alert.Labels["alertname"], "Fairlead") {
				return false, fmt.Sprint(alert)
			}
		}
		return true, ""
	})

	for _, dashboard := range []struct{ configMap, key string }{
		{"fairlead-dashboard", "dashboard.json"}, {"fairlead-applications-dashboard", "applications.json"},
	} {
		content, _, err := unstructured.NestedString(pick(t, shipped, "ConfigMap", dashboard.configMap).Object, "data", dashboard.key)
		if err != nil {
			t.Fatal(err)
		}
		p.wantPanels(content)
	}
}

// prometheusBinary finds Debian's Prometheus.
func prometheusBinary(t *testing.T) (binary, version string) {
	t.Helper()
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatalf("%v: install it: apt-get install --no-install-recommends prometheus", err)
	}
	output, err := exec.CommandContext(t.Context(), binary, "--version").CombinedOutput()
	if err != nil {
		t.Fatalf("prometheus --version: %v\n%s", err, output)
	}
	// prometheus, version 2.42.0+ds (branch: ...
	words := strings.Fields(string(output))
	if len(words) < 3 {
		t.Fatalf("prometheus --version says %s", output)
	}
	number, _, _ := strings.Cut(words[2], "+")
	t.Logf("Prometheus %s", words[2])
	return binary, "v" + number
}

// serves makes a port of this machine an endpoint of a Service. It is that of a pod which no node runs, so the control plane
// itself would not list it.
func (l *lab) serves(namespace, service, portName, host, port string) {
	l.Helper()
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		l.Fatal(err)
	}
	owner, err := l.kube.CoreV1().Services(namespace).Get(l.Context(), service, metav1.GetOptions{})
	if err != nil {
		l.Fatal(err)
	}
	labels := maps.Clone(owner.Labels)
	labels[discoveryv1.LabelServiceName] = service
	_, err = l.kube.DiscoveryV1().EndpointSlices(namespace).Create(l.Context(), &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: service + "-test", Labels: labels},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{{
			Addresses: []string{host}, TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: service + "-1"},
		}},
		Ports: []discoveryv1.EndpointPort{{Name: new(portName), Port: new(int32(number))}},
	}, metav1.CreateOptions{})
	if err != nil {
		l.Fatal(err)
	}
}

// review sends the webhooks what the API server would send, so that they have something to count.
func (l *lab) review(port string) {
	l.Helper()
	trusted := x509.NewCertPool()
	l.eventually("the webhooks have a certificate", func(ctx context.Context) (bool, string) {
		secret, err := l.kube.CoreV1().Secrets(operatorNamespace).Get(ctx, certSecret, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return trusted.AppendCertsFromPEM(secret.Data["ca.crt"]), "no CA"
	})
	const body = `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
		"uid": "1", "operation": "CREATE", "namespace": "shop", "name": "web", "userInfo": {"username": "somebody"},
		"kind": {"group": "apps.fairlead.dev", "version": "v1", "kind": "Application"},
		"resource": {"group": "apps.fairlead.dev", "version": "v1", "resource": "applications"},
		"object": {"apiVersion": "apps.fairlead.dev/v1", "kind": "Application", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"image": "registry.example.com/web:1"}}}}`
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, ServerName: "fairlead-webhook." + operatorNamespace + ".svc"}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for _, path := range []string{"/mutate/applications", "/validate/applications"} {
		l.eventually(path+" allows an Application", func(ctx context.Context) (bool, string) {
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://127.0.0.1:"+port+path, strings.NewReader(body))
			if err != nil {
				l.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			response, err := client.Do(request)
			if err != nil {
				return false, err.Error()
			}
			defer func() { _ = response.Body.Close() }()
			content, err := io.ReadAll(response.Body)
			return err == nil && strings.Contains(string(content), `"allowed":true`), string(content)
		})
	}
}
