// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// reverting is an Application that goes back when a rollout fails.
func reverting(name string) *v1.Application {
	a := application(name)
	a.Spec.Rollback = &v1.Rollback{Policy: v1.RollbackOnFailure}
	return a
}

// fails plays Kubernetes and a kubelet: the pod of the newest template crashes until the deadline has passed.
func (w *world) fails(name string) {
	w.Helper()
	w.startPod(name)
	w.kubelet(name, func(c *corev1.ContainerStatus) {
		c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		c.LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}}
		c.RestartCount = 3
	})
	pass(time.Second)
	applytest.EditStatus(w.server, child.Deployment, namespace, name, func(d *appsv1.Deployment) {
		d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{
			Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded", Message: "timed out",
		})
	})
}

// serves plays Kubernetes where all goes well.
func (w *world) serves(name string) {
	w.Helper()
	pass(time.Second)
	w.pods(name, 1)
	pass(5 * time.Second)
}

func (w *world) wantRevision(name string, want v1.RevisionStatus) {
	w.Helper()
	if got := w.application(name).Status.Revision; !equality.Semantic.DeepEqual(got, &want) {
		w.Errorf("revision is %+v, want %+v", got, want)
	}
}

func TestRollback(t *testing.T) {
	inWorld(t, setup{begin: withApplications(reverting("web"))}, func(w *world) {
		w.serves("web")
		w.wantRevision("web", v1.RevisionStatus{Current: 1, LastHealthy: 1})
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "web:2" })
		pass(time.Second)
		w.fails("web")
		pass(time.Second)
		if got := w.image("web"); got != "registry.example.com/web:1" {
			t.Fatalf("the Deployment runs %s", got)
		}
		w.serves("web")
		w.wantCondition("web", v1.ConditionRolledBack, metav1.ConditionTrue, v1.ReasonRolledBack)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRolledBack)
		w.wantRevision("web", v1.RevisionStatus{Current: 1, LastHealthy: 1, RolledBackFrom: 2})
		if got := w.application("web").Spec.Image; got != "web:2" {
			t.Errorf("the spec was changed to %s", got)
		}

		// A day, and a restart, change nothing.
		version := w.server.Version()
		pass(24 * time.Hour)
		w.end()
		w.start()
		pass(time.Hour)
		if got := w.server.Version(); got != version {
			t.Errorf("%d changes at rest", got-version)
		}

		w.edit("web", func(a *v1.Application) { a.Spec.Image = "web:3" })
		w.serves("web")
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
		w.wantRevision("web", v1.RevisionStatus{Current: 3, LastHealthy: 3, FormerHealthy: []int64{1}})
	})
}

// Whatever write is the last before the process dies, and whether it was answered or not: what has failed is
// taken back once, and not tried again.
func TestRollbackThroughCrashes(t *testing.T) {
	for at := range 6 {
		for _, answered := range []bool{true, false} {
			t.Run(fmt.Sprintf("write %d, done %t", at, answered), func(t *testing.T) {
				inWorld(t, setup{begin: withApplications(reverting("web"))}, func(w *world) {
					w.serves("web")
					w.edit("web", func(a *v1.Application) { a.Spec.Image = "web:2" })
					pass(time.Second)
					writes := 0
					remove := w.server.Intercept(func(_ context.Context, r applytest.Request) error {
						if !r.Writes() || r.Kind == applytest.Pods || r.Kind == applytest.ReplicaSets {
							return nil
						}
						writes++
						if writes <= at {
							return nil
						}
						if err := errors.New("the process is dead"); writes == at+1 && answered {
							return applytest.AnswerLostError{Err: err}
						}
						return errors.New("the process is dead")
					})
					w.fails("web")
					pass(time.Second)
					w.end()
					remove()
					images := []string{w.image("web")}
					w.start()
					for range 20 {
						pass(time.Second)
						if got := w.image("web"); got != images[len(images)-1] {
							images = append(images, got)
						}
					}
					w.serves("web")
					if got := w.image("web"); got != "registry.example.com/web:1" || len(images) > 2 {
						t.Errorf("the Deployment ran %q", images)
					}
					w.wantCondition("web", v1.ConditionRolledBack, metav1.ConditionTrue, v1.ReasonRolledBack)
					w.wantRevision("web", v1.RevisionStatus{Current: 1, LastHealthy: 1, RolledBackFrom: 2})
				})
			})
		}
	}
}

// A class that changes the pods makes a revision like any other, which is taken back like any other. What was
// put back has to keep to the limits of the class, then and later.
func TestRollbackAndClasses(t *testing.T) {
	web := reverting("web")
	web.Spec.ClassName = "gold"
	inWorld(t, setup{begin: both(withClasses(classOf("gold", "high")), withApplications(web))}, func(w *world) {
		w.serves("web")
		w.editClass("gold", func(c *v1.ApplicationClass) { c.Spec.Defaults.PriorityClassName = "higher"; c.Generation++ })
		pass(20 * time.Minute) // A class has patience.
		w.fails("web")
		w.serves("web")
		w.wantRevision("web", v1.RevisionStatus{Current: 1, LastHealthy: 1, RolledBackFrom: 2})
		if got := w.deployment("web").Spec.Template.Spec.PriorityClassName; got != "high" {
			t.Errorf("the priority of the pods is %q", got)
		}
	})
}

// Pods that wait for a ConfigMap are no revision yet.
func TestWithheldIsNoRevision(t *testing.T) {
	web := application("web")
	web.Spec.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "later"}}}}
	inWorld(t, setup{begin: withApplications(web)}, func(w *world) {
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConfigMissing)
		if got := w.server.All(child.ControllerRevision); len(got) > 0 || w.application("web").Status.Revision != nil {
			t.Errorf("there are %v, and %+v", got, w.application("web").Status.Revision)
		}
	})
}
