// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestF24ReferencesOfARevisionThatWasPutBack goes back from a revision that uses no Secret to one that does, in a controller that
// has never looked at Secrets. The Secret of what runs is followed then, after another restart too, although the spec does
// not mention it.
func TestF24ReferencesOfARevisionThatWasPutBack(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.create(db, using+"  progressDeadlineSeconds: 3\n  rollback: {policy: OnFailure}\n")
	e.waitReady("web")
	e.stop()
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image, spec.Env = bad+"2", nil })
	e.run()
	e.waitCondition("web", v1.ConditionRolledBack, metav1.ConditionTrue, v1.ReasonRolledBack)

	for _, password := range []string{"two", "three"} {
		before := get[appsv1.Deployment](e, "web").Spec.Template.Annotations[v1.AnnotationSecretsHash]
		edit(e, "db", func(s *corev1.Secret) { s.Data["password"] = []byte(password) })
		e.eventually("the pods that were put back get another hash", func() (bool, string) {
			template := get[appsv1.Deployment](e, "web").Spec.Template
			hash := template.Annotations[v1.AnnotationSecretsHash]
			return hash != "" && hash != before && template.Spec.Containers[0].Image == "registry.example.com/web:1", hash
		})
		e.waitCondition("web", v1.ConditionAvailable, metav1.ConditionTrue, "MinimumReplicasAvailable")
		e.stop()
		from := e.log.len()
		e.run()
		e.waitSynced([]string{"web"}, from, "Synced", 1)
	}

	if err := e.kube.CoreV1().Secrets(e.namespace).Delete(e.Context(), "db", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.waitReadyMessage("web", "Revision 4 runs instead of revision 2, which failed. Secret db does not exist; running pods stay as they are, and new ones that need it wait.")
	e.create(db)
	e.waitCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRolledBack)
}

// TestEarlierRevisionWaits: neither a rollback nor toRevision can go on without the Secret, which the spec does not mention.
func TestEarlierRevisionWaits(t *testing.T) {
	t.Parallel()
	e := start(t)
	const missing = "Secret db does not exist; running pods stay as they are, and new ones that need it wait."
	e.create(db, using+"  progressDeadlineSeconds: 3\n  rollback: {policy: OnFailure}\n")
	e.waitReady("web")
	remove[corev1.Secret](e, "db") // The failing pods do not need it.
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image, spec.Env = bad+"2", nil })
	e.waitReadyMessage("web", "Revision 2 failed. Fairlead goes back to revision 1, which waits: "+missing)
	e.create(db)
	e.waitCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRolledBack)

	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:3" })
	e.waitReady("web")
	remove[corev1.Secret](e, "db")
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Rollback.ToRevision = new(int64(1)) })
	e.waitReadyMessage("web", "Revision 1, which spec.rollback.toRevision asks for, waits: "+missing)
	if image := get[appsv1.Deployment](e, "web").Spec.Template.Spec.Containers[0].Image; image != "registry.example.com/web:3" {
		t.Errorf("it runs %s", image)
	}
}

// waitReadyMessage waits until Ready is about the present spec, and says that.
func (e *env) waitReadyMessage(application, want string) {
	e.Helper()
	e.waitApplication(application, "Ready says "+want, func(a *v1.Application) bool {
		ready := meta.FindStatusCondition(a.Status.Conditions, v1.ConditionReady)
		return ready != nil && ready.ObservedGeneration == a.Generation && ready.Message == want
	})
}
