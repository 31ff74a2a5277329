// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestArguments: a command with too many or too few arguments says which it takes.
func TestArguments(t *testing.T) {
	for want, args := range map[string][]string{
		"error: accepts 1 arg(s), received 0: kubectl fairlead eject NAME [flags]\nSee 'kubectl fairlead eject -h' for help and examples\n":                                 {"eject"},
		"error: there is an argument too many, \"web.yaml\": kubectl fairlead lint -f FILE... [flags]\nSee 'kubectl fairlead lint -h' for help and examples\n":              {"lint", "web.yaml"},
		"error: accepts 2 arg(s), received 1: kubectl fairlead set image NAME [CONTAINER=]IMAGE [flags]\nSee 'kubectl fairlead set image -h' for help and examples\n":       {"set", "image", "web"},
		"error: name an Application, or select some with -l or -A\nSee 'kubectl fairlead restart -h' for help and examples\n":                                               {"restart"},
		"error: --to-revision is -1, but revisions begin at 1\nSee 'kubectl fairlead undo -h' for help and examples\n":                                                      {"undo", "web", "--to-revision=-1"},
		"error: it sets the image only, and not \"env\": change the other fields with kubectl edit, or in your file\nSee 'kubectl fairlead set -h' for help and examples\n": {"set", "env", "web", "A=B"},
	} {
		streams, _, _, errOut := genericiooptions.NewTestIOStreams()
		if code := Run(t.Context(), streams, args); code != ExitError || errOut.String() != want {
			t.Errorf("%q: exit code %d, %q, want %q", args, code, errOut, want)
		}
	}
}

// TestExplainsWebhooks: who edits an Application while its webhooks do not answer reads what to do.
func TestExplainsWebhooks(t *testing.T) {
	const message = `failed calling webhook "mutate.applications.apps.fairlead.dev": connection refused`
	const want = "Internal error occurred: " + message + "\nThe API server cannot ask the webhook that it names: see 'kubectl fairlead doctor'."
	if got := explain(apierrors.NewInternalError(errors.New(message))); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestExplainsMissingAPI tells an Application that does not exist from a cluster without Applications.
func TestExplainsMissingAPI(t *testing.T) {
	resource := v1.Resource("applications")
	for want, err := range map[string]error{
		"this cluster does not serve Applications: install Fairlead's CRDs, or pass another --context": apierrors.NewGenericServerResponse(404, "get", resource, "web", "404 page not found", 0, true),
		`applications.apps.fairlead.dev "web" not found`:                                               apierrors.NewNotFound(resource, "web"),
	} {
		if got := explain(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestExplainsForbidden: another namespace may help a user, but not with classes.
func TestExplainsForbidden(t *testing.T) {
	for resource, want := range map[string]string{
		v1.ApplicationResource:      "Ask for the permission, or pass another --context or --namespace.",
		v1.ApplicationClassResource: "Ask for the permission in the whole cluster: classes are in no namespace.",
	} {
		denied := apierrors.NewForbidden(v1.Resource(resource), "", errors.New("no"))
		if got := explain(denied); got != denied.Error()+"\n"+want {
			t.Errorf("%s: %q, want %q", resource, got, want)
		}
	}
}
