// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// wantNoPodsAs fails if any Deployment of the namespace makes pods that run as the account.
func (e *env) wantNoPodsAs(account string) {
	e.Helper()
	list, err := e.kube.AppsV1().Deployments(e.namespace).List(e.Context(), metav1.ListOptions{})
	if err != nil {
		e.Fatal(err)
	}
	for i := range list.Items {
		if list.Items[i].Spec.Template.Spec.ServiceAccountName == account {
			e.Errorf("the pods of Deployment %s run as %s", list.Items[i].Name, account)
		}
	}
}

// TestS5ForeignServiceAccountWithoutWebhooks: where no webhook reviews who names an account, nothing runs as it, unless
// the administrator has said so.
func TestS5ForeignServiceAccountWithoutWebhooks(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.create("{apiVersion: v1, kind: ServiceAccount, metadata: {name: deployer}}")
	tenant := e.as("edit")
	tenant.create(named(small, "thief") + "  serviceAccount: {name: deployer, automountToken: true}\n")
	stalled := e.waitCondition("thief", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonInvalid)
	const message = "spec.serviceAccount.name: Forbidden: the controller has no webhooks that check access to the account: " +
		"remove name, or start the controller with --allow-unreviewed-service-accounts"
	if got := meta.FindStatusCondition(stalled.Status.Conditions, v1.ConditionStalled).Message; got != message {
		t.Errorf("the message is %q, want %q", got, message)
	}
	tenant.create(named(small, "later"))
	before := e.waitReady("later")
	tenant.editSpec("later", func(spec *v1.ApplicationSpec) { spec.ServiceAccount = &v1.ServiceAccount{Name: "deployer"} })
	after := e.waitCondition("later", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonInvalid)
	if after.Generation == before.Generation {
		t.Fatal("the spec did not change")
	}
	e.wantNoPodsAs("deployer")
	if get[appsv1.Deployment](e, "later").Spec.Template.Spec.ServiceAccountName != "later" {
		t.Error("the last good pods do not have the account of the Application")
	}

	e.stop()
	e.run(unreviewedAccounts)
	e.waitReady("thief")
}

// TestS5FormerAccountDoesNotComeBack goes back to a revision that ran as an account, which the spec has let go of since: a
// review of the spec does not see that account. Nothing runs as it again.
func TestS5FormerAccountDoesNotComeBack(t *testing.T) {
	t.Parallel()
	e := start(t, unreviewedAccounts)
	tenant := e.as("edit")
	e.create("{apiVersion: v1, kind: ServiceAccount, metadata: {name: deployer}}")
	e.create(named(small, "web") + "  serviceAccount: {name: deployer, automountToken: true}\n")
	e.waitReady("web")
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.ServiceAccount = nil })
	e.waitReady("web")
	e.wantNoPodsAs("deployer")

	tenant.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Rollback = &v1.Rollback{ToRevision: new(int64(1))} })
	e.waitCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonInvalid)
	e.wantNoPodsAs("deployer")

	// With the account in the spec, which takes a review where there are webhooks, the revision runs again.
	e.editSpec("web", func(spec *v1.ApplicationSpec) {
		spec.ServiceAccount = &v1.ServiceAccount{Name: "deployer", AutomountToken: new(true)}
	})
	e.waitReady("web")
	if got := get[appsv1.Deployment](e, "web").Spec.Template.Spec.ServiceAccountName; got != "deployer" {
		t.Errorf("the pods run as %s", got)
	}
}
