// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/consistency"
	"fairlead.dev/fairlead/pkg/plan"
)

// fixture has a Writer, an API server in memory, and the Application shop/web.
type fixture struct {
	*testing.T
	server      *applytest.Server
	store       *consistency.Store
	writer      *Writer
	application *v1.Application
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	server := applytest.NewServer(t)
	store := consistency.NewStore()
	return &fixture{
		T: t, server: server, store: store,
		writer:      NewWriter(server.Client(), store),
		application: &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "application-uid"}},
	}
}

func ref(kind child.Kind) child.Ref { return child.Ref{Kind: kind, Namespace: "shop", Name: "web"} }

// owned is the metadata of a child of the Application, in YAML. Tests append other fields.
const owned = `
metadata:
  name: web
  namespace: shop
  labels: {app.kubernetes.io/managed-by: fairlead, apps.fairlead.dev/application: web}
  ownerReferences: [{apiVersion: apps.fairlead.dev/v1, kind: Application, name: web, uid: application-uid, controller: true, blockOwnerDeletion: true}]
`

// desired returns a rendered child with these fields in YAML, without apiVersion and kind.
func (f *fixture) desired(kind child.Kind, fields string) *child.Desired {
	f.Helper()
	object := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(fields), &object); err != nil {
		f.Fatalf("fields: %v\n%s", err, fields)
	}
	object["apiVersion"], object["kind"] = kind.GroupVersionKind().ToAPIVersionAndKind()
	desired, err := child.NewDesired(kind, &unstructured.Unstructured{Object: object})
	if err != nil {
		f.Fatal(err)
	}
	return &desired
}

func (f *fixture) create(kind child.Kind, fields string) plan.Step {
	return plan.Step{Action: plan.Create, Ref: ref(kind), Desired: f.desired(kind, fields)}
}

// apply returns the step that applies the fields to the live child.
func (f *fixture) apply(kind child.Kind, fields string) plan.Step {
	return plan.Step{Action: plan.Apply, Ref: ref(kind), Desired: f.desired(kind, fields), Live: f.cached(kind)}
}

// do executes one step, which must succeed.
func (f *fixture) do(step plan.Step) plan.Result {
	f.Helper()
	result := f.try(step)
	if result.Err != nil {
		f.Fatalf("%s %s: %v", step.Action, step.Ref, result.Err)
	}
	return result
}

func (f *fixture) try(step plan.Step) plan.Result {
	f.Helper()
	return f.execute(step)[0]
}

// execute executes the steps and returns what was done. It checks that the writer changes no step.
func (f *fixture) execute(steps ...plan.Step) []plan.Result {
	f.Helper()
	return executed(f, f.Context(), f.writer, f.application, steps)
}

func executed(t testing.TB, ctx context.Context, w *Writer, application *v1.Application, steps []plan.Step) []plan.Result {
	t.Helper()
	results, err := w.Execute(ctx, application, steps, func(context.Context) error { return nil })
	if err != nil || len(results) != len(steps) {
		t.Fatalf("%d results of %d steps: %v", len(results), len(steps), err)
	}
	for i := range results {
		if !reflect.DeepEqual(results[i].Step, steps[i]) {
			t.Errorf("%s was planned, and %s is recorded", steps[i].Ref, cmp.Diff(steps[i].Action, results[i].Step.Action))
		}
	}
	return plan.Done(results)
}

// cached returns the live child as the informer's transform leaves it.
func (f *fixture) cached(kind child.Kind) child.Object {
	f.Helper()
	object := applytest.Get[child.Object](f.server, kind, "shop", "web")
	if object == nil {
		f.Fatalf("there is no %s", ref(kind))
	}
	object.SetManagedFields(PostEntry(object.GetManagedFields()))
	return object
}

// stored returns the fields of the live child at the path, in YAML.
func (f *fixture) stored(kind child.Kind, path ...string) string {
	f.Helper()
	object := applytest.Get[child.Object](f.server, kind, "shop", "web")
	if object == nil {
		return "gone"
	}
	encoded, err := yaml.Marshal(object)
	if err != nil {
		f.Fatal(err)
	}
	fields := map[string]any{}
	if err := yaml.Unmarshal(encoded, &fields); err != nil {
		f.Fatal(err)
	}
	part, _, err := unstructured.NestedFieldNoCopy(fields, path...)
	if err != nil {
		f.Fatal(err)
	}
	encoded, err = yaml.Marshal(part)
	if err != nil {
		f.Fatal(err)
	}
	return string(encoded)
}

func (f *fixture) wantStored(kind child.Kind, want string, path ...string) {
	f.Helper()
	if got := f.stored(kind, path...); got != want {
		f.Errorf("%s %v is\n%swant\n%s", kind, path, got, want)
	}
}

// managers returns the field managers of a child, with their operations.
func (f *fixture) managers(kind child.Kind) []string {
	f.Helper()
	managers := []string{}
	for _, entry := range applytest.Get[child.Object](f.server, kind, "shop", "web").GetManagedFields() {
		managers = append(managers, entry.Manager+" "+string(entry.Operation))
	}
	return managers
}

// requests returns the requests so far, each as its verb or its patch type.
func (f *fixture) requests() []string {
	requests := []string{}
	for _, r := range f.server.Requests(func(applytest.Request) bool { return true }) {
		what := r.Verb
		if r.PatchType != "" {
			what = map[types.PatchType]string{
				types.ApplyPatchType: "apply", types.JSONPatchType: "json-patch", types.StrategicMergePatchType: "strategic-patch",
			}[r.PatchType]
		}
		if r.Manager != "" {
			what += " as " + r.Manager
		}
		requests = append(requests, what)
	}
	return requests
}

// on calls a hook before each request of a verb; its error fails the request.
func (f *fixture) on(verb string, hook func() error) {
	f.server.Intercept(func(_ context.Context, r applytest.Request) error {
		if r.Verb == verb {
			return hook()
		}
		return nil
	})
}

// once returns a hook that acts only the first time.
func once(act func() error) func() error {
	done := false
	return func() error {
		if done {
			return nil
		}
		done = true
		return act()
	}
}

var errBroken = errors.New("broken")

// emptyCaches have observed nothing, and still have every deleted object.
type emptyCaches struct{}

func (emptyCaches) LastResourceVersion(schema.GroupVersionResource, string) string { return "1" }
func (emptyCaches) HasLive(schema.GroupVersionResource, cache.ObjectName, types.UID) bool {
	return true
}

// waits reports whether the next sync waits for the cache of that kind.
func (f *fixture) waits(kind child.Kind) bool {
	stale := f.store.Stale(cache.MetaObjectToName(f.application), emptyCaches{})
	return len(stale) == 1 && stale[0] == kind.GroupVersionResource()
}

// entry is one of metadata.managedFields of a Deployment.
func entry(manager string, operation metav1.ManagedFieldsOperationType, subresource, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, APIVersion: "apps/v1", Subresource: subresource, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
}
