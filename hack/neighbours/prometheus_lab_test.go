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
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const (
	monitoringNamespace = "monitoring"
	certSecret          = "fairlead-controller-certs"
	// fairleadPool are the targets of the ServiceMonitor that Fairlead ships.
	fairleadPool = "serviceMonitor/fairlead-system/fairlead-controller/0"
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
	// prometheusObject asks for a Prometheus that takes every ServiceMonitor and every rule. It has the version of the binary.
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
metadata: {name: orders, namespace: shop}
spec:
  image: registry.example.com/web:1
  replicas: 2
  ports: [{name: http, containerPort: 8080}, {name: metrics, containerPort: 9797, servicePort: 9000}]
  monitoring: {port: metrics, path: /internal/metrics}
`
)

// dashboards are those that Fairlead ships.
var dashboards = []dashboard{
	{"operator", "fairlead-dashboard", "dashboard.json"}, {"applications", "fairlead-applications-dashboard", "applications.json"},
}

type dashboard struct{ name, configMap, key string }

// of returns the dashboard as Grafana gets it.
func (d dashboard) of(t testing.TB, shipped []*unstructured.Unstructured) string {
	t.Helper()
	content, _, err := unstructured.NestedString(pick(t, shipped, "ConfigMap", d.configMap).Object, "data", d.key)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// monitoring is a lab with what Fairlead ships for Prometheus, and with everything that makes a configuration of it.
type monitoring struct {
	*lab
	shipped               []*unstructured.Unstructured
	binary, version, host string
}

// newMonitoring starts the Prometheus operator and kube-state-metrics.
func newMonitoring(t *testing.T) *monitoring {
	t.Helper()
	binary, version := prometheusBinary(t)
	m := &monitoring{host: controlplane.HostAddress(t).String(), lab: newLab(t), binary: binary, version: version}
	source := m.moduleDir("prometheus-operator", "github.com/prometheus-operator/prometheus-operator")
	m.cluster.InstallCRDs(t, filepath.Join(source, "example", "prometheus-operator-crd"))
	m.namespaces(operatorNamespace, monitoringNamespace, team)
	m.shipped = m.kustomize("hack/neighbours/testdata/monitoring")
	for _, object := range m.shipped {
		if slices.Contains([]string{"Lease", "Service", "ClusterRole", "ServiceMonitor", "PrometheusRule"}, object.GetKind()) {
			m.applyObjects(object)
		}
	}

	m.applyObjects(m.decode(m.readFile(source, "example", "rbac", "prometheus-operator", "prometheus-operator-cluster-role.yaml"))...)
	const operator = "prometheus-operator"
	m.account(monitoringNamespace, operator, operator)
	command := m.neighbour(operator, "--web.listen-address=127.0.0.1:0")
	command.Env = append(command.Env, "KUBECONFIG="+m.kubeconfigOf(monitoringNamespace, operator))
	m.start(command)

	const stateMetrics = "kube-state-metrics"
	m.account(monitoringNamespace, stateMetrics, "fairlead-application-metrics-reader")
	stateMetricsURL, err := url.Parse(m.kubeStateMetrics(m.shipped, m.kubeconfigOf(monitoringNamespace, stateMetrics), m.host))
	if err != nil {
		t.Fatal(err)
	}
	m.apply(stateMetricsService)
	m.serves(monitoringNamespace, stateMetrics, stateMetrics+"-1", "http-metrics", m.host, stateMetricsURL.Port())
	return m
}

// addController starts a replica of the controller, as if it were the pod, and returns the port of its webhooks.
func (m *monitoring) addController(pod string) (webhookPort string) {
	m.Helper()
	metricsPort, webhookPort := m.freePort(m.host), m.freePort("127.0.0.1")
	m.controller("--leader-elect", "--operator-namespace="+operatorNamespace, "--cert-secret="+certSecret,
		"--metrics-bind-address="+m.host+":"+metricsPort, "--webhook-bind-address=127.0.0.1:"+webhookPort)
	m.serves(operatorNamespace, "fairlead-metrics", pod, "metrics", m.host, metricsPort)
	return webhookPort
}

// prometheus starts Prometheus, which scrapes so often. It may not scrape the controller yet.
func (m *monitoring) prometheus(interval time.Duration) *prometheus {
	m.Helper()
	m.apply(prometheusAccess)
	m.account(monitoringNamespace, "prometheus", "prometheus")
	m.apply(fmt.Sprintf(prometheusObject, m.version, m.cluster.Config().Host))
	return m.lab.prometheus(m.binary, interval)
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
func (l *lab) serves(namespace, service, pod, portName, host, port string) {
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
		ObjectMeta:  metav1.ObjectMeta{Name: pod, Labels: labels},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{{
			Addresses: []string{host}, TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: pod},
		}},
		Ports: []discoveryv1.EndpointPort{{Name: new(portName), Port: new(int32(number))}},
	}, metav1.CreateOptions{})
	if err != nil {
		l.Fatal(err)
	}
}

// review sends the webhooks what the API server would send, so that they have something to count. The second one decides.
func (l *lab) review(port, image string, allowed bool) {
	l.Helper()
	trusted := x509.NewCertPool()
	l.eventually("the webhooks have a certificate", func(ctx context.Context) (bool, string) {
		secret, err := l.kube.CoreV1().Secrets(operatorNamespace).Get(ctx, certSecret, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return trusted.AppendCertsFromPEM(secret.Data["ca.crt"]), "no CA"
	})
	body := fmt.Sprintf(`{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
		"uid": "1", "operation": "CREATE", "namespace": "shop", "name": "web", "userInfo": {"username": "somebody"},
		"kind": {"group": "apps.fairlead.dev", "version": "v1", "kind": "Application"},
		"resource": {"group": "apps.fairlead.dev", "version": "v1", "resource": "applications"},
		"object": {"apiVersion": "apps.fairlead.dev/v1", "kind": "Application", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"image": %q}}}}`, image)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, ServerName: "fairlead-webhook." + operatorNamespace + ".svc"}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for path, wanted := range map[string]bool{"/mutate/applications": true, "/validate/applications": allowed} {
		l.eventually(fmt.Sprintf("%s answers %t", path, wanted), func(ctx context.Context) (bool, string) {
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
			return err == nil && strings.Contains(string(content), fmt.Sprintf(`"allowed":%t`, wanted)), string(content)
		})
	}
}
