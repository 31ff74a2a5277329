// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

func TestDiscovery(t *testing.T) {
	f := start(t)
	resources, err := discovery.NewDiscoveryClientForConfigOrDie(cluster.Config()).ServerResourcesForGroupVersion(group + "/" + version)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, r := range resources.APIResources {
		found = append(found, r.Name+" "+r.Kind+" "+strings.Join(r.Verbs, ","))
		if !r.Namespaced || len(r.Categories) > 0 {
			t.Errorf("%s: namespaced %v, categories %v", r.Name, r.Namespaced, r.Categories)
		}
	}
	want := []string{
		"applications ApplicationRuntime get,list,watch",
		"applications/exec ApplicationRuntime create,get", "applications/log ApplicationRuntime get",
		"applications/pause PauseOptions create",
		"applications/portforward ApplicationRuntime create,get", "applications/render RenderOptions create", "applications/restart RestartOptions create",
		"applications/resume ResumeOptions create",
		"applications/rollback RollbackOptions create",
		"applications/timeline ApplicationTimeline get,watch", "applications/tree ApplicationTree get",
	}
	if !slices.Equal(found, want) {
		t.Errorf("resources %q, want %q", found, want)
	}
	// kubectl explain reads the document. kube-apiserver fetches it after a while.
	f.eventually("the OpenAPI document", func() error {
		document, err := f.kube.Discovery().RESTClient().Get().AbsPath("/openapi/v3/apis", group, version).DoRaw(t.Context())
		if err != nil {
			return err
		}
		for _, part := range []string{"The problem that has lasted longest", `"kind":"ApplicationRuntime"`} {
			if !strings.Contains(string(document), part) {
				return fmt.Errorf("it lacks %q", part)
			}
		}
		return nil
	})
}

// TestSubresourcesOfCRD: all that a custom resource can have.
func TestSubresourcesOfCRD(t *testing.T) {
	start(t)
	resources, err := discovery.NewDiscoveryClientForConfigOrDie(cluster.Config()).ServerResourcesForGroupVersion(v1.SchemeGroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, r := range resources.APIResources {
		if _, subresource, ok := strings.Cut(r.Name, "/"); ok && strings.HasPrefix(r.Name, "applications/") {
			found = append(found, subresource)
		}
	}
	slices.Sort(found)
	if want := []string{"scale", "status"}; !slices.Equal(found, want) {
		t.Errorf("subresources %q, want %q", found, want)
	}
}

func TestViewFollowsPods(t *testing.T) {
	f := start(t)
	f.apply("steady", 2, func(a *v1.Application) {
		a.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")}}
	})
	f.apply("broken", 1, func(a *v1.Application) {
		a.Spec.PodMetadata = &v1.PodMetadata{Annotations: map[string]string{"simulate.fairlead.dev/behavior": "image-pull-error"}}
	})
	steady := f.view("steady", running(2))
	if steady.CPU.Requested.String() != "100m" || steady.Memory.Requested.String() != "128Mi" || steady.CPU.Used != nil {
		t.Errorf("CPU %v, memory %v", steady.CPU, steady.Memory)
	}
	application, err := f.fairlead.AppsV1().Applications(f.namespace).Get(t.Context(), "steady", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if steady.UID != application.UID || steady.Labels["team"] != "steady" {
		t.Errorf("metadata %+v", steady.ObjectMeta)
	}
	broken := f.view("broken", func(view *v1alpha1.ApplicationRuntime) bool { return view.OldestProblem != nil })
	if problem := broken.OldestProblem; problem.Reason != v1.ReasonImagePullFailed || problem.Pod == "" || problem.Since.IsZero() {
		t.Errorf("problem %+v", problem)
	}
	if err := f.fairlead.AppsV1().Applications(f.namespace).Delete(t.Context(), "steady", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.eventually("the view goes with its Application", func() error {
		_, err := f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace).Get(t.Context(), "steady", metav1.GetOptions{})
		if code(err) != 404 {
			return fmt.Errorf("its code is %d, want 404", code(err))
		}
		return nil
	})
}

// table asks for a path below applications as kubectl get does.
func (f *fixture) table(path string) metav1.Table {
	f.Helper()
	body, err := f.fairlead.SubresourcesV1alpha1().RESTClient().Get().Namespace(f.namespace).Resource("applications").Suffix(path).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json").DoRaw(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(body, &table); err != nil {
		f.Fatal(err)
	}
	return table
}

func TestTableAndSelectors(t *testing.T) {
	f := start(t)
	f.apply("one", 1)
	f.apply("two", 0)
	f.view("one", running(1))
	f.view("two", func(view *v1alpha1.ApplicationRuntime) bool { return view.Reason != "" })
	table := f.table("")
	if len(table.Rows) != 2 || table.Rows[0].Cells[0] != "one" || table.Rows[0].Cells[2] != "1/1" || table.ResourceVersion == "" {
		t.Errorf("table %+v", table)
	}
	if wide := table.ColumnDefinitions[len(table.ColumnDefinitions)-1]; wide.Name != "Message" || wide.Priority != 1 {
		t.Errorf("last column %+v", wide)
	}
	views := f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace)
	for _, test := range []struct {
		options metav1.ListOptions
		want    []string
		code    int
	}{
		{metav1.ListOptions{LabelSelector: "team=two"}, []string{"two"}, 200},
		{metav1.ListOptions{LabelSelector: "team in (one, two)", Limit: 1}, []string{"one", "two"}, 200},
		{metav1.ListOptions{FieldSelector: "metadata.name=one"}, []string{"one"}, 200},
		{metav1.ListOptions{FieldSelector: "ready=True,metadata.namespace=" + f.namespace, LabelSelector: "team=one"}, []string{"one"}, 200},
		{metav1.ListOptions{FieldSelector: "spec.image=x"}, nil, 400},
		{metav1.ListOptions{Continue: "next"}, nil, 400},
		{metav1.ListOptions{ResourceVersion: "18446744073709551615"}, nil, 410},
		{metav1.ListOptions{ResourceVersion: "1", ResourceVersionMatch: metav1.ResourceVersionMatchExact}, nil, 410},
	} {
		list, err := views.List(t.Context(), test.options)
		var names []string
		if err == nil {
			for i := range list.Items {
				names = append(names, list.Items[i].Name)
			}
		}
		if code(err) != test.code || !slices.Equal(names, test.want) {
			t.Errorf("%+v: %v, %v; want %v, %d", test.options, names, err, test.want, test.code)
		}
	}
	// A form that the server does not have.
	_, err := f.fairlead.SubresourcesV1alpha1().RESTClient().Get().Namespace(f.namespace).Resource("applications").
		SetHeader("Accept", "application/xml").DoRaw(t.Context())
	if code(err) != 406 {
		t.Errorf("only XML: %v, want 406", err)
	}
}
