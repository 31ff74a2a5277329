// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// secretive is an Application that uses a Secret in every way that there is.
const secretive = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web}
spec:
  image: registry.example.com/web:1
  replicas: 1
  imagePullSecrets: [{name: pull}]
  env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}]
  envFrom: [{secretRef: {name: db}}]
  mounts: [{mountPath: /secret, secret: {secretName: db}}]
`

// readable are the resources of a namespace that a tenant, or a collector of logs, may read. Secrets are not among
// them.
var readable = []schema.GroupVersionResource{
	{Group: v1.GroupName, Version: "v1", Resource: v1.ApplicationResource},
	{Group: "events.k8s.io", Version: "v1", Resource: "events"},
	{Version: "v1", Resource: "pods"},
	{Group: "apps", Version: "v1", Resource: "replicasets"},
}

// TestS6SecretsDoNotLeak looks for the content of a Secret wherever the controller tells something: it
// is in no object, no Event, no line of the log at a high level, and not on the metrics page; nor is a hash of
// it that could be guessed without a key.
func TestS6SecretsDoNotLeak(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	r := e.replica("leaks", func(s *setup) {
		s.LeaderElection.Enabled = false
		s.Serving.MetricsBindAddress = "127.0.0.1:0"
		s.Config = func(config *app.Config) { config.Client.UserAgent = controllerAgent + "leaks" }
	})
	canaries := []string{"canary-of-the-first-hour", "canary-of-the-second-hour"}
	const secret = `{apiVersion: v1, kind: Secret, metadata: {name: %s}, stringData: {password: %s, .dockerconfigjson: "{}"}}`
	e.create(secretive, fmt.Sprintf(secret, "db", canaries[0]), fmt.Sprintf(secret, "pull", canaries[0]))
	e.waitReady("web")
	edit(e, "db", func(s *corev1.Secret) { s.Data["password"] = []byte(canaries[1]) })
	e.waitEvent("web", v1.EventConfigChanged, "Deployment", "web")
	e.waitReady("web")

	var told strings.Builder
	for _, kind := range child.Kinds() {
		e.tell(&told, kind.GroupVersionResource())
	}
	for _, resource := range readable {
		e.tell(&told, resource)
	}
	code, page := e.ask("http://"+r.served("metrics")+"/metrics", "", nil)
	if code != http.StatusOK {
		t.Fatalf("the metrics page: %d %s", code, page)
	}
	told.WriteString(page)
	told.WriteString(r.log.last(1 << 20))
	if !strings.Contains(told.String(), `"web"`) {
		t.Fatal("nothing was collected")
	}
	for _, canary := range canaries {
		sum := sha256.Sum256([]byte(canary))
		for what, text := range map[string]string{"content": canary, "base64": base64.StdEncoding.EncodeToString([]byte(canary)), "hash": hex.EncodeToString(sum[:])} {
			if at := strings.Index(told.String(), text); at >= 0 {
				t.Errorf("the %s of a Secret is told: …%s…", what, told.String()[max(0, at-200):at+len(text)])
			}
		}
	}
}

// tell writes all objects of a resource in the namespace.
func (e *env) tell(to *strings.Builder, resource schema.GroupVersionResource) {
	e.Helper()
	list, err := e.dynamic.Resource(resource).Namespace(e.namespace).List(e.Context(), metav1.ListOptions{})
	if err != nil {
		e.Fatal(err)
	}
	if err := json.NewEncoder(to).Encode(list); err != nil {
		e.Fatal(err)
	}
}

// forged would be an entry of the log, in red, if it began a line.
const forged = "x\nE0101 00:00:00.000000       1 forged.go:1] \"Forged\"\r\n{\"ts\":1,\"msg\":\"Forged\"}\n\x1b[31mred"

// TestS20LogInjection gives the command Applications whose fields carry line breaks and escape
// sequences, and a server that answers with them. In both formats each entry stays one entry. In JSON,
// which the manifests choose, no terminal is told anything either; klog's text is indented, but raw.
func TestS20LogInjection(t *testing.T) {
	t.Parallel()
	program := build(t)
	header := regexp.MustCompile(`^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ ([a-z_]+\.go):\d+\] `)
	for format, check := range map[string]func(line string) string{
		"text": func(line string) string {
			found := header.FindStringSubmatch(line)
			switch {
			case found == nil && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, " >"):
				return "neither an entry nor an indented value"
			case len(found) > 1 && found[1] == "forged.go":
				return "a forged entry"
			}
			return ""
		},
		"json": func(line string) string {
			entry := struct {
				Msg    string
				Caller string
			}{}
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				return err.Error()
			}
			switch {
			case entry.Msg == "Forged" || entry.Caller == "":
				return "a forged entry"
			case strings.ContainsAny(line, "\x1b\r"):
				return "a control character"
			}
			return ""
		},
	} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, shared.Get(t))
			p := program.start(t, "--kubeconfig="+kubeconfig(t, e.forging()), "--namespace="+e.namespace, "--logging-format="+format, "--v=6")
			e.inject()
			p.waitFor("forged.go") // As a part of a value, in an entry of the controller's own.
			p.signal(syscall.SIGTERM)
			p.exits(0)
			for line := range strings.SplitSeq(strings.TrimSpace(p.output.String()), "\n") {
				if problem := check(line); problem != "" {
					t.Errorf("%s: %q", problem, line)
				}
			}
		})
	}
}

// forging is a way to the API server of the test on which every Service is refused with a hostile
// message, as an admission webhook could.
func (e *env) forging() (address string) {
	e.Helper()
	config := e.cluster.Config()
	transport, err := rest.TransportFor(config)
	if err != nil {
		e.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		e.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport, proxy.FlushInterval = transport, -1
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/services") {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: forged,
		})
	}))
	e.Cleanup(func() {
		server.Close()
		utilnet.CloseIdleConnectionsFor(transport)
	})
	return server.URL
}

// inject makes Applications with a hostile text in each field that takes any, and waits for the sync.
func (e *env) inject() {
	e.Helper()
	for name, change := range map[string]func(*v1.Application){
		"annotations": func(a *v1.Application) {
			a.Annotations = map[string]string{"note": forged}
			a.Spec.PodMetadata = &v1.PodMetadata{Annotations: map[string]string{"note": forged}}
			a.Spec.Command, a.Spec.Env = []string{"/web", forged}, []corev1.EnvVar{{Name: "NOTE", Value: forged}}
		},
		"directory": func(a *v1.Application) { a.Spec.WorkingDir = forged },
		"sidecar":   func(a *v1.Application) { a.Spec.Sidecars = []corev1.Container{{Name: forged, Image: forged}} },
		"variable":  func(a *v1.Application) { a.Spec.Env = []corev1.EnvVar{{Name: forged, Value: "x"}} },
		"image":     func(a *v1.Application) { a.Spec.Image = "\x1b[31mred" },
		"refused": func(a *v1.Application) {
			a.Spec.Ports = []v1.ApplicationPort{{Name: "http", ContainerPort: 80}}
		},
		"selector": func(a *v1.Application) { a.Spec.NodeSelector = map[string]string{forged: forged} },
	} {
		application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.ApplicationSpec{Image: "registry.example.com/web:1"}}
		change(application)
		e.create(application)
	}
	for _, name := range []string{"directory", "sidecar", "variable", "image", "selector"} {
		e.waitCondition(name, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonInvalid)
	}
	e.waitReady("annotations")
	// What others say in the status of a child is told on.
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": forged}}}})
	if err != nil {
		e.Fatal(err)
	}
	e.patch(child.Deployment, "annotations", types.StrategicMergePatchType, string(patch), "status")
	e.patch(child.Deployment, "annotations", types.MergePatchType, `{"spec":{"progressDeadlineSeconds":100}}`)
	e.waitFields(child.Deployment, "annotations", fields{"spec.progressDeadlineSeconds": "600"})
}
