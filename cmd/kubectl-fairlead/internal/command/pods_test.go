// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestPodsOf: one selector has the pods of several Applications, but for those that lack the label.
func TestPodsOf(t *testing.T) {
	named := func(name, selector string) *v1.Application {
		application := &v1.Application{Status: v1.ApplicationStatus{Selector: selector}}
		application.Name = name
		return application
	}
	web, api, adopted := named("web", "apps.fairlead.dev/application=web"), named("api", ""), named("shop", "app=shop")
	for _, test := range []struct {
		of         []*v1.Application
		want, fail string
	}{
		{of: []*v1.Application{api}, want: "apps.fairlead.dev/application=api"},
		{of: []*v1.Application{adopted}, want: "app=shop"},
		{of: []*v1.Application{web, api}, want: "apps.fairlead.dev/application in (web,api)"},
		{of: []*v1.Application{web, adopted}, fail: "the pods of shop have no label of it before their first rollout: print their logs in a command of their own"},
	} {
		got, err := podsOf(test.of)
		if got != test.want || (err != nil || test.fail != "") && (err == nil || err.Error() != test.fail) {
			t.Errorf("%q, %v, want %q, %q", got, err, test.want, test.fail)
		}
	}
}

// TestCheckStarted: kubectl prints no logs of pods that do not exist or have no node, and says nothing of why.
func TestCheckStarted(t *testing.T) {
	flags := genericclioptions.NewTestConfigFlags().WithClientConfig(clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), nil))
	named := func(name string) *v1.Application {
		return &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	}
	pod := func(name, of, node string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{v1.LabelApplication: of}},
			Spec:       corev1.PodSpec{NodeName: node},
		}
	}
	for _, test := range []struct {
		name string
		pods []runtime.Object
		of   []*v1.Application
		want string
	}{
		{"none", []runtime.Object{pod("other", "other", "node-1")}, []*v1.Application{named("web")},
			"there are no logs, because there is no pod of web: see 'kubectl fairlead -n shop why web'"},
		{"none of two", nil, []*v1.Application{named("web"), named("api")},
			"there are no logs, because there is no pod of web and api: see 'kubectl fairlead -n shop why web api'"},
		{"no node", []runtime.Object{pod("web-1", "web", "")}, []*v1.Application{named("web")},
			"there are no logs, because no pod of web has a node yet: see 'kubectl fairlead -n shop why web'"},
		{"one has a node", []runtime.Object{pod("web-1", "web", ""), pod("web-2", "web", "node-1")}, []*v1.Application{named("web")}, ""},
	} {
		selector, err := podsOf(test.of)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		clients := &cluster.Clients{Kube: fake.NewClientset(test.pods...)}
		if _, err := (&tool{factory: cmdutil.NewFactory(flags)}).checkStarted(t.Context(), clients, test.of, selector); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// withWeb adds the answers of an API server that has pods, and the Application web in the namespace shop.
func withWeb(answers map[string]string) map[string]string {
	maps.Copy(answers, map[string]string{
		"/version": `{"major": "1", "minor": "34"}`,
		"/api":     `{"kind": "APIVersions", "versions": ["v1"]}`,
		"/apis":    `{"kind": "APIGroupList", "apiVersion": "v1", "groups": []}`,
		"/api/v1": `{"kind": "APIResourceList", "groupVersion": "v1", "resources": [
			{"name": "pods", "kind": "Pod", "singularName": "pod", "namespaced": true, "verbs": ["get", "list"]}]}`,
		"/apis/apps.fairlead.dev/v1/namespaces/shop/applications/web": `{"apiVersion": "apps.fairlead.dev/v1", "kind": "Application", "metadata": {"namespace": "shop", "name": "web"}}`,
	})
	return answers
}

// TestLogsOfTheOthers: the user reads which Applications are missing before the logs of the others begin, which may have no end.
func TestLogsOfTheOthers(t *testing.T) {
	answers := withWeb(map[string]string{
		"/api/v1/namespaces/shop/pods": `{"apiVersion": "v1", "kind": "PodList", "items": [{"apiVersion": "v1", "kind": "Pod",
			"metadata": {"namespace": "shop", "name": "web-1"}, "spec": {"nodeName": "node", "containers": [{"name": "web"}]}}]}`,
		"/api/v1/namespaces/shop/pods/web-1/log": "hello\n",
	})
	var printed bytes.Buffer
	said := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, found := answers[r.URL.Path]
		if strings.HasSuffix(r.URL.Path, "/log") {
			said = printed.String()
		} else {
			w.Header().Set("Content-Type", "application/json")
		}
		if !found {
			w.WriteHeader(http.StatusNotFound)
			answer = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "message": "gone not found", "details": {"name": "gone", "kind": "applications"}}`
		}
		_, _ = w.Write([]byte(answer))
	}))
	defer server.Close()
	const missing = "error: gone not found in namespace shop\n"
	args := func() []string {
		return []string{"-n", "shop", "--server", server.URL, "--kubeconfig", os.DevNull, "--cache-dir", t.TempDir()}
	}
	for _, follow := range []string{"--follow=false", "--follow"} {
		printed.Reset()
		said = ""
		var out bytes.Buffer
		code := Run(t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &printed},
			append(args(), "logs", "gone", "web", follow))
		if code != ExitError || out.String() != "[pod/web-1/web] hello\n" || said != missing || printed.String() != missing {
			t.Errorf("%s: %d, %q, first %q, at the end %q", follow, code, out.String(), said, printed.String())
		}
	}
	answers["/api/v1/namespaces/shop/pods"] = `{"apiVersion": "v1", "kind": "PodList", "items": []}`
	printed.Reset()
	Run(t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: &printed}, append(args(), "logs", "gone", "web"))
	const refused = missing + "error: there are no logs, because there is no pod of web: see 'kubectl fairlead -n shop why web'\n"
	if printed.String() != refused {
		t.Errorf("without pods: %q, want %q", printed.String(), refused)
	}
}

// TestPodsWithoutLogs: kubectl's error ends the command, with its exit code, unless some pods have a log and others have none yet.
func TestPodsWithoutLogs(t *testing.T) {
	pod := func(restarts int32, state corev1.ContainerState) corev1.Pod {
		return corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{RestartCount: restarts, State: state}}}}
	}
	waits := pod(0, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}})
	runs := pod(0, corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
	crashes := pod(4, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}})
	for _, test := range []struct {
		pods          []corev1.Pod
		now, previous bool
	}{
		{nil, false, false},
		{[]corev1.Pod{waits, waits, {}}, false, false},
		{[]corev1.Pod{runs, runs}, false, false},
		{[]corev1.Pod{runs, waits}, true, false},
		{[]corev1.Pod{runs, crashes}, false, true},
		{[]corev1.Pod{crashes, crashes}, false, false},
		{[]corev1.Pod{waits, crashes}, true, true},
	} {
		if now, previous := someLackLogs(test.pods, false), someLackLogs(test.pods, true); now != test.now || previous != test.previous {
			t.Errorf("%+v: %t, and %t of those that exited; want %t and %t", test.pods, now, previous, test.now, test.previous)
		}
	}
}

// TestLogsOfANewContainer: old pods lack the container, and kubectl would print no log at all.
func TestLogsOfANewContainer(t *testing.T) {
	pod := func(hash string, containers ...string) corev1.Pod {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"pod-template-hash": hash}}}
		for _, name := range containers {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name})
		}
		return pod
	}
	for _, test := range []struct {
		pods       []corev1.Pod
		want, said string
	}{
		{[]corev1.Pod{pod("a", "web"), pod("b", "web", "proxy"), pod("b", "web", "proxy")}, "app=web,pod-template-hash in (b)", "1 pod has no container proxy, and is left out.\n"},
		{[]corev1.Pod{pod("a", "web"), pod("a", "web"), pod("b", "proxy")}, "app=web,pod-template-hash in (b)", "2 pods have no container proxy, and are left out.\n"},
		{[]corev1.Pod{pod("a", "web"), pod("b", "web")}, "app=web", ""},
		{[]corev1.Pod{pod("a", "proxy"), pod("b", "proxy")}, "app=web", ""},
		{[]corev1.Pod{pod("a", "web"), pod("", "proxy")}, "app=web", ""},
	} {
		var said bytes.Buffer
		tool := &tool{IOStreams: genericiooptions.IOStreams{ErrOut: &said}}
		if got := tool.withContainer("app=web", test.pods, "proxy"); got != test.want || said.String() != test.said {
			t.Errorf("%q, %q; want %q, %q", got, said.String(), test.want, test.said)
		}
	}
}

// TestLogsDuringARollout: the old pods of a rollout have not exited, which hides nothing of what the new one said before it did.
func TestLogsDuringARollout(t *testing.T) {
	pod := func(name, restarts string) string {
		return `{"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": "` + name + `"}, "spec": {"nodeName": "node", "containers": [{"name": "web"}]},
			"status": {"containerStatuses": [{"name": "web", "restartCount": ` + restarts + `, "state": {"running": {}}}]}}`
	}
	const unreadable = `previous terminated container "web" in pod "%s" not found`
	answers := withWeb(map[string]string{
		"/api/v1/namespaces/shop/pods":           `{"apiVersion": "v1", "kind": "PodList", "items": [` + pod("old-1", "0") + "," + pod("old-2", "0") + "," + pod("new-1", "4") + `]}`,
		"/api/v1/namespaces/shop/pods/new-1/log": "no database\n",
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, found := answers[r.URL.Path]
		if parts := strings.Split(r.URL.Path, "/"); !found {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			message, _ := json.Marshal(fmt.Sprintf(unreadable, parts[len(parts)-2]))
			answer = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "BadRequest", "code": 400, "message": ` + string(message) + `}`
		} else if !strings.HasSuffix(r.URL.Path, "/log") {
			w.Header().Set("Content-Type", "application/json")
		}
		_, _ = w.Write([]byte(answer))
	}))
	defer server.Close()
	var out bytes.Buffer
	code := Run(t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: io.Discard}, []string{
		"-n", "shop", "--server", server.URL, "--kubeconfig", os.DevNull, "--cache-dir", t.TempDir(), "logs", "web", "--previous",
	})
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	slices.Sort(got)
	want := []string{"[pod/new-1/web] no database", "error: " + fmt.Sprintf(unreadable, "old-1"), "error: " + fmt.Sprintf(unreadable, "old-2")}
	if code != 0 || !slices.Equal(got, want) {
		t.Errorf("%d, %q, want %q", code, got, want)
	}
}
