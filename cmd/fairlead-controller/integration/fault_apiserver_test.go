// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestF08APIServerKilled kills the API server under the controller.
func TestF08APIServerKilled(t *testing.T) {
	outage(t, controlplane.KubeAPIServer, (*controlplane.ControlPlane).Kill, (*controlplane.ControlPlane).Restart,
		"Cannot reach the API server", "Reached the API server again")
}

// TestF09EtcdPaused stops the database, so that the API server answers nothing.
func TestF09EtcdPaused(t *testing.T) {
	outage(t, controlplane.Etcd, (*controlplane.ControlPlane).Pause, (*controlplane.ControlPlane).Resume)
}

// outage takes a component away while users create and change Applications. Afterwards everything must be as if
// nothing had happened, and the log must have these messages.
func outage(t *testing.T, component controlplane.Component, disturb, repair func(*controlplane.ControlPlane, testing.TB, controlplane.Component), logged ...string) {
	cluster := controlplane.ForTest(t, controlplane.WithAuditLog())
	e := newEnv(t, cluster)
	begin := cluster.AuditCursor(t)
	e.run(e.ownAgent)
	names := webs(16)
	for _, name := range names[:8] {
		e.create(named(six, name))
	}
	for _, name := range names[:4] {
		e.waitReady(name)
	}
	people := e.insist(names[:8], names[8:])

	disturb(cluster, t, component)
	e.cannotWrite(5 * time.Second)
	repair(cluster, t, component)

	if err := <-people; err != nil {
		t.Fatalf("people could not work after the outage: %v", err)
	}
	for _, name := range names {
		e.waitApplication(name, "Ready, with the new image", func(application *v1.Application) bool {
			return application.Status.Image == "registry.example.com/web:2" && meta.IsStatusConditionTrue(application.Status.Conditions, v1.ConditionReady)
		})
	}
	for _, text := range logged {
		if e.log.find(text) == "" {
			t.Errorf("the log does not say %q", text)
		}
	}
	e.expectNoTrace(begin, names)
	e.expectRest(begin, names)
}

// webs are names of Applications.
func webs(count int) []string {
	names := make([]string, count)
	for i := range names {
		names[i] = fmt.Sprintf("web-%02d", i)
	}
	return names
}

// insist does what people want, again and again until it succeeds: it gives each Application the
// image web:2, after creating those that are new. The channel has the result.
func (e *env) insist(old, created []string) <-chan error {
	e.Helper()
	client := e.resource(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))
	actions := make([]func(context.Context) error, 0, len(old)+len(created))
	for i, name := range append(append([]string{}, created...), old...) {
		body := e.decode(named(six, name))[0]
		actions = append(actions, func(ctx context.Context) error {
			if i < len(created) {
				if _, err := client.Create(ctx, body, metav1.CreateOptions{FieldManager: person}); err != nil && !apierrors.IsAlreadyExists(err) {
					return err
				}
			}
			return setImage(ctx, client, name)
		})
	}
	result := make(chan error, 1)
	ctx := e.Context()
	go func() {
		for _, action := range actions {
			var last error
			err := wait.PollUntilContextTimeout(ctx, period, 2*patience, true, func(ctx context.Context) (bool, error) {
				ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
				defer cancel()
				last = action(ctx)
				return last == nil, nil
			})
			if err != nil {
				result <- fmt.Errorf("%w: %w", err, last)
				return
			}
		}
		result <- nil
	}()
	return result
}

func setImage(ctx context.Context, client dynamic.ResourceInterface, name string) error {
	_, err := client.Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"image":"registry.example.com/web:2"}}`), metav1.PatchOptions{FieldManager: person})
	return err
}

// cannotWrite tries to write for that long, and fails the test if it can.
func (e *env) cannotWrite(limit time.Duration) {
	e.Helper()
	client := e.resource(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))
	err := wait.PollUntilContextTimeout(e.Context(), period, limit, true, func(ctx context.Context) (bool, error) {
		return setImage(ctx, client, "web-00") == nil, nil
	})
	if err == nil {
		e.Fatal("the cluster was to be broken, but it takes writes")
	}
}

// expectNoTrace wants each child to have been created once, none deleted, and nothing twice.
func (e *env) expectNoTrace(begin *controlplane.AuditCursor, names []string) {
	e.Helper()
	created := map[string]int{}
	for _, event := range e.written(begin) {
		switch {
		case event.Verb == "delete" || event.Verb == "deletecollection":
			e.Errorf("a child was deleted: %s", event)
		case event.Verb == "create" && event.Code < 300:
			created[event.Resource+" "+event.Name]++
		}
	}
	for child, times := range created {
		if times > 1 {
			e.Errorf("%s was created %d times", child, times)
		}
	}
	for _, name := range names {
		list, err := e.kube.AppsV1().Deployments(e.namespace).List(e.Context(), metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + name})
		if err != nil || len(list.Items) != 1 {
			e.Fatalf("Application %s has %d Deployments (%v), want 1", name, len(list.Items), err)
		}
		if got := len(e.application(name).Status.Resources); got != 7 {
			e.Errorf("Application %s has %d children, want 7", name, got)
		}
		if image := get[appsv1.Deployment](e, name).Spec.Template.Spec.Containers[0].Image; image != "registry.example.com/web:2" {
			e.Errorf("Deployment %s has image %s, want web:2", name, image)
		}
	}
}

// expectRest waits until the controller is at rest and restarts it: it must find nothing to do.
func (e *env) expectRest(begin *controlplane.AuditCursor, names []string) {
	e.Helper()
	e.requests(begin)
	e.stop()
	cursor, from := e.cluster.AuditCursor(e.TB), e.log.len()
	e.run(e.ownAgent)
	e.waitSynced(names, from, "Synced", 1)
	e.requests(cursor)
	for _, event := range since(cursor, e) {
		if controlplane.Writes()(&event) {
			e.Errorf("a write at rest: %s", event)
		}
	}
	e.stop()
}
