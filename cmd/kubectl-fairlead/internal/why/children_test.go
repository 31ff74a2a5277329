// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestSecondFailedWrite gives each child that could not be written its own reason and advice: the message of Ready is about the first.
func TestSecondFailedWrite(t *testing.T) {
	const first = `deployments.apps "web" is forbidden: exceeded quota: small, requested: count/deployments.apps=1, used: count/deployments.apps=2, limited: count/deployments.apps=2.`
	for message, want := range map[string]struct{ reason, what, next string }{
		`services "web" is forbidden: exceeded quota: small, requested: services=1, used: services=0, limited: services=0.`: {
			v1.ReasonQuotaExceeded, "Service web is refused by a ResourceQuota of this namespace.", "Free some of the quota, or ask for more: kubectl describe resourcequotas",
		},
		`admission webhook "names.example.com" denied the request: no.`: {
			v1.ReasonPolicyDenied, "Service web is refused by an admission policy or webhook of this cluster.", "Change the Application so that the policy is met, or",
		},
		`services "web" is forbidden: User "fairlead" cannot create resource "services" in API group "" in the namespace "shop".`: {
			v1.ReasonPermissionDenied, "Service web could not be written, because the controller lacks a permission.", "Ask the platform team to grant",
		},
		"Another writer keeps changing .spec.type; repair is backing off.": {
			v1.ReasonContended, "Service web keeps being changed by another writer,", "Stop the other writer from setting these fields",
		},
		"Another writer keeps deleting it; repair is backing off.": {
			v1.ReasonContended, "Service web keeps being deleted by another writer,", "Stop the other writer from deleting it.",
		},
		"etcdserver: request timed out.": {v1.ReasonApplyFailed, "Service web could not be written; the controller retries.", ""},
	} {
		loaded := clustertest.Load(t, "healthy")
		status := &loaded.Application.Status
		status.Resources = []v1.ResourceStatus{
			{Group: "apps", Kind: "Deployment", Name: "web", State: v1.ResourceFailed, Message: first},
			{Kind: "Service", Name: "web", State: v1.ResourceFailed, Message: message},
		}
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonQuotaExceeded, Message: "Deployment web and 1 more: " + first,
		})
		findings := why.Explain(loaded).Findings
		if len(findings) < 2 {
			t.Fatalf("%s: %+v", message, findings)
		}
		if findings[0].What != "Deployment web is refused by a ResourceQuota of this namespace." {
			t.Errorf("the first: %s", findings[0].What)
		}
		got := findings[1]
		if got.Reason != want.reason || !strings.HasPrefix(got.What, want.what) || !strings.HasPrefix(strings.Join(got.Next, "\n"), want.next) {
			t.Errorf("%s: %+v", message, got)
		}
	}
}

// TestCreator names no client as the creator of an object that cannot create one.
func TestCreator(t *testing.T) {
	at := func(manager string, seconds int) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Time: &metav1.Time{Time: treetest.Now.Add(time.Duration(seconds) * time.Second)}}
	}
	for want, entries := range map[string][]metav1.ManagedFieldsEntry{
		"created by kubectl-create":    {at("kubectl-annotate", 0), at("kubectl-create", 0)},
		"created by helm":              {at("kubectl-edit", 5), at("helm", 0), at("kubectl-client-side-apply", 9)},
		"created by an unknown client": {at("kubectl-client-side-apply", 9), at("kubectl-annotate", 0)},
	} {
		loaded := clustertest.Load(t, "conflict")
		for _, live := range loaded.Children {
			live.SetManagedFields(entries)
		}
		var got []string
		for _, finding := range why.Explain(loaded).Findings {
			for _, evidence := range finding.Evidence {
				if evidence.Field == "metadata.creationTimestamp" {
					got = append(got, evidence.Message)
				}
			}
		}
		if len(got) == 0 || got[0] != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func isService(object child.Object) bool {
	return object.GetObjectKind().GroupVersionKind().Kind == child.Service.Kind
}

func saysChecksAgain(finding why.Finding) bool { return strings.Contains(finding.What, "checks again") }

// TestGone: between the deletion of an object that was in the way and the next check, there is nothing to delete.
func TestGone(t *testing.T) {
	loaded := clustertest.Load(t, "conflict")
	loaded.Children = slices.DeleteFunc(loaded.Children, isService)
	answer := why.Explain(loaded)
	if want := "conflict/web is not ready (Conflict): the controller checks again within 30 s."; answer.Headline != want {
		t.Errorf("%q, want %q", answer.Headline, want)
	}
	want := []why.Finding{{
		Reason: v1.ReasonConflict, What: "Service web is gone; the controller checks again within 30 s.",
		Evidence: []why.Evidence{{Object: "Application/web", Field: "status.resources[Service/web]", Message: "Conflict, from the last check"}},
	}}
	if diff := cmp.Diff(want, answer.Findings, cmpopts.IgnoreUnexported(why.Finding{}, why.Evidence{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	setResource(loaded, child.Deployment.Kind, v1.ResourceConflict, "It exists.")
	if answer = why.Explain(loaded); strings.Contains(answer.Headline, "checks again") {
		t.Errorf("although the Deployment is still in the way: %s", answer.Headline)
	}

	loaded = clustertest.Load(t, "conflict")
	loaded.Children = slices.DeleteFunc(loaded.Children, isService)
	meta.FindStatusCondition(loaded.Application.Status.Conditions, v1.ConditionReady).Reason = v1.ReasonInvalid
	var said []string
	for _, finding := range why.Explain(loaded).Findings {
		said = append(said, finding.What)
	}
	if !slices.Contains(said, "Service web is gone.") || strings.Contains(strings.Join(said, ""), "checks again") {
		t.Errorf("although the controller does not check an invalid spec again: %q", said)
	}

	loaded = clustertest.Load(t, "conflict")
	loaded.Children = slices.DeleteFunc(loaded.Children, isService)
	loaded.Application.Generation++
	if answer = why.Explain(loaded); strings.Contains(answer.Headline, "checks again") || slices.ContainsFunc(answer.Findings, saysChecksAgain) {
		t.Errorf("although status is about an older spec: %+v", answer)
	}

	loaded = clustertest.Load(t, "conflict")
	loaded.Children = slices.DeleteFunc(loaded.Children, isService)
	loaded.Unreadable = map[string]error{"services": errors.New("forbidden")}
	if answer = why.Explain(loaded); len(answer.Findings) == 0 || !strings.HasPrefix(answer.Findings[0].What, "Service web exists ") {
		t.Errorf("although the user may not read Services: %+v", answer.Findings)
	}
}
