// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// What a user meets in the first hour, in the words in which plain kubectl shows it.

// notes are the texts of Events, sorted.
func notes(events []eventsv1.Event) []string {
	var texts []string
	for _, event := range events {
		texts = append(texts, event.Type+": "+event.Note)
	}
	slices.Sort(texts)
	return texts
}

// A Secret that is deleted under a running Application has an Event, and one only.
func TestDeletedSecretHasAnEvent(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.create(db)
	e.apply(using)
	e.waitReady("web")
	remove[corev1.Secret](e, "db")
	e.waitCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConfigMissing)
	e.waitEvent("web", v1.ReasonConfigMissing, "Deployment", "web")
	want := []string{"Warning: Secret db does not exist; running pods stay as they are, and new ones that need it wait."}
	if got := notes(e.events("web", v1.ReasonConfigMissing)); !slices.Equal(got, want) {
		t.Errorf("Events %q, want %q", got, want)
	}
	e.create(db)
	e.waitReady("web")
}

// An Application over children that another one left behind names each of them.
func TestOrphanedChildrenAreNamed(t *testing.T) {
	t.Parallel()
	e := start(t)
	const manifest = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web}
spec:
  image: registry.example.com/web:1
  replicas: 2
  ports: [{name: http, containerPort: 8080}]
  deletionPolicy: Orphan
`
	e.apply(manifest)
	e.waitReady("web")
	remove[v1.Application](e, "web")
	waitGone[v1.Application](e, "web")
	e.apply(manifest)
	conflicting := e.waitCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonConflict)
	const advice = "as docs/guides/take-back.md says, or give the Application another name."
	const message = "ServiceAccount web and 3 more exist, left behind by an earlier Application; take them back " + advice + " Checked again within 30 s."
	if got := meta.FindStatusCondition(conflicting.Status.Conditions, v1.ConditionReady); got.Message != message {
		t.Errorf("Ready says %q, want %q", got.Message, message)
	}
	if got := meta.FindStatusCondition(conflicting.Status.Conditions, v1.ConditionAvailable); got.Reason != v1.ReasonConflict {
		t.Errorf("Available is %+v beside a foreign Deployment", got)
	}
	var want []string
	for _, child := range []string{"Deployment", "PodDisruptionBudget", "Service", "ServiceAccount"} {
		e.waitEvent("web", v1.ReasonConflict, child, "web")
		want = append(want, "Warning: "+child+" web exists, left behind by an earlier Application; take it back "+advice)
	}
	if got := notes(e.events("web", v1.ReasonConflict)); !slices.Equal(got, want) {
		t.Errorf("Events %q, want %q", got, want)
	}
}

// kubectl rollout undo is answered with what to do instead; doing that goes back, and leaves the Service as it is.
func TestUndoAndToRevision(t *testing.T) {
	t.Parallel()
	e := start(t)
	applySpec("replicas: 1, ports: [{name: http, containerPort: 8080, servicePort: 80}], env: [{name: FORMER, value: a}]")(e, "web")
	e.waitReady("web")
	former := get[appsv1.Deployment](e, "web")
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image, spec.Env = "registry.example.com/web:2", nil })
	e.waitApplication("web", "runs web:2", func(a *v1.Application) bool { return a.Status.Image == "registry.example.com/web:2" })

	// As kubectl does it: the template and the annotations of the former ReplicaSet.
	edit(e, "web", func(d *appsv1.Deployment) {
		revision := d.Annotations["deployment.kubernetes.io/revision"]
		d.Spec.Template, d.Annotations = former.Spec.Template, former.Annotations
		d.Annotations["deployment.kubernetes.io/revision"] = revision
	})
	event := e.waitEvent("web", v1.EventRolloutUndone, "Deployment", "web")
	const want = "Warning: Restored Deployment web: another client, such as kubectl rollout undo, put revision 1 back; " +
		"to go back, set spec.rollback.toRevision: 1 in the Application."
	if got := event.Type + ": " + event.Note; got != want {
		t.Errorf("the Event is %q, want %q", got, want)
	}
	e.waitFields(child.Deployment, "web", fields{"spec.template.spec.containers[0].image": "registry.example.com/web:2"})
	e.waitFields(child.Deployment, "web", fields{"spec.template.spec.containers[0].env": ""}) // Nor what the former revision alone had.

	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Rollback = &v1.Rollback{ToRevision: new(int64(1))} })
	e.waitApplication("web", "runs revision 1", func(a *v1.Application) bool {
		ready := meta.FindStatusCondition(a.Status.Conditions, v1.ConditionReady)
		return a.Status.Image == "registry.example.com/web:1" && ready.Status == metav1.ConditionTrue &&
			ready.Message == "1 pod is available at revision 1, as spec.rollback.toRevision asks; remove it to run the spec."
	})
	if port := get[corev1.Service](e, "web").Spec.Ports[0].Port; port != 80 {
		t.Errorf("the Service has port %d, want 80 as before", port)
	}
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Rollback = nil })
	e.waitApplication("web", "runs the spec", func(a *v1.Application) bool { return a.Status.Image == "registry.example.com/web:2" })
}

// The columns of kubectl get say why, within 120 columns, and say something while no controller runs.
func TestColumns(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	e.apply(using)
	if got, want := e.row(v1.ApplicationResource, "web"), "web Unknown 0 NotObserved The controller has not observed it yet."; got != want {
		t.Errorf("without a controller the columns are %q, want %q", got, want)
	}
	e.run()
	e.waitCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConfigMissing)
	if got, want := e.row(v1.ApplicationResource, "web"), "web False 0 ConfigMissing Secret db does not exist; no pod starts without it."; got != want {
		t.Errorf("the columns are %q, want %q", got, want)
	}
}

// WHY begins with the cause of each failure, in the words of the kubelet, the registry and the scheduler.
func TestWhyColumn(t *testing.T) {
	t.Parallel()
	e := start(t)
	for name, test := range map[string]struct{ spec, reason, want string }{
		"crashing":    {misbehaving("crash-loop"), v1.ReasonCrashLooping, "Exited with code 1 (Error)."},
		"pulling":     {misbehaving("image-pull-error"), v1.ReasonImagePullFailed, "registry.example.com/web:1: not found"},
		"unscheduled": {"nodeSelector: {" + behavior + ": unschedulable}", v1.ReasonUnschedulable, "3 node(s) didn't match Pod's node affinity/selector."},
		"unready": {
			"ports: [{name: http, containerPort: 8080}], readinessProbe: {httpGet: {path: /ready}, periodSeconds: 1, failureThreshold: 1}, " + misbehaving("readiness-failing"),
			v1.ReasonReadinessFailing, "Readiness probe GET :8080/ready has failed since…",
		},
		"going-back": {"rollback: {toRevision: 99}", v1.ReasonRevisionMissing, "rollback.toRevision: 99 does not exist"},
	} {
		applySpec(test.spec)(e, name)
		e.waitCondition(name, v1.ConditionReady, metav1.ConditionFalse, test.reason)
		if got, want := e.row(v1.ApplicationResource, name), fmt.Sprintf("%s False 0 %s %s", name, test.reason, test.want); got != want {
			t.Errorf("the columns are %q, want %q", got, want)
		}
	}
}

// As soon as the probe has failed as often as it may, Ready says which probe of which pod has failed, and since when.
func TestReadinessNamesProbePodAndTime(t *testing.T) {
	t.Parallel()
	e := start(t)
	applySpec("ports: [{name: http, containerPort: 8080}], readinessProbe: {httpGet: {path: /ready}, periodSeconds: 1, failureThreshold: 1}, "+
		misbehaving("readiness-failing"))(e, "web")
	unready := e.waitCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonReadinessFailing)
	want := regexp.MustCompile(`^1 pod, container web: Readiness probe GET :8080/ready has failed since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ in pod web-[a-z0-9]+-[a-z0-9]+\. `)
	if got := meta.FindStatusCondition(unready.Status.Conditions, v1.ConditionReady).Message; !want.MatchString(got) {
		t.Errorf("Ready says %q, want it to match %s", got, want)
	}
}

// After a Secret was created without the key, an Event names the key: the one before named the Secret.
func TestMissingKeyHasAnEvent(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(using)
	e.waitCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConfigMissing)
	e.waitEvent("web", v1.ReasonConfigMissing, "Deployment", "web")
	e.create(`{apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {passwrd: x}}`)
	const want = `Warning: Secret db has no key "password"; no pod starts without it.`
	e.eventually("an Event names the key", func() (bool, string) {
		got := notes(e.events("web", v1.ReasonConfigMissing))
		return slices.Contains(got, want), strings.Join(got, "; ")
	})
}

// After a new image whose readiness probe fails, the newest Event names the probe, and not the image before it. One pod is overdue, so
// there is one Event.
func TestFailingProbeHasAnEvent(t *testing.T) {
	t.Parallel()
	e := start(t)
	applySpec("ports: [{name: http, containerPort: 8080}], readinessProbe: {httpGet: {path: /healthz}, periodSeconds: 1, failureThreshold: 1}")(e, "web")
	e.waitReady("web")
	runs := func(image string) {
		e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/simulate/" + image })
	}
	runs("image-pull-error:2")
	e.waitEvent("web", v1.ReasonImagePullFailed, "Deployment", "web")
	runs("readiness-failing:3")
	e.waitEvent("web", v1.ReasonReadinessFailing, "Deployment", "web")
	want := regexp.MustCompile(`^Warning: 1 pod, container web: Readiness probe GET :8080/healthz has failed since \S+Z in pod web-\S+\. 1 pod is updated, 1 available; 1 of an older revision\.$`)
	if got := notes(e.events("web", v1.ReasonReadinessFailing)); len(got) != 1 || !want.MatchString(got[0]) {
		t.Errorf("the Events are %q, want one that matches %s", got, want)
	}
}

// row prints an object of Fairlead's as kubectl get does, but for its age.
func (e *env) row(resource, name string) string {
	e.Helper()
	var table metav1.Table
	namespaced := resource == v1.ApplicationResource
	body, err := e.fairlead.AppsV1().RESTClient().Get().NamespaceIfScoped(e.namespace, namespaced).Resource(resource).Name(name).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(e.Context())
	if err != nil {
		e.Fatalf("get a table: %v", err)
	}
	if err := json.Unmarshal(body, &table); err != nil || len(table.Rows) != 1 {
		e.Fatalf("%d rows: %v", len(table.Rows), err)
	}
	var cells []string
	for i, column := range table.ColumnDefinitions {
		if column.Priority == 0 && column.Name != "Age" {
			cells = append(cells, fmt.Sprint(table.Rows[0].Cells[i]))
		}
	}
	return strings.Join(cells, " ")
}
