// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

var (
	certificates = schema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "certificates"}
	secrets      = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	runtimes     = schema.GroupVersionResource{Group: "subresources.apps.fairlead.dev", Version: "v1alpha1", Resource: "applications"}
	// configurations are those whose CA cainjector writes, by kind.
	configurations = map[string]schema.GroupVersionResource{
		"MutatingWebhookConfiguration":   {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"},
		"ValidatingWebhookConfiguration": {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"},
	}
)

const (
	// localService leads kube-apiserver, which resolves this type itself, to a process on this machine.
	localService = `{apiVersion: v1, kind: Service, metadata: {name: %s, namespace: fairlead-system}, spec: {type: ExternalName, externalName: localhost}}`
	// localAPIService is what the controller registers where it can resolve the Service's name, which it cannot on this machine.
	localAPIService = `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1alpha1.subresources.apps.fairlead.dev}
spec:
  group: subresources.apps.fairlead.dev
  version: v1alpha1
  groupPriorityMinimum: 100
  versionPriority: 100
  caBundle: %s
  service: {name: fairlead-apiserver, namespace: fairlead-system, port: %s}
`
	// secured is the Application of docs/guides/certificates.md, with an issuer that needs no network.
	secured = `
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: letsencrypt}
spec: {selfSigned: {}}
---
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web, namespace: shop}
spec:
  image: registry.example.com/web:1
  ports:
  - {name: http, containerPort: 8080}
  routes:
  - name: public
    type: Ingress
    hostnames: [web.example.com]
    tls: {secretName: web-tls}
    annotations:
      cert-manager.io/cluster-issuer: letsencrypt
`
)

// certified is Fairlead as the component cert-manager installs it.
type certified struct {
	*lab
	volume      *secretVolume
	host        string // where the metrics are served: at a loopback address, they are plain HTTP
	webhookPort string
	metricsPort string
	apiPort     string
	requests    int
}

// TestCertManager lets cert-manager issue and renew the certificate of the controller and of the aggregated API server. The
// objects are those of the components cert-manager and aggregated-api, and the chart's are the same: hack/chart compares them.
func TestCertManager(t *testing.T) {
	l := newLab(t)
	const name = "cert-manager"
	l.cluster.InstallCRDs(t, filepath.Join(l.moduleDir(name, "github.com/cert-manager/cert-manager"), "deploy", "crds"))
	l.namespaces(name, team)
	l.start(l.neighbour(name, "--kubeconfig="+l.cluster.Kubeconfig()))
	host := controlplane.HostAddress(t).String()
	c := &certified{lab: l, host: host, webhookPort: l.freePort("127.0.0.1"), metricsPort: l.freePort(host), apiPort: l.freePort("127.0.0.1")}
	c.install(l.kustomize("hack/artifacts/testdata/aggregated-api-cert-manager"))

	// An Application goes through the webhooks, and its Ingress gets a certificate.
	l.eventually("the webhooks refuse what only they check", func(ctx context.Context) (bool, string) {
		c.volume.sync(ctx)
		err := c.try(ctx, `{"image": "registry.example.com/web:1", "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}`)
		return err != nil && strings.Contains(err.Error(), `admission webhook "validate.applications.apps.fairlead.dev" denied the request`), fmt.Sprint(err)
	})
	l.apply(secured)
	l.waitReady("web")
	l.eventually("cert-manager issues the certificate of the Ingress", func(ctx context.Context) (bool, string) {
		secret, err := l.objects.Resource(secrets).Namespace(team).Get(ctx, "web-tls", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		leaf := leafOf(decoded(secret, "tls.crt"))
		return leaf != nil && leaf.VerifyHostname("web.example.com") == nil, describe(leaf)
	})
	l.waitReady("web")

	first := c.issued(t.Context())
	c.waitServed("first", first)

	// A renewal, as cmctl renew asks for it.
	live, err := l.objects.Resource(certificates).Namespace(operatorNamespace).Get(t.Context(), "fairlead-controller", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	conditions = append(conditions, map[string]any{
		"type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "message": "Renewed by the test",
		"lastTransitionTime": time.Now().UTC().Format(time.RFC3339), "observedGeneration": live.GetGeneration(),
	})
	if err := unstructured.SetNestedSlice(live.Object, conditions, "status", "conditions"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.objects.Resource(certificates).Namespace(operatorNamespace).UpdateStatus(t.Context(), live, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	renewed := c.waitIssued("renewed", first)
	c.waitServed("renewed", renewed)

	// A new key after the Secret was deleted, as operations.md says for a key that has leaked.
	if err := l.objects.Resource(secrets).Namespace(operatorNamespace).Delete(t.Context(), certSecret, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.waitServed("issued again", c.waitIssued("issued again", renewed))
	t.Logf("%d requests with three certificates, none of which failed", c.requests)
}

// install applies the objects, lets cert-manager issue the certificates, and starts the controller and the aggregated API server
// with the arguments and the accounts that the Deployments give them.
func (c *certified) install(shipped []*unstructured.Unstructured) {
	c.Helper()
	kinds := []string{"Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Lease", "Issuer", "Certificate"}
	for _, object := range shipped {
		switch {
		case slices.Contains(kinds, object.GetKind()):
		case configurations[object.GetKind()].Resource != "":
			c.toLocalPort(object)
		default:
			continue
		}
		c.applyObjects(object)
	}
	c.apply(fmt.Sprintf(localService, "fairlead-webhook"))
	c.apply(fmt.Sprintf(localService, "fairlead-apiserver"))
	for _, name := range []string{"fairlead-ca", "fairlead-controller"} {
		c.eventually("Certificate "+name+" is Ready", func(ctx context.Context) (bool, string) {
			certificate, err := c.objects.Resource(certificates).Namespace(operatorNamespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			return conditionOf(certificate, "Ready").Status == metav1.ConditionTrue, fmt.Sprint(certificate.Object["status"])
		})
	}

	controller, server := pick(c, shipped, "Deployment", "fairlead-controller"), pick(c, shipped, "Deployment", "fairlead-apiserver")
	c.volume = c.newSecretVolume(controller)
	c.volume.sync(c.Context())
	kubeconfig := "--kubeconfig="
	run := c.command("fairlead-controller", append(c.volume.arguments(controller), kubeconfig+c.kubeconfigOf(operatorNamespace, "fairlead-controller"),
		"--health-bind-address=127.0.0.1:0", "--metrics-bind-address="+c.host+":"+c.metricsPort, "--webhook-bind-address=127.0.0.1:"+c.webhookPort, "--shutdown-delay=0s")...)
	run.Env = append(run.Env, "POD_NAMESPACE="+operatorNamespace)
	c.start(run).waitFor(c.lab, "Caches synced")
	// Its own arguments name the same files.
	c.start(c.command("fairlead-apiserver", append(c.volume.arguments(server), kubeconfig+c.kubeconfigOf(operatorNamespace, "fairlead-apiserver"),
		"--bind-address=127.0.0.1", "--secure-port="+c.apiPort, "--shutdown-delay=0s")...))
	c.apply(fmt.Sprintf(localAPIService, base64.StdEncoding.EncodeToString([]byte(c.readFile(c.volume.dir, "ca.crt"))), c.apiPort))

	for kind, resource := range configurations {
		c.eventually("cainjector has written the CA into the "+kind, func(ctx context.Context) (bool, string) {
			configuration, err := c.objects.Resource(resource).Get(ctx, "fairlead", metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			bundles := caBundles(configuration)
			wrong := slices.ContainsFunc(bundles, func(bundle string) bool { return bundle != c.readFile(c.volume.dir, "ca.crt") })
			return len(bundles) > 0 && !wrong, fmt.Sprintf("%q", bundles)
		})
	}
	c.eventually("the aggregated API server answers", func(ctx context.Context) (bool, string) {
		_, err := c.objects.Resource(runtimes).Namespace(team).List(ctx, metav1.ListOptions{})
		return err == nil, fmt.Sprint(err)
	})
}

// toLocalPort changes the port of webhooks to that of the controller, since a Service of type ExternalName maps none.
func (c *certified) toLocalPort(configuration *unstructured.Unstructured) {
	c.Helper()
	webhooks, _, _ := unstructured.NestedSlice(configuration.Object, "webhooks")
	for _, item := range webhooks {
		webhook, _ := item.(map[string]any)
		if err := unstructured.SetNestedField(webhook, c.number(c.webhookPort), "clientConfig", "service", "port"); err != nil {
			c.Fatal(err)
		}
	}
	configuration.Object["webhooks"] = webhooks
}

// try creates an Application and keeps none. Both webhooks see it.
func (c *certified) try(ctx context.Context, spec string) error {
	object := c.decode(`{"apiVersion": "apps.fairlead.dev/v1", "kind": "Application", "metadata": {"name": "tried", "namespace": "shop"}, "spec": ` + spec + `}`)[0]
	_, err := c.objects.Resource(applications).Namespace(team).Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// issued is the certificate in the Secret, or nil.
func (c *certified) issued(ctx context.Context) *x509.Certificate {
	c.Helper()
	secret, err := c.objects.Resource(secrets).Namespace(operatorNamespace).Get(ctx, certSecret, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return leafOf(decoded(secret, "tls.crt"))
}

// waitIssued waits for a certificate with another key, and sends requests meanwhile.
func (c *certified) waitIssued(what string, before *x509.Certificate) (leaf *x509.Certificate) {
	c.Helper()
	c.eventually("the certificate is "+what, func(ctx context.Context) (bool, string) {
		c.request(ctx)
		leaf = c.issued(ctx)
		return leaf != nil && !slices.Equal(leaf.RawSubjectPublicKeyInfo, before.RawSubjectPublicKeyInfo), describe(leaf)
	})
	return leaf
}

// waitServed waits until every port serves the certificate, and sends requests until it has done so for a while.
func (c *certified) waitServed(what string, leaf *x509.Certificate) {
	c.Helper()
	const enough, ports = 10, 3
	for range enough {
		c.eventually("the "+what+" certificate is served", func(ctx context.Context) (bool, string) {
			c.volume.sync(ctx)
			current := c.request(ctx)
			other := slices.ContainsFunc(current, func(one *x509.Certificate) bool { return !one.Equal(leaf) })
			return len(current) == ports && !other, fmt.Sprintf("%d of %d ports answer; one has another certificate: %t", len(current), ports, other)
		})
	}
}

// request sends a request through each of the webhooks and to the aggregated API server, over connections that kube-apiserver
// may keep, and makes a new connection to each port as kube-apiserver does. It returns what the ports serve. No failure is
// accepted.
func (c *certified) request(ctx context.Context) (served []*x509.Certificate) {
	c.Helper()
	if err := c.try(ctx, `{"image": "registry.example.com/web:1"}`); err != nil {
		c.Fatalf("request %d: create an Application: %v", c.requests, err)
	}
	if _, err := c.objects.Resource(runtimes).Namespace(team).List(ctx, metav1.ListOptions{}); err != nil {
		c.Fatalf("request %d: list with the aggregated API server: %v", c.requests, err)
	}
	configuration, err := c.objects.Resource(configurations["ValidatingWebhookConfiguration"]).Get(ctx, "fairlead", metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM([]byte(caBundles(configuration)[0]))
	for service, address := range map[string]string{
		"fairlead-webhook": "127.0.0.1:" + c.webhookPort, "fairlead-metrics": c.host + ":" + c.metricsPort, "fairlead-apiserver": "127.0.0.1:" + c.apiPort,
	} {
		dialer := tls.Dialer{Config: &tls.Config{RootCAs: trusted, ServerName: service + "." + operatorNamespace + ".svc"}}
		connection, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			c.Fatalf("request %d: connect to %s: %v", c.requests, service, err)
		}
		if secured, isTLS := connection.(*tls.Conn); isTLS {
			served = append(served, secured.ConnectionState().PeerCertificates[0])
		}
		if err := connection.Close(); err != nil {
			c.Fatal(err)
		}
	}
	c.requests += 2 + len(served)
	return served
}

// caBundles are the CAs that a configuration trusts, one for each webhook.
func caBundles(configuration *unstructured.Unstructured) (bundles []string) {
	webhooks, _, _ := unstructured.NestedSlice(configuration.Object, "webhooks")
	for _, item := range webhooks {
		webhook, _ := item.(map[string]any)
		encoded, _, _ := unstructured.NestedString(webhook, "clientConfig", "caBundle")
		bundle, _ := base64.StdEncoding.DecodeString(encoded)
		bundles = append(bundles, string(bundle))
	}
	return bundles
}

func decoded(secret *unstructured.Unstructured, key string) []byte {
	encoded, _, _ := unstructured.NestedString(secret.Object, "data", key)
	content, _ := base64.StdEncoding.DecodeString(encoded)
	return content
}

// leafOf is the first certificate of a chain, or nil.
func leafOf(chain []byte) *x509.Certificate {
	block, _ := pem.Decode(chain)
	if block == nil {
		return nil
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	return leaf
}

func describe(leaf *x509.Certificate) string {
	if leaf == nil {
		return "none"
	}
	return fmt.Sprintf("%s for %q", leaf.SerialNumber, leaf.DNSNames)
}
