// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/hack/checks/documents"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

const troubleshooting = "docs/troubleshooting.md"

// symptom makes an Application web show what an entry says, and afterwards does what the entry advises, if a test can.
type symptom struct {
	// prepare is called before the controller starts.
	prepare func(*env)
	make    func(*env)
	// advice ends the symptom; nil: it is for people.
	advice func(*env)
	// idle: no controller runs.
	idle bool
}

// symptoms are the entries of the page, by their heading.
var symptoms = map[string]symptom{
	"The image cannot be pulled": {make: web(misbehaving("image-pull-error")), advice: edited(behave)},
	"A container may not run as root": {
		make: func(e *env) {
			web(misbehaving("a-user-the-kubelet-refuses"))(e)
			e.waitCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConfigError)
			e.kubeletSays("container has runAsNonRoot and image will run as root")
		},
		advice: edited(behave),
	},
	"A container keeps exiting": {make: web(misbehaving("crash-loop")), advice: edited(behave)},
	"The pods run, and are not ready": {
		make:   web("ports: [{name: http, containerPort: 8080}], readinessProbe: {httpGet: {path: /ready}, periodSeconds: 1, failureThreshold: 1}, " + misbehaving("readiness-failing")),
		advice: edited(behave),
	},
	"No node takes the pods": {
		make:   web("nodeSelector: {" + behavior + ": unschedulable}"),
		advice: edited(func(spec *v1.ApplicationSpec) { spec.NodeSelector = nil }),
	},
	"A ConfigMap or Secret is missing": {make: func(e *env) { e.apply(using) }, advice: func(e *env) { e.create(db) }},
	"A pod waits for its volumes": {
		make: func(e *env) {
			web("")(e)
			e.waitReady("web")
			holdVolumes(e, "web")
		},
		advice: func(e *env) { setPodsReady(e, "web", corev1.ConditionTrue) },
	},
	"The quota is used up": {
		make: func(e *env) {
			e.create("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: small}\nspec: {hard: {pods: 1}}\n")
			e.eventually("the quota is counted", func() (bool, string) {
				quota := get[corev1.ResourceQuota](e, "small")
				return len(quota.Status.Hard) > 0, quota.Status.String()
			})
			web("replicas: 2")(e)
		},
		advice: edited(func(spec *v1.ApplicationSpec) { spec.Replicas = new(int32(1)) }),
	},
	"A policy refuses": {
		make: func(e *env) {
			e.create("apiVersion: v1\nkind: LimitRange\nmetadata: {name: small}\nspec: {limits: [{type: Container, max: {memory: 16Mi}}]}\n")
			e.eventually("the LimitRange works", func() (bool, string) {
				probe := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "probe", Image: "probe", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("32Mi")}},
				}}}}
				_, err := e.kube.CoreV1().Pods(e.namespace).Create(e.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				return err != nil && strings.Contains(err.Error(), "maximum memory usage"), fmt.Sprint(err)
			})
			web("resources: {limits: {memory: 32Mi}}")(e)
		},
		advice: edited(func(spec *v1.ApplicationSpec) { spec.Resources = nil }),
	},
	"The name is taken": {
		prepare: func(e *env) {
			e.create("apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n")
		},
		make:   web("ports: [{name: http, containerPort: 8080}]"),
		advice: func(e *env) { remove[corev1.Service](e, "web") },
	},
	"A rollout is stuck, and the old pods serve": {make: afterward("", withBadImage), advice: edited(withGoodImage)},
	"It has no pods, although it is autoscaled": {
		make: func(e *env) {
			web("resources: {requests: {cpu: 10m}}, autoscaling: {minReplicas: 2, maxReplicas: 4, targetCPUUtilizationPercentage: 70}")(e)
			e.waitReady("web")
			e.patch(child.Deployment, "web", types.MergePatchType, `{"spec":{"replicas":0}}`, "scale")
		},
		advice: func(*env) {}, // The command of the entry is the advice.
	},
	"It was rolled back": {make: afterward("progressDeadlineSeconds: 3, rollback: {policy: OnFailure}", withBadImage), advice: edited(withGoodImage)},
	"The revision to go back to is missing": {
		make:   afterward("replicas: 2", func(spec *v1.ApplicationSpec) { spec.Rollback = &v1.Rollback{ToRevision: new(int64(99))} }),
		advice: edited(func(spec *v1.ApplicationSpec) { spec.Rollback = nil }),
	},
	"Nothing rolls out": {
		make: afterward("", func(spec *v1.ApplicationSpec) {
			spec.Paused = new(true)
			withGoodImage(spec)
		}),
		advice: func(*env) {}, // The command of the entry is the advice.
	},
	"It differs from the spec, and stays so": {
		make: func(e *env) {
			afterward("", func(spec *v1.ApplicationSpec) {
				spec.ReconcilePolicy = v1.ReconcileObserve
				withGoodImage(spec)
			})(e)
			e.waitCondition("web", v1.ConditionDrifted, metav1.ConditionTrue, v1.ReasonDrifted)
		},
		advice: func(e *env) {
			e.deleteChild(child.Deployment, "web")
			e.waitCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonDrifted)
			e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.ReconcilePolicy = v1.ReconcileEnforce })
		},
	},
	"The spec is invalid": {
		make: afterward("", func(spec *v1.ApplicationSpec) {
			spec.Resources = &corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
			}
		}),
		advice: edited(func(spec *v1.ApplicationSpec) { spec.Resources = nil }),
	},
	"Another Application has the host name": {
		make: func(e *env) {
			const routed = "ports: [{name: http, containerPort: 8080}], routes: [{name: public, hostnames: [troubleshooting.example.com]}]"
			applySpec(routed)(e, "shop")
			e.waitReady("shop")
			web(routed)(e)
		},
		advice: edited(func(spec *v1.ApplicationSpec) { spec.Routes[0].Hostnames = []string{"other.example.com"} }),
	},
	"The class does not exist": {
		make:   web("className: absent"),
		advice: edited(func(spec *v1.ApplicationSpec) { spec.ClassName = "" }),
	},
	"It is ready, and a change of the Deployment disappears": {
		make: func(e *env) {
			web("")(e)
			e.waitReady("web")
			e.patch(child.Deployment, "web", types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"registry.example.com/other:1"}]}}}}`)
			e.waitFields(child.Deployment, "web", fields{"spec.template.spec.containers[0].image": "registry.example.com/web:1"})
			e.waitReady("web")
		},
	},
	"It is ready, and a change of the Deployment stays": {
		make: func(e *env) {
			web("")(e)
			e.waitReady("web")
			e.patch(child.Deployment, "web", types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"MODE","value":"test"}]}]}}}}`)
			e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.MinReadySeconds = new(int32(1)) }) // It is not taken back.
			e.waitReady("web")
			e.waitFields(child.Deployment, "web", fields{"spec.template.spec.containers[0].env[*].name": "MODE"})
		},
	},
	"Nothing happens at all": {make: web(""), idle: true},
}

// notOnSimulatedNodes are commands of the page that simulated nodes cannot answer.
var notOnSimulatedNodes = []string{"kubectl logs "}

// TestTroubleshooting reproduces every entry of the page that begins with what kubectl get shows, and types what the entry says.
func TestTroubleshooting(t *testing.T) {
	t.Parallel()
	entries := troubleshootingEntries(t)
	for _, title := range slices.Sorted(maps.Keys(symptoms)) {
		if !slices.ContainsFunc(entries, func(entry entry) bool { return entry.title == title }) {
			t.Errorf("%s has no entry %q", troubleshooting, title)
		}
	}
	kubectl := buildKubectl(t)
	for _, entry := range entries {
		t.Run(strings.ReplaceAll(entry.title, ",", ""), func(t *testing.T) {
			t.Parallel()
			s, known := symptoms[entry.title]
			if !known {
				t.Fatal("nothing here reproduces the entry")
			}
			e := newEnv(t, shared.Get(t))
			if s.prepare != nil {
				s.prepare(e)
			}
			if !s.idle {
				e.run(unreviewedAccounts)
			}
			s.make(e)
			e.shows(entry)
			e.types(kubectl, entry)
			if s.advice != nil {
				s.advice(e)
				e.waitReady("web")
			}
		})
	}
}

// entry is a part of the page.
type entry struct {
	title string
	// columns and cells are the table that kubectl get shows.
	columns, cells []string
	// text is everything that is no block, and commands is what to type.
	text     string
	commands []string
}

// troubleshootingEntries reads the page.
func troubleshootingEntries(t *testing.T) []entry {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(troubleshooting)))
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(content), "\n## By what kubectl get shows\n")
	page, _, found := strings.Cut(page, "\n## ")
	if !found {
		t.Fatal("the page has no entries, or nothing after them")
	}
	var entries []entry
	for part := range strings.SplitSeq(page, "\n### ") {
		title, body, isEntry := strings.Cut(part, "\n")
		if !isEntry || strings.TrimSpace(title) == "" {
			continue
		}
		blocks := regexp.MustCompile("(?s)```text\n(.*?)```").FindAllStringSubmatch(body, -1)
		if len(blocks) != 2 {
			t.Fatalf("%s has %d blocks, not what kubectl get shows and what to type", title, len(blocks))
		}
		table := strings.Split(strings.TrimSpace(blocks[0][1]), "\n")
		if len(table) != 2 {
			t.Fatalf("%s shows %d lines, not a heading and an Application", title, len(table))
		}
		entries = append(entries, entry{
			title: title, columns: strings.Fields(table[0]), cells: strings.Fields(table[1]), text: body,
			commands: documents.Block{Language: "sh", Text: blocks[1][1]}.Commands(),
		})
	}
	return entries
}

// quotedWhy are the texts that an entry quotes of the column WHY.
var quotedWhy = regexp.MustCompile("WHY says `([^`]+)`")

// shows waits until kubectl get shows what the entry says, and until WHY says what it quotes.
func (e *env) shows(entry entry) {
	e.Helper()
	e.eventually("kubectl get shows "+strings.Join(entry.cells, " "), func() (bool, string) {
		row := e.cells("web")
		var got []string
		for _, column := range entry.columns {
			got = append(got, row[strings.ToUpper(column)])
		}
		for _, why := range quotedWhy.FindAllStringSubmatch(entry.text, -1) {
			if !strings.HasPrefix(why[1], strings.TrimRight(row["WHY"], "….")) {
				return false, row["WHY"]
			}
		}
		return slices.Equal(got, entry.cells), strings.Join(got, " ")
	})
}

// cells are what kubectl get shows of an Application, by the heading of the column.
func (e *env) cells(name string) map[string]string {
	e.Helper()
	var table metav1.Table
	body, err := e.fairlead.AppsV1().RESTClient().Get().Namespace(e.namespace).Resource("applications").Name(name).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(e.Context())
	if err == nil {
		err = json.Unmarshal(body, &table)
	}
	if err != nil || len(table.Rows) != 1 {
		e.Fatalf("get a table: %d rows: %v", len(table.Rows), err)
	}
	cells := map[string]string{}
	for i, column := range table.ColumnDefinitions {
		cells[strings.ToUpper(column.Name)] = fmt.Sprint(table.Rows[0].Cells[i])
	}
	return cells
}

// types runs the commands of an entry. What asks for a field must find it.
func (e *env) types(kubectl string, entry entry) {
	e.Helper()
	for _, command := range entry.commands {
		if slices.ContainsFunc(notOnSimulatedNodes, func(prefix string) bool { return strings.HasPrefix(command, prefix) }) {
			e.Logf("not run: %s: the simulated nodes have no logs", command)
			continue
		}
		// A namespace that the command names comes later and wins.
		typed := strings.Replace(command, "kubectl ", "kubectl --namespace="+e.namespace+" ", 1)
		process := exec.CommandContext(e.Context(), "bash", "-euo", "pipefail", "-c", typed)
		process.Env = append(os.Environ(), "PATH="+kubectl+string(os.PathListSeparator)+os.Getenv("PATH"), "KUBECONFIG="+e.cluster.Kubeconfig())
		var output, errput bytes.Buffer
		process.Stdout, process.Stderr = &output, &errput
		if err := process.Run(); err != nil {
			e.Errorf("%s: %v\n%s", command, err, errput.String())
		}
		e.Logf("$ %s\n%s%s", command, output.String(), errput.String())
		if strings.Contains(command, "jsonpath") && strings.TrimSpace(output.String()) == "" {
			e.Errorf("%s finds nothing", command)
		}
		if strings.Contains(command, "kubectl events") && !strings.Contains(output.String(), "Repaired Deployment web") {
			e.Errorf("%s does not say what was repaired:\n%s", command, output.String())
		}
	}
}

// web makes the Application web with a spec.
func web(spec string) func(*env) {
	return func(e *env) {
		e.Helper()
		applySpec(spec)(e, "web")
	}
}

// afterward changes the spec of web when it is Ready.
func afterward(spec string, change func(*v1.ApplicationSpec)) func(*env) {
	return func(e *env) {
		e.Helper()
		web(spec)(e)
		e.waitReady("web")
		e.editSpec("web", change)
	}
}

func edited(change func(*v1.ApplicationSpec)) func(*env) {
	return func(e *env) {
		e.Helper()
		e.editSpec("web", change)
	}
}

func withBadImage(spec *v1.ApplicationSpec) {
	spec.Image = "registry.example.com/simulate/image-pull-error:2"
}

func withGoodImage(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:3" }

// kubeletSays puts a kubelet's words in place of those of a simulated one.
func (e *env) kubeletSays(message string) {
	e.Helper()
	pods, err := e.kube.CoreV1().Pods(e.namespace).List(e.Context(), metav1.ListOptions{LabelSelector: v1.LabelApplication + "=web"})
	if err != nil || len(pods.Items) != 1 {
		e.Fatalf("%d pods: %v", len(pods.Items), err)
	}
	pod := &pods.Items[0]
	pod.Status.ContainerStatuses[0].State.Waiting.Message = message + fmt.Sprintf(` (pod: "%s_%s(%s)", container: web)`, pod.Name, pod.Namespace, pod.UID)
	if _, err := e.kube.CoreV1().Pods(e.namespace).UpdateStatus(e.Context(), pod, metav1.UpdateOptions{}); err != nil {
		e.Fatal(err)
	}
}

// buildKubectl compiles kubectl, since the machine may have none, or an old one. It returns its directory.
func buildKubectl(t *testing.T) string {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "tools")
	command := exec.CommandContext(context.WithoutCancel(t.Context()), "go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(directory, "kubectl"), ".")
	command.Dir = filepath.Join("..", "..", "..", "hack", "tools", "kubectl")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build kubectl: %v\n%s", err, output)
	}
	return directory
}
