// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// using is an Application that takes a variable from a Secret.
const using = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web}
spec:
  image: registry.example.com/web:1
  replicas: 1
  env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}]
`

const db = `{apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {password: canary-one}}`

// readsOf are the reads of one object, as the audit log has them.
func readsOf(events []controlplane.AuditEvent, resource, namespace string) int {
	count := 0
	for _, event := range events {
		if event.Verb == "get" && event.Resource == resource && event.Namespace == namespace {
			count++
		}
	}
	return count
}

func (e *env) generation(name string) int64 {
	e.Helper()
	return get[appsv1.Deployment](e, name).Generation
}

// TestSecretRollsPods changes a Secret on a real API server: it rolls the Application that uses it,
// once, and no other; a label rolls nothing; and a restart writes nothing and reads no Secret.
func TestSecretRollsPods(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	e.run(e.ownAgent)
	e.create(using, named(small, "other"))
	e.waitCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConfigMissing)
	if find[appsv1.Deployment](e, "web") != nil {
		t.Error("there is a Deployment although its Secret is missing")
	}
	e.create(db)
	e.waitReady("web")
	e.waitReady("other")
	first := get[appsv1.Deployment](e, "web").Spec.Template.Annotations[v1.AnnotationSecretsHash]
	if first == "" {
		t.Fatal("the pods have no hash")
	}
	web, other := e.generation("web"), e.generation("other")

	cursor := e.cluster.AuditCursor(t)
	edit(e, "db", func(s *corev1.Secret) { s.Data["password"] = []byte("canary-two") })
	e.eventually("the pods get another hash", func() (bool, string) {
		hash := get[appsv1.Deployment](e, "web").Spec.Template.Annotations[v1.AnnotationSecretsHash]
		return hash != first, hash
	})
	e.waitReady("web")
	requests := e.requests(cursor)
	t.Logf("requests of a change of a Secret:\n%s", table(tally(requests)))
	if got := readsOf(requests, "secrets", e.namespace); got != 1 {
		t.Errorf("%d reads of the Secret, want 1", got)
	}
	if got := e.generation("web"); got != web+1 {
		t.Errorf("the Deployment is at generation %d, want %d", got, web+1)
	}
	if got := e.generation("other"); got != other {
		t.Errorf("who does not use the Secret went from generation %d to %d", other, got)
	}
	e.waitEvent("web", v1.EventConfigChanged, "Deployment", "web")

	cursor = e.cluster.AuditCursor(t)
	e.stop()
	e.run(e.ownAgent)
	e.started()
	requests = e.requests(cursor)
	t.Logf("requests of a restart:\n%s", table(tally(requests)))
	e.wroteNothing(cursor)
	if got := readsOf(requests, "secrets", e.namespace); got != 0 {
		t.Errorf("%d reads of Secrets at a restart, want none", got)
	}

	cursor = e.cluster.AuditCursor(t)
	edit(e, "db", func(s *corev1.Secret) { s.Labels = map[string]string{"team": "shop"} })
	e.eventually("the new version is read", func() (bool, string) {
		return readsOf(e.audited(cursor), "secrets", e.namespace) > 0, ""
	})
	e.requests(cursor)
	e.wroteNothing(cursor)
	for _, canary := range []string{"canary-one", "canary-two"} {
		if line := e.log.find(canary); line != "" {
			t.Errorf("the content of a Secret is in the log: %s", line)
		}
		if text := describe(e.application("web")); strings.Contains(text, canary) {
			t.Errorf("the content of a Secret is in the status: %s", text)
		}
	}
}

// taking uses ConfigMaps in each way that a container can, one of which may be missing.
const taking = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web}
spec:
  image: registry.example.com/web:1
  replicas: 1
  env: [{name: COLOUR, valueFrom: {configMapKeyRef: {name: colours, key: web}}}]
  envFrom: [{configMapRef: {name: extras, optional: true}}]
  mounts:
  - {mountPath: /etc/files, configMap: {name: files}}
  - {mountPath: /etc/parts, projected: {sources: [{configMap: {name: parts}}]}}
  initContainers: [{name: setup, image: registry.example.com/setup:1, envFrom: [{configMapRef: {name: steps}}]}]
  sidecars: [{name: proxy, image: registry.example.com/proxy:1, envFrom: [{configMapRef: {name: proxy}}]}]
`

// TestConfigMapsRollPods changes ConfigMaps, wherever they are used: each change rolls the pods once, and
// so does a burst of them. An Application with configChangePolicy Ignore keeps its pods.
func TestConfigMapsRollPods(t *testing.T) {
	t.Parallel()
	e := start(t)
	put := func(name string, value int) {
		e.apply(fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {web: value-%d}}", name, value))
	}
	required := []string{"colours", "files", "parts", "steps", "proxy"}
	for _, name := range required[1:] {
		put(name, 0)
	}
	e.apply(taking)
	e.waitCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConfigMissing)
	put(required[0], 0)
	e.apply(named(taking, "ignoring") + "  configChangePolicy: Ignore\n")
	e.waitReady("web") // Without the optional one.
	e.waitReady("ignoring")
	ignoring := e.generation("ignoring")

	for _, name := range append(required, "extras") {
		before := get[appsv1.Deployment](e, "web")
		for i := range 5 {
			put(name, i+1)
		}
		e.eventually("a change of "+name+" gives the pods another hash", func() (bool, string) {
			hash := get[appsv1.Deployment](e, "web").Spec.Template.Annotations[v1.AnnotationConfigMapsHash]
			return hash != before.Spec.Template.Annotations[v1.AnnotationConfigMapsHash], hash
		})
		e.waitReady("web")
		if got := e.generation("web"); got != before.Generation+1 {
			t.Errorf("five edits of %s took the Deployment from generation %d to %d, want one rollout", name, before.Generation, got)
		}
	}
	if got := e.generation("ignoring"); got != ignoring {
		t.Errorf("configChangePolicy Ignore: the Deployment went from generation %d to %d", ignoring, got)
	}
}
