// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/debug/live"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const root = "../../../.."

// controller is the command, on a control plane.
type controller struct {
	t       *testing.T
	program string
	args    []string
	address string
	process *exec.Cmd
	log     string
}

// build compiles the command and chooses an address, which stays the same when it is started again.
func build(t *testing.T, kubeconfig, namespace string) *controller {
	t.Helper()
	directory := t.TempDir()
	c := &controller{t: t, program: filepath.Join(directory, "fairlead-controller"), log: filepath.Join(directory, "log")}
	command := exec.CommandContext(t.Context(), "go", "-C", root, "build", "-trimpath", "-buildvcs=false", "-o", c.program, "./cmd/fairlead-controller")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build the command: %v\n%s", err, output)
	}
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.address = listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	c.args = []string{"--kubeconfig=" + kubeconfig, "--namespace=" + namespace, "--debug-bind-address=" + c.address}
	t.Cleanup(func() {
		if c.process != nil {
			_ = c.process.Process.Kill()
			_ = c.process.Wait()
		}
		if content, err := os.ReadFile(c.log); err == nil && t.Failed() {
			t.Logf("the controller says\n%s", content)
		}
	})
	return c
}

func (c *controller) url() string { return "http://" + c.address + live.Root }

// start returns when the page is served.
func (c *controller) start() {
	c.t.Helper()
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	c.process = exec.Command(c.program, c.args...) // It ends by stop or with the test.
	c.process.Stdout, c.process.Stderr = log, log
	if err := c.process.Start(); err != nil {
		c.t.Fatal(err)
	}
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	until(c.t, "the page is served", func() bool {
		request, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.url(), http.NoBody)
		if err != nil {
			return false
		}
		response, err := client.Do(request)
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// stop ends it as a kubelet does.
func (c *controller) stop() {
	c.t.Helper()
	if err := c.process.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	if err := c.process.Wait(); err != nil {
		c.t.Errorf("the controller ended with %v", err)
	}
	c.process = nil
}

// TestRealController creates an Application and follows its key to the writes; sees another one fail; and survives a
// restart of the controller.
func TestRealController(t *testing.T) {
	cluster := controlplane.ForTest(t)
	cluster.InstallCRDs(t, filepath.Join(root, "artifacts", "crds"))
	namespace := cluster.Namespace(t)
	kube, fairlead := kubernetes.NewForConfigOrDie(cluster.Config()), versioned.NewForConfigOrDie(cluster.Config())
	c := build(t, cluster.Kubeconfig(), namespace)
	c.start()
	b := open(t, c.url())
	apply := func(application *v1.Application) {
		t.Helper()
		if _, err := fairlead.AppsV1().Applications(namespace).Create(t.Context(), application, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}

	apply(application("web"))
	row := fmt.Sprintf(`[...document.querySelectorAll(".keys .key")].find((one) => one.innerText.startsWith("%s/web"))`, namespace)
	b.eventually("the key is listed", row)
	evaluate[bool](b, `(`+row+`.click(), true)`)
	b.eventually("its first sync has ended", `document.querySelector(".sync [data-type=Synced]")`)
	b.eventually("it is at rest, and its status is written",
		`document.querySelector(".standing").innerText.includes("Succeeded") && document.querySelector(".panel").textContent.includes("Status written")`)
	b.click("#only-writes")
	b.eventually("what wrote is left", `![...document.querySelectorAll(".sync .badge.good + .muted")].some((one) => one.innerText === "no write")`)
	// The oldest sync is the last one of the page.
	first := evaluate[[]string](b, `[...[...document.querySelectorAll("details.sync")].at(-1).querySelectorAll("li")].map((one) => one.dataset.type)`)
	for i, want := range []string{"WatchEvent", "Handled", "Enqueued", "Started", "Observed", "Rendered", "Step", "Wrote", "Status", "Synced"} {
		if !slices.Contains(first, want) {
			t.Errorf("the first sync has no %s, but %q", want, first)
		}
		if i > 0 && slices.Index(first, want) < slices.Index(first, "WatchEvent") {
			t.Errorf("%s comes before the watch event: %q", want, first)
		}
	}
	text := evaluate[string](b, `document.querySelector(".panel").textContent`)
	for _, says := range []string{"Event of the watch: application added", "Queued: Application added", "Created deployment", "Created service", "Updated application status"} {
		if !strings.Contains(text, says) {
			t.Errorf("the timeline does not say %q", says)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	if _, err := kube.AppsV1().Deployments(namespace).Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
		t.Errorf("what was written is not there: %v", err)
	}
	b.shoot("real-key-light")

	// A Deployment of somebody else has the name.
	taken := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "taken"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "taken"}},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "taken"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "taken", Image: "example.com/taken:1"}}},
		},
	}}
	if _, err := kube.AppsV1().Deployments(namespace).Create(t.Context(), taken, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	apply(application("taken"))
	b.eventually("the failing key is first", fmt.Sprintf(`document.querySelector(".keys .failing .key")?.innerText.startsWith("%s/taken")`, namespace))
	b.scheme("dark")
	b.eventually("the colours are dark", `document.documentElement.dataset.theme === "dark"`)
	b.shoot("real-key-dark")
	b.scheme("light")

	b.press("[data-stage=store]", kb.Enter)
	b.eventually("the cache can be looked into", `document.querySelector("[aria-label='Objects in the cache'] tbody tr")`)
	b.choose("#cache-resource", "deployments.apps")
	b.eventually("the Deployment is in the cache", `[...document.querySelectorAll("[aria-label='Objects in the cache'] tbody td:first-child")].some((one) => one.innerText.endsWith("/web"))`)
	b.shoot("real-store")
	b.press("[data-stage=watch]", kb.Enter)
	b.eventually("the informers watch", `document.querySelectorAll("[aria-label=Informers] .badge.good").length > 5`)
	b.shoot("real-watch")
	if complaints := b.heard(); len(complaints) > 0 {
		t.Errorf("the browser complains: %q", complaints)
	}

	b.run(back(), back())
	b.eventually("the key is followed again", `document.querySelector(".panel-title").innerText.endsWith("/web") && document.querySelector("#only-writes[aria-pressed=true]")`)
	b.click("#only-writes")
	c.stop()
	b.eventually("it says that nothing comes", `document.querySelector(".connection.lost") && document.querySelector(".notice.warn")`)
	c.start()
	b.eventually("it says that the controller is a new one", `document.querySelector(".connection.live") && document.querySelector(".notice").innerText.startsWith("The controller was restarted.")`)
	// Which of its objects is listed first is a matter of luck.
	b.eventually("the new one tells of the key", `document.querySelector(".panel").textContent.includes(" listed") && document.querySelector(".sync .badge.good")`)
	b.expect("ERR_")
}

func application(name string) *v1.Application {
	return &v1.Application{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1.ApplicationSpec{Image: "example.com/web:1", Ports: []v1.ApplicationPort{{Name: "http", ContainerPort: 8080}}, Replicas: new(int32(2))},
	}
}
