// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubectl/pkg/cmd/create"
	"k8s.io/kubectl/pkg/cmd/explain"
	"k8s.io/kubectl/pkg/cmd/get"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/testing/aggregated"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestKubectl runs kubectl's own commands against the aggregated API, and compares what they print with docs/subresources.md. The
// cluster is its own: in the shared one the server would answer the other tests too.
func TestKubectl(t *testing.T) {
	t.Parallel()
	p := &plugin{TB: t, namespace: "shop", cluster: controlplane.ForTest(t)}
	p.cluster.InstallCRDs(t, "../../artifacts/crds")
	p.fairlead = versioned.NewForConfigOrDie(p.cluster.Config())
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	if _, err := kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.control()
	p.serve()
	p.create("cart", "{image: example.com/cart:1, replicas: 2, ports: [{name: http, containerPort: 8080}], resources: {requests: {cpu: 100m, memory: 64Mi}}}")
	p.create("search", "{image: example.com/simulate/image-pull-error:1}")
	views := p.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(p.namespace)
	p.eventually("the views", func() bool {
		cart, err := views.Get(t.Context(), "cart", metav1.GetOptions{})
		if err != nil || cart.Ready != metav1.ConditionTrue || cart.Pods != (v1alpha1.PodCounts{Desired: 2, Ready: 2}) {
			return false
		}
		search, err := views.Get(t.Context(), "search", metav1.GetOptions{})
		return err == nil && search.OldestProblem != nil && search.Reason == search.OldestProblem.Reason
	})

	// kube-apiserver reads the schema of an aggregated API some time after it is available.
	p.eventually("kubectl explains the aggregated API", func() bool {
		_, err := p.kubectl("", []string{"explain", "applicationruntime.oldestProblem"})
		return err == nil
	})
	const path = "/apis/subresources.apps.fairlead.dev/v1alpha1/namespaces/shop/applications/cart/"
	var session strings.Builder
	for _, step := range []struct {
		line, stdin string
		// shown turns the output of kubectl into what the line prints.
		shown func(output string) (string, error)
	}{
		{line: "kubectl get applicationruntimes -o wide", shown: redraw},
		{line: "kubectl explain applicationruntime.oldestProblem"},
		{line: "kubectl get --raw " + path + "tree | jq -c '.nodes[] | [.kind, .name, .health]'", shown: nodes},
		{
			line:  "kubectl create --raw " + path + "restart -f - <<< '{}' | jq .metadata.generation",
			stdin: `{"apiVersion":"subresources.apps.fairlead.dev/v1alpha1","kind":"RestartOptions"}`,
			shown: generation,
		},
	} {
		command, _, _ := strings.Cut(step.line, " | ")
		command, _, _ = strings.Cut(command, " <<< ")
		output, err := p.kubectl(step.stdin, strings.Fields(command)[1:])
		if err == nil && step.shown != nil {
			output, err = step.shown(output)
		}
		if err != nil {
			t.Fatalf("%s: %v", step.line, err)
		}
		line := strings.Replace(step.line, "'{}'", "\\\n  '"+step.stdin+"'", 1)
		fmt.Fprintf(&session, "$ %s\n%s\n", line, output)
	}
	golden.Block(t, "../../docs/subresources.md", "## With kubectl", withoutSpace(withoutChance(session.String())))
	p.servesTenants()
	p.servesDiff()
}

// servesTenants: a user without permissions in the cluster may not read the class that decides about an Application. The server renders
// the Application for that user, so an adoption, an edit and a comparison need no class.
func (p *plugin) servesTenants() {
	p.Helper()
	class := &v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: "gold"}, Spec: v1.ApplicationClassSpec{Defaults: &v1.ApplicationDefaults{PriorityClassName: "system-cluster-critical"}}}
	if _, err := p.fairlead.AppsV1().ApplicationClasses().Create(p.Context(), class, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	rbac := kubernetes.NewForConfigOrDie(p.cluster.Config()).RbacV1()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "tenant"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"", "apps", "apps.fairlead.dev", "autoscaling", "discovery.k8s.io", "networking.k8s.io", "policy", v1alpha1.GroupName},
		Resources: []string{"*"}, Verbs: []string{"*"},
	}}}
	if _, err := rbac.Roles(p.namespace).Create(p.Context(), role, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "tenant"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "tenant"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "tenant"}},
	}
	if _, err := rbac.RoleBindings(p.namespace).Create(p.Context(), binding, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	const as = "--as=tenant"
	p.eventually("the permissions", func() bool { return p.run("get", "cart", as).code == 0 })
	p.leaveBehind("old")
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.eventually("the pods of the Deployment", func() bool {
		live, err := kube.AppsV1().Deployments(p.namespace).Get(p.Context(), "old", metav1.GetOptions{})
		return err == nil && live.Status.Replicas == 2
	})
	p.want(0, []string{"adopt", "old", "--harden", "--accept=.spec.containers[old].tty", "--dry-run=client", as}, "will be replaced once you release", "adoptionPolicy: Consented")
	if r := p.want(2, []string{"adopt", "old", as}); !strings.Contains(r.stderr, "pass --harden to apply Fairlead's restricted defaults") {
		p.Errorf("%q", r.stderr)
	}
	p.create("classed", "{image: example.com/web:1, replicas: 2, className: gold}")
	p.want(0, []string{"status", "classed", "--watch", "--timeout=60s"})
	p.want(0, []string{"set", "image", "classed", "example.com/web:2", "--dry-run=client", as}, "All 2 pods are replaced, because of containers[classed].image.")
	planned := []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: planned}, spec: {image: 'example.com/web:1', replicas: 2, className: gold}}")
	if r := p.runIn(planned, "diff", "-f", "-", as); r.code != 1 || !strings.Contains(r.stdout, "/planned: 2 pods are asked for.") {
		p.Errorf("diff of a new Application: %+v", r)
	}
}

// servesDiff: the server computes the difference, and the pods of the former ReplicaSet, which a stuck rollout has not replaced, stay.
func (p *plugin) servesDiff() {
	p.Helper()
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.create("stuck", "{image: example.com/web:1, replicas: 2}")
	p.want(0, []string{"status", "stuck", "--watch", "--timeout=60s"})
	p.want(0, []string{"set", "image", "stuck", "example.com/simulate/image-pull-error:2"})
	p.eventually("the rollout to be stuck", func() bool {
		live, err := kube.AppsV1().Deployments(p.namespace).Get(p.Context(), "stuck", metav1.GetOptions{})
		return err == nil && live.Status.Replicas == 3 && live.Status.UpdatedReplicas == 1 && p.get("stuck").Status.Revision.Current == 2
	})
	file := func(image string) []byte {
		return []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: stuck}, spec: {image: '" + image + "', replicas: 2}}")
	}
	for image, want := range map[string]string{
		"example.com/web:1": "/stuck: 1 pod is stopped, and none is started: the others are of that revision already.",
		"example.com/web:3": "/stuck: all 3 pods are replaced, because of containers[stuck].image.",
	} {
		if r := p.runIn(file(image), "diff", "-f", "-"); r.code != 1 || !strings.Contains(r.stdout, want) {
			p.Errorf("%s: %+v, want %q", image, r, want)
		}
	}
}

// serve runs the real API server, registered with kube-apiserver, until the test ends.
func (p *plugin) serve() {
	p.Helper()
	dir := p.TempDir()
	binary := filepath.Join(dir, aggregated.Name)
	build := exec.CommandContext(p.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", binary, "./cmd/"+aggregated.Name)
	build.Dir, build.Env = filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		p.Fatalf("build the API server: %v\n%s", err, output)
	}
	server, err := aggregated.Prepare(binary, p.cluster.Kubeconfig(), dir, metav1.NamespaceDefault, v1alpha1.SchemeGroupVersion)
	if err != nil {
		p.Fatal(err)
	}
	var log bytes.Buffer
	server.Command.Stdout, server.Command.Stderr = &log, &log
	if err := server.Command.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		err := errors.Join(server.Command.Process.Signal(os.Interrupt), server.Command.Wait())
		if err != nil {
			p.Errorf("the API server ended with an error: %v", err)
		}
		if p.Failed() {
			p.Logf("log of the API server:\n%s", &log)
		}
	})
	client := dynamic.NewForConfigOrDie(p.cluster.Config())
	for resource, object := range map[schema.GroupVersionResource]*unstructured.Unstructured{
		{Version: "v1", Resource: "services"}:                                     server.Service,
		{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}: server.Registration,
	} {
		if _, err := client.Resource(resource).Namespace(object.GetNamespace()).Create(p.Context(), object, metav1.CreateOptions{}); err != nil {
			p.Fatal(err)
		}
	}
}

// kubectl runs a command of kubectl in this process, in the namespace.
func (p *plugin) kubectl(stdin string, args []string) (output string, err error) {
	p.Helper()
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig, flags.Namespace, flags.CacheDir = new(p.cluster.Kubeconfig()), &p.namespace, new(p.TempDir())
	factory := cmdutil.NewFactory(flags)
	streams, in, out, errOut := genericiooptions.NewTestIOStreams()
	in.WriteString(stdin)
	command := &cobra.Command{Use: "kubectl"}
	command.AddCommand(get.NewCmdGet("kubectl", factory, streams), explain.NewCmdExplain("kubectl", factory, streams), create.NewCmdCreate(factory, streams))
	command.SetArgs(args)
	// kubectl ends the process where it fails.
	cmdutil.BehaviorOnFatal(func(message string, _ int) { panic(errors.New(message)) })
	defer cmdutil.DefaultBehaviorOnFatal()
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("%v%s", failure, errOut)
		}
	}()
	err = command.ExecuteContext(p.Context())
	return out.String(), err
}

// redraw gives the times of a table, which depend on the machine, a fixed value.
func redraw(table string) (string, error) {
	lines := strings.Split(strings.TrimRight(table, "\n"), "\n")
	var begins []int
	for _, place := range regexp.MustCompile(`\S+( \S+)*`).FindAllStringIndex(lines[0], -1) {
		begins = append(begins, place[0])
	}
	var out strings.Builder
	writer := tabwriter.NewWriter(&out, 0, 0, 3, ' ', 0)
	for _, line := range lines {
		for i, begin := range begins {
			end := len(line)
			if i+1 < len(begins) {
				end = begins[i+1]
			}
			fmt.Fprintf(writer, "%s\t", regexp.MustCompile(`^(\d+[hms])+$`).ReplaceAllString(strings.TrimSpace(line[begin:end]), "12s"))
		}
		fmt.Fprintln(writer)
	}
	err := writer.Flush()
	return out.String(), err
}

// nodes is what jq prints of the nodes of a tree.
func nodes(tree string) (string, error) {
	var decoded struct {
		Nodes []struct{ Kind, Name, Health string }
	}
	err := json.Unmarshal([]byte(tree), &decoded)
	var out strings.Builder
	for _, node := range decoded.Nodes {
		fmt.Fprintf(&out, "[%q,%q,%q]\n", node.Kind, node.Name, node.Health)
	}
	return out.String(), err
}

// generation is what jq prints of the answer to a restart.
func generation(answer string) (string, error) {
	var decoded metav1.PartialObjectMetadata
	err := json.Unmarshal([]byte(answer), &decoded)
	return fmt.Sprintln(decoded.Generation), err
}

// withoutChance gives the names that Kubernetes has drawn, or that depend on a UID, another ending, the same each time.
func withoutChance(session string) string {
	session = regexp.MustCompile(`("ControllerRevision","cart-)[0-9a-f]+`).ReplaceAllString(session, "${1}dbbdea16fa")
	endings := []string{"8xkqf", "bz4wn", "cm7hd", "dt2rv", "fp9sj"}
	drawn := map[string]string{}
	return regexp.MustCompile(`"cart(-[0-9a-z]{6,10})?-[0-9a-z]{5}"`).ReplaceAllStringFunc(session, func(name string) string {
		ending := name[len(name)-6 : len(name)-1]
		if drawn[ending] == "" {
			drawn[ending] = endings[len(drawn)]
		}
		return name[:len(name)-6] + drawn[ending] + `"`
	})
}

// withoutSpace takes away spaces at the ends of lines, and all but one of several empty lines.
func withoutSpace(session string) string {
	session = regexp.MustCompile(` +\n`).ReplaceAllString(session, "\n")
	return strings.TrimSpace(regexp.MustCompile(`\n{3,}`).ReplaceAllString(session, "\n\n")) + "\n"
}
