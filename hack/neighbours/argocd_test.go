// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"fairlead.dev/fairlead/hack/internal/objects"
)

// unusual is written as a person may, and the webhook adds a finalizer. Whatever writes its spec in another way shows up.
const unusual = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: unusual, namespace: shop}
spec:
  image: registry.example.com/unusual:1
  deletionPolicy: Orphan
  resources: {requests: {cpu: "0.1", memory: 1024Mi}, limits: {memory: "2147483648"}}
  env: [{name: EMPTY, value: ""}]
  ports: [{name: http, containerPort: 8080}]
`

// argoCD applies objects of Git as Argo CD does, and compares them with what is in the cluster.
type argoCD struct {
	*lab
	git []*unstructured.Unstructured
}

// TestArgoCD compares Applications with Git by the package of Argo CD that does so, in both of its ways, with nothing in
// ignoreDifferences: every example that is accepted, and an Application that is scaled, rolled back, and corrected.
func TestArgoCD(t *testing.T) {
	a := &argoCD{lab: newLab(t)}
	a.namespaces(team)
	a.controller("--webhook-bind-address=127.0.0.1:0", "--webhook-url=https://127.0.0.1:0").waitFor(a.lab, "Registered the webhooks")
	a.apply(fluxSecret)
	a.sync(a.decode(strings.Replace(defaultClass, "standard", "chosen", 1))...)
	for _, pattern := range []string{"*.yaml", "*/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, "artifacts", "examples", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no examples: %v", err)
		}
		for _, file := range files {
			if filepath.Base(filepath.Dir(file)) == "broken" {
				continue // The webhooks refuse them.
			}
			for _, object := range a.decode(a.readFile(file)) {
				if object.GetKind() == "Application" || object.GetKind() == "ApplicationClass" {
					a.sync(object)
				}
			}
		}
	}
	a.sync(a.decode(unusual)...)
	const name = "rolled"
	commit := func(image string) {
		a.sync(a.decode(strings.Replace(fmt.Sprintf(inGit, image), "name: web", "name: "+name, 1))...)
	}
	commit(goodImage)
	a.waitReady(name)
	a.wantSynced("ready")
	if class, _, _ := unstructured.NestedString(a.application(t.Context(), name).Object, "spec", "className"); class != "chosen" {
		t.Errorf("the webhook wrote the class %q", class)
	}
	if finalizers := a.application(t.Context(), "unusual").GetFinalizers(); len(finalizers) == 0 {
		t.Error("the webhook wrote no finalizer")
	}

	_, err := a.objects.Resource(applications).Namespace(team).Patch(t.Context(), name, types.MergePatchType, []byte(`{"spec":{"replicas":3}}`),
		metav1.PatchOptions{FieldManager: "kubectl"}, "scale")
	if err != nil {
		t.Fatal(err)
	}
	a.waitReady(name)
	a.wantSynced("scaled by a person")

	commit(badImage)
	a.waitCondition(name, "RolledBack", "True", "RolledBack")
	a.wantSynced("rolled back")
	commit("registry.example.com/web:3")
	a.waitReady(name)
	a.wantSynced("corrected")

	// Both ways see what does differ.
	a.patch(name, `{"spec":{"image":"registry.example.com/web:4"}}`)
	for _, object := range a.git {
		if object.GetName() != name {
			continue
		}
		if got := a.compare(t.Context(), object); len(got.ThreeWay) == 0 || len(got.ServerSide) == 0 {
			t.Errorf("an image that was changed by hand is no difference: %+v", got)
		}
	}
	t.Logf("%d objects compared", len(a.git))
}

// sync writes objects as Argo CD does by default, which is as kubectl apply does: it remembers in an annotation what it applied.
func (a *argoCD) sync(all ...*unstructured.Unstructured) {
	a.Helper()
	for _, object := range all {
		resource := a.resource(object) // It has the namespace of the team, if the kind has one.
		remembered, err := json.Marshal(object)
		if err != nil {
			a.Fatal(err)
		}
		a.git = append(slices.DeleteFunc(a.git, func(known *unstructured.Unstructured) bool {
			return objects.Name(known) == objects.Name(object)
		}), object)
		applied := object.DeepCopy()
		annotations := applied.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations["kubectl.kubernetes.io/last-applied-configuration"] = string(remembered)
		applied.SetAnnotations(annotations)
		options := metav1.PatchOptions{FieldManager: "argocd-controller"}
		body, err := json.Marshal(applied)
		if err != nil {
			a.Fatal(err)
		}
		_, err = resource.Patch(a.Context(), object.GetName(), types.MergePatchType, body, options)
		if apierrors.IsNotFound(err) {
			_, err = resource.Create(a.Context(), applied, metav1.CreateOptions{FieldManager: options.FieldManager})
		}
		if err != nil {
			a.Fatalf("apply %s: %v", objects.Name(object), err)
		}
	}
}

func (a *argoCD) resource(object *unstructured.Unstructured) dynamic.ResourceInterface {
	a.Helper()
	resource, err := a.objects.ResourceOf(object, team)
	if err != nil {
		a.Fatal(err)
	}
	return resource
}

// wantSynced wants no object to differ from Git. A status that is written while the API server answers is tried again.
func (a *argoCD) wantSynced(when string) {
	a.Helper()
	for _, object := range a.git {
		a.eventually(objects.Name(object)+" is in sync when "+when, func(ctx context.Context) (bool, string) {
			got := a.compare(ctx, object)
			return len(got.ThreeWay) == 0 && len(got.ServerSide) == 0, got.String()
		})
	}
}

// differences are what bin/neighbours/gitops-engine prints: what would be, and what is.
type differences struct{ ThreeWay, ServerSide []map[string]any }

func (d differences) String() string {
	text := ""
	for way, pair := range map[string][]map[string]any{"three-way": d.ThreeWay, "server-side": d.ServerSide} {
		if len(pair) == 2 {
			text += fmt.Sprintf("%s (-Git +cluster): %s\n", way, cmp.Diff(pair[0], pair[1]))
		}
	}
	return text
}

func (a *argoCD) compare(ctx context.Context, object *unstructured.Unstructured) (got differences) {
	a.Helper()
	resource := a.resource(object)
	live, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
	if err != nil {
		a.Fatal(err)
	}
	predicted, err := resource.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: "argocd-controller", Force: true, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		a.Fatalf("dry run of %s: %v", objects.Name(object), err)
	}
	input, err := json.Marshal(map[string]any{"Git": object, "Live": live, "Predicted": predicted})
	if err != nil {
		a.Fatal(err)
	}
	command := a.neighbour("gitops-engine")
	var stderr bytes.Buffer
	command.Stdin, command.Stderr = bytes.NewReader(input), &stderr
	output, err := command.Output()
	if err == nil {
		err = json.Unmarshal(output, &got)
	}
	if err != nil {
		a.Fatalf("gitops-engine: %v\n%s%s", err, output, &stderr)
	}
	return got
}
