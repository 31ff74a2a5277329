// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/fairlead/hack/internal/objects"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const (
	root = "../.."
	// patience is how long anything may take. It is far more than it does take, because the machine may be busy.
	patience = 4 * time.Minute
	// period is how often a test looks.
	period = 100 * time.Millisecond
	// person is the field manager of what a test applies.
	person = "neighbours-test"
	// operatorNamespace is where the overlays put the controller.
	operatorNamespace = "fairlead-system"
)

// lab is a cluster with the CRDs, and the programs that run against it.
type lab struct {
	testing.TB
	cluster  *controlplane.ControlPlane
	kube     kubernetes.Interface
	objects  *objects.Client
	programs []*program
}

// newLab starts a cluster of the test's own, because the programs look at all namespaces.
func newLab(t testing.TB, options ...controlplane.Option) *lab {
	t.Helper()
	cluster := controlplane.ForTest(t, append(options, controlplane.WithAuditLog())...)
	cluster.InstallCRDs(t, filepath.Join(root, "artifacts", "crds"))
	config := cluster.Config()
	config.UserAgent = person
	l := &lab{
		TB: t, cluster: cluster,
		kube: kubernetes.NewForConfigOrDie(config),
	}
	l.discover()
	return l
}

// discover makes a client that knows the kinds which the cluster serves now.
func (l *lab) discover() {
	l.Helper()
	config := l.cluster.Config()
	config.UserAgent = person
	client, err := objects.NewClient(config, person)
	if err != nil {
		l.Fatal(err)
	}
	l.objects = client
}

// eventually waits until done, and fails the test if that takes longer than patience, or if a program ends. saw is what
// was seen last, for the message.
func (l *lab) eventually(what string, look func(context.Context) (done bool, saw string)) {
	l.Helper()
	var saw string
	err := wait.PollUntilContextTimeout(l.Context(), period, patience, true, func(context.Context) (bool, error) {
		for _, p := range l.programs {
			if err := p.Err(); err != nil {
				return false, err
			}
		}
		var done bool
		done, saw = look(l.Context()) // Not with the deadline, since a look that is cut short sees nothing.
		return done, nil
	})
	if err != nil {
		l.Fatalf("waited for: %s\nlast saw:   %s\n%v", what, saw, err)
	}
}

// namespaces creates namespaces that have no Pod Security level.
func (l *lab) namespaces(names ...string) {
	l.Helper()
	for _, name := range names {
		_, err := l.kube.CoreV1().Namespaces().Create(l.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil {
			l.Fatal(err)
		}
	}
}

// decode reads the objects of a manifest.
func (l *lab) decode(manifest string) []*unstructured.Unstructured {
	l.Helper()
	decoded, err := objects.Decode(strings.NewReader(manifest))
	if err != nil {
		l.Fatalf("read manifest: %v\n%s", err, manifest)
	}
	return decoded
}

// apply applies a manifest, as kubectl apply --server-side does. A kind whose CRD is new is served in a moment.
func (l *lab) apply(manifest string) {
	l.Helper()
	l.applyObjects(l.decode(manifest)...)
}

func (l *lab) applyObjects(all ...*unstructured.Unstructured) {
	l.Helper()
	for _, object := range all {
		var refused error
		l.eventually("apply "+objects.Name(object), func(ctx context.Context) (bool, string) {
			err := l.objects.Apply(ctx, object)
			if refused = err; err == nil || !errors.Is(err, objects.ErrNotServed) && !apierrors.IsServiceUnavailable(err) {
				return true, ""
			}
			l.discover()
			return false, err.Error()
		})
		if refused != nil {
			l.Fatal(refused)
		}
	}
}

// kustomize renders a directory of the repository.
func (l *lab) kustomize(directory string) []*unstructured.Unstructured {
	l.Helper()
	var stderr strings.Builder
	command := exec.CommandContext(l.Context(), "go", "tool", "-modfile=hack/tools/kustomize/go.mod", "kustomize", "build", directory)
	command.Dir, command.Stderr = root, &stderr
	output, err := command.Output()
	if err != nil {
		l.Fatalf("kustomize build %s: %v\n%s", directory, err, &stderr)
	}
	return l.decode(string(output))
}

// pick returns the object of a kind and name.
func pick(t testing.TB, all []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range all {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return nil
}

// account creates a ServiceAccount and binds it to ClusterRoles.
func (l *lab) account(namespace, name string, roles ...string) {
	l.Helper()
	_, err := l.kube.CoreV1().ServiceAccounts(namespace).Create(l.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		l.Fatal(err)
	}
	for _, role := range roles {
		l.bind(namespace, name, role)
	}
}

// bind binds a ServiceAccount to a ClusterRole.
func (l *lab) bind(namespace, name, role string) {
	l.Helper()
	_, err := l.kube.RbacV1().ClusterRoleBindings().Create(l.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
	}, metav1.CreateOptions{})
	if err != nil {
		l.Fatal(err)
	}
}

// moduleDir is where Go keeps the source of a module that one of the modules here requires.
func (l *lab) moduleDir(here, module string) string {
	l.Helper()
	command := exec.CommandContext(l.Context(), "go", "-C", here, "list", "-m", "-f", "{{.Dir}}", module)
	output, err := command.Output()
	dir := strings.TrimSpace(string(output))
	if err != nil || dir == "" {
		l.Fatalf("find the source of %s: %v", module, err)
	}
	return dir
}

func (l *lab) readFile(parts ...string) string {
	l.Helper()
	content, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		l.Fatal(err)
	}
	return string(content)
}

func (l *lab) writeFile(content []byte, parts ...string) string {
	l.Helper()
	file := filepath.Join(parts...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, content, 0o600)); err != nil {
		l.Fatal(err)
	}
	return file
}

// conditionOf returns a condition of an object, or its zero value.
func conditionOf(object *unstructured.Unstructured, kind string) metav1.Condition {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		if condition["type"] == kind {
			generation, _ := condition["observedGeneration"].(int64)
			return metav1.Condition{
				Type: kind, Status: metav1.ConditionStatus(fmt.Sprint(condition["status"])),
				Reason: fmt.Sprint(condition["reason"]), Message: fmt.Sprint(condition["message"]), ObservedGeneration: generation,
			}
		}
	}
	return metav1.Condition{}
}
