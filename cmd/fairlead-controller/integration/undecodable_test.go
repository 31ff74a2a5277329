// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// What Go cannot decode, and an earlier schema has let in.
const (
	badQuantity = `{"spec":{"resources":{"limits":{"cpu":"1e1.5"}}}}`
	badPort     = `{"spec":{"readinessProbe":{"tcpSocket":{"port":3000000000}}}}`
)

// TestS18UndecodableStopsNobody lets a tenant store Applications that cannot be decoded. All others go on, also after a
// restart. The children of the broken ones stay exactly as they are, whether the schema has been tightened since or not.
func TestS18UndecodableStopsNobody(t *testing.T) {
	t.Parallel()
	e := newEnv(t, controlplane.ForTest(t, controlplane.APIOnly(), controlplane.WithAuditLog()))
	e.cluster.InstallCRDs(t, looseCRDs(t))
	tenant := e.writer()
	tenant.create(named(small, "good"), named(full, "broken"), named(full+orphan, "orphaned"), named(full, "deleted"))
	e.run()
	for _, name := range []string{"good", "broken", "orphaned", "deleted"} {
		e.waitObserved(name)
	}
	before := e.contents(e.statusOf("broken"))

	tenant.store("broken", badQuantity)
	tenant.store("orphaned", badPort)
	tenant.store("deleted", badPort)
	tenant.create(strings.Replace(named(small, "born-broken"), "spec:", "spec:\n  resources: {limits: {cpu: 1e1.5}}", 1))
	cursor := e.cluster.AuditCursor(t)
	e.waitUndecodable("broken", "spec.resources.limits.cpu", "1e1.5")
	e.waitUndecodable("orphaned", "spec.readinessProbe.tcpSocket.port", "3000000000")
	if born := e.waitUndecodable("born-broken", "spec.resources.limits.cpu", "1e1.5"); len(born.Status.Resources) > 0 {
		t.Errorf("it has the children %v", born.Status.Resources)
	}
	e.waitEvent("broken", v1.ReasonInvalid, "", "")
	if e.log.find("The Application cannot be decoded") == "" {
		t.Error("the log names no object")
	}
	e.follows(tenant, "good", "registry.example.com/web:2")
	e.stop()
	e.run()
	e.follows(tenant, "good", "registry.example.com/web:3")

	e.cluster.InstallCRDs(t, crds)
	for _, patch := range []string{badQuantity, badPort, `{"spec":{"resources":{"limits":{"cpu":"1e-999999999"}}}}`} {
		e.eventually("the schema refuses "+patch, func() (bool, string) {
			_, err := tenant.applications().Patch(t.Context(), "good", types.MergePatchType, []byte(patch), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
			return apierrors.IsInvalid(err), fmt.Sprint(err)
		})
	}
	tenant.store("broken", `{"metadata":{"labels":{"a":"b"}}}`)
	tenant.store("broken", `{"spec":{"image":"registry.example.com/web:4"}}`)
	e.waitUndecodable("broken", "spec.resources.limits.cpu", "1e1.5")
	if diff := cmp.Diff(before, e.contents(e.statusOf("broken"))); diff != "" {
		t.Errorf("the children changed (-before +after):\n%s", diff)
	}
	for _, event := range e.written(cursor, controlplane.WithVerb("delete")) {
		t.Errorf("the controller deleted: %s", event)
	}
	if events := e.events("broken", v1.ReasonInvalid); len(events) != 1 {
		t.Errorf("%d Events, want one for the transition", len(events))
	}

	// Each is deleted as if it were valid, and mended as any invalid one.
	kept := withoutHistory(e.uids("orphaned"))
	for _, name := range []string{"orphaned", "deleted"} {
		tenant.remove(name)
		e.eventually(name+" is gone", func() (bool, string) {
			left := e.statusOf(name)
			return left == nil, fmt.Sprint(left)
		})
	}
	for ref, owners := range e.owners("orphaned") {
		if len(owners) > 0 {
			t.Errorf("%s still has the owners %v", ref, owners)
		}
	}
	if diff := cmp.Diff(kept, withoutHistory(e.uids("orphaned"))); diff != "" {
		t.Errorf("what should outlive the Application (-before +after):\n%s", diff)
	}
	tenant.store("broken", `{"spec":{"resources":{"limits":{"cpu":"2"}}}}`)
	e.follows(tenant, "broken", "registry.example.com/web:5")
	e.waitCondition("broken", v1.ConditionStalled, "", "")
}

// TestF21UndecodableClass keeps what an Application has when its class cannot be decoded: the limits of the class are unknown then,
// not absent.
func TestF21UndecodableClass(t *testing.T) {
	t.Parallel()
	e := newEnv(t, controlplane.ForTest(t, controlplane.APIOnly()))
	e.cluster.InstallCRDs(t, looseCRDs(t))
	e.create(`{apiVersion: apps.fairlead.dev/v1, kind: ApplicationClass, metadata: {name: standard}, spec: {defaults: {resources: {limits: {cpu: "1"}}}}}`)
	e.create(small + "  className: standard\n")
	e.run()
	e.waitObserved("web")
	patch := func(cpu string) {
		t.Helper()
		body := []byte(`{"spec":{"defaults":{"resources":{"limits":{"cpu":"` + cpu + `"}}}}}`)
		if _, err := e.resource(v1.SchemeGroupVersion.WithKind(v1.ApplicationClassKind)).Patch(t.Context(), "standard", types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	patch("1e1.5")
	if message := describe(e.waitCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonClassInvalid)); !strings.Contains(message, `"standard"`) {
		t.Errorf("it does not name the class: %s", message)
	}
	limit := func() string {
		return get[appsv1.Deployment](e, "web").Spec.Template.Spec.Containers[0].Resources.Limits.Cpu().String()
	}
	if got := limit(); got != "1" {
		t.Errorf("the limit of the pods is %s, want that of the class before", got)
	}
	patch("2")
	e.eventually("the class is followed again", func() (bool, string) { return limit() == "2", limit() })
}

// looseCRDs is a directory with our definitions as they were before they refused what Go cannot decode, and long lists.
func looseCRDs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join(crds, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions in %s: %v", crds, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		var definition map[string]any
		if err == nil {
			err = yaml.Unmarshal(content, &definition)
		}
		if err == nil {
			loosen(definition)
			content, err = yaml.Marshal(definition)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// loosen takes the bounds and patterns off everything that may be a number or a string, and the limits off lists of words.
func loosen(node any) {
	switch node := node.(type) {
	case map[string]any:
		if items, isList := node["items"].(map[string]any); isList && items["type"] == "string" {
			delete(node, "maxItems")
			delete(items, "x-kubernetes-validations") // Their cost would be that of a list without end.
		}
		if node["x-kubernetes-int-or-string"] == true {
			for _, rule := range []string{"pattern", "x-kubernetes-validations", "maxLength", "minimum", "maximum"} {
				delete(node, rule)
			}
		}
		for _, value := range node {
			loosen(value)
		}
	case []any:
		for _, value := range node {
			loosen(value)
		}
	}
}

// tenantEnv is the environment with the rights of a tenant who may write Applications.
type tenantEnv struct{ *env }

// writer binds the shipped role itself: no controller aggregates it into edit where the API server runs alone.
func (e *env) writer() tenantEnv {
	e.Helper()
	const user = "tenant-writer"
	e.applyAnywhere(e.manifest("rbac/users/roles.yaml"))
	e.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "fairlead-applications-edit"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
	copied := e.sub(e.TB)
	copied.dynamic = dynamic.NewForConfigOrDie(e.cluster.ConfigFor(user))
	e.eventually("the role is bound", func() (bool, string) {
		err := copied.applications().Delete(e.Context(), "none", metav1.DeleteOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
	return tenantEnv{copied}
}

// applications are those of the namespace, without types to decode them.
func (e *env) applications() dynamic.ResourceInterface {
	e.Helper()
	return e.resource(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))
}

// store patches an Application.
func (e tenantEnv) store(name, patch string) {
	e.Helper()
	if _, err := e.applications().Patch(e.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		e.Fatalf("patch %s with %s: %v", name, patch, err)
	}
}

func (e tenantEnv) remove(name string) {
	e.Helper()
	if err := e.applications().Delete(e.Context(), name, metav1.DeleteOptions{}); err != nil {
		e.Fatalf("delete %s: %v", name, err)
	}
}

// follows edits the image of an Application and waits until its Deployment has it.
func (e *env) follows(tenant tenantEnv, name, image string) {
	e.Helper()
	tenant.store(name, `{"spec":{"image":"`+image+`"}}`)
	e.eventually(name+" is followed", func() (bool, string) {
		got := get[appsv1.Deployment](e, name).Spec.Template.Spec.Containers[0].Image
		return got == image, got
	})
}

// waitUndecodable waits until the status of the present generation names the field and its value.
func (e *env) waitUndecodable(name, field, value string) *v1.Application {
	e.Helper()
	var application *v1.Application
	e.eventually(name+" stalls", func() (bool, string) {
		application = e.statusOf(name)
		message := describe(application)
		return application.Status.ObservedGeneration == application.Generation && strings.Contains(message, v1.ReasonInvalid) &&
			strings.Contains(message, field) && strings.Contains(message, value), message
	})
	return application
}

// statusOf reads an Application but for its spec, which may not decode. It returns nil if there is none.
func (e *env) statusOf(name string) *v1.Application {
	e.Helper()
	live, err := e.applications().Get(e.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	application := &v1.Application{}
	if err == nil {
		delete(live.Object, "spec")
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, application)
	}
	if err != nil {
		e.Fatalf("get Application %s: %v", name, err)
	}
	return application
}
