// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestArguments: a command with too many or too few arguments, or a flag with a value that it does not take, says which it takes.
func TestArguments(t *testing.T) {
	for want, args := range map[string][]string{
		"error: name one Application: kubectl fairlead eject NAME [flags]\nSee 'kubectl fairlead eject -h' for help and examples\n":                                                                                   {"eject"},
		"error: name one Application, not 2: kubectl fairlead eject NAME [flags]\nSee 'kubectl fairlead eject -h' for help and examples\n":                                                                            {"eject", "web", "api"},
		"error: name one Deployment: kubectl fairlead adopt NAME [flags]\nSee 'kubectl fairlead adopt -h' for help and examples\n":                                                                                    {"adopt"},
		"error: name an Application: kubectl fairlead exec NAME [-c CONTAINER] [flags] -- COMMAND [ARGS...]\nSee 'kubectl fairlead exec -h' for help and examples\n":                                                  {"exec"},
		"error: pass the command to run, after --: kubectl fairlead exec NAME [-c CONTAINER] [flags] -- COMMAND [ARGS...]\nSee 'kubectl fairlead exec -h' for help and examples\n":                                    {"exec", "web"},
		"error: write -- between the one Application and the command: kubectl fairlead exec NAME [-c CONTAINER] [flags] -- COMMAND [ARGS...]\nSee 'kubectl fairlead exec -h' for help and examples\n":                 {"exec", "web", "ls"},
		"error: name an Application: kubectl fairlead port-forward NAME [[LOCAL_PORT:]REMOTE_PORT...] [flags]\nSee 'kubectl fairlead port-forward -h' for help and examples\n":                                        {"port-forward"},
		"error: --replicas is \"two\", but takes a whole number\nSee 'kubectl fairlead scale -h' for help and examples\n":                                                                                             {"scale", "web", "--replicas=two"},
		"error: --watch is \"maybe\", but takes true or false\nSee 'kubectl fairlead status -h' for help and examples\n":                                                                                              {"status", "web", "--watch=maybe"},
		"error: --timeout is \"5\", but takes a duration, such as 5m\nSee 'kubectl fairlead status -h' for help and examples\n":                                                                                       {"status", "web", "--timeout=5"},
		"error: there is an argument too many, \"web.yaml\": kubectl fairlead lint -f FILE... [flags]\nSee 'kubectl fairlead lint -h' for help and examples\n":                                                        {"lint", "web.yaml"},
		"error: pass an image after the names: kubectl fairlead set image NAME... [CONTAINER=]IMAGE... [flags]\nSee 'kubectl fairlead set image -h' for help and examples\n":                                          {"set", "image", "web"},
		"error: name an Application, or select some with -l or --all\nSee 'kubectl fairlead restart -h' for help and examples\n":                                                                                      {"restart"},
		"error: --to-revision is -1, but revisions begin at 1\nSee 'kubectl fairlead undo -h' for help and examples\n":                                                                                                {"undo", "web", "--to-revision=-1"},
		"error: \"env\" cannot be set: use kubectl fairlead set image NAME... [CONTAINER=]IMAGE for the image, and kubectl edit or your file for other fields\nSee 'kubectl fairlead set -h' for help and examples\n": {"set", "env", "web", "A=B"},
		"error: the container before = is empty: name it, or leave out = for the application's own\nSee 'kubectl fairlead set image -h' for help and examples\n":                                                      {"set", "image", "web", "=nginx"},
		"error: pass the revision with --to-revision=1\nSee 'kubectl fairlead undo -h' for help and examples\n":                                                                                                       {"undo", "web", "1"},
		"error: -A alone would be every Application of the cluster: say which with -l, or add --all\nSee 'kubectl fairlead restart -h' for help and examples\n":                                                       {"restart", "-A"},
		"error: pass -l or --all, but not both\nSee 'kubectl fairlead pause -h' for help and examples\n":                                                                                                              {"pause", "-l", "a=b", "--all"},
		"error: pass an image after the names: kubectl fairlead set image NAME... [CONTAINER=]IMAGE... [flags]\nSee 'kubectl fairlead set image -h' for help and examples\n ":                                         {"set", "image", "-l", "a=b"},
		"error: pass an image after the names: kubectl fairlead set image NAME... [CONTAINER=]IMAGE... [flags]\nSee 'kubectl fairlead set image -h' for help and examples\n  ":                                        {"set", "image", "nginx:1.29", "web"},
		"error: nginx:1.29 and web:2 are both for the application's own container: write CONTAINER= before the image of another one\nSee 'kubectl fairlead set image -h' for help and examples\n":                     {"set", "image", "web", "nginx:1.29", "web:2"},
		"error: p:2 and p:3 are both for container proxy: pass one of them\nSee 'kubectl fairlead set image -h' for help and examples\n":                                                                              {"set", "image", "web", "proxy=p:2", "proxy=p:3"},
		"error: \"nginx\" follows an image: put the names first, and write the tag of an image, too, as in nginx:TAG\nSee 'kubectl fairlead set image -h' for help and examples\n":                                    {"set", "image", "web", "proxy=p:2", "nginx"},
		"error: \"fla/api\" follows an image: put the names first, and write the tag of an image, too, as in api:TAG\nSee 'kubectl fairlead set image -h' for help and examples\n":                                    {"set", "image", "web", "proxy@sha256:0", "fla/api"},
		"error: the image is empty\n": {"set", "image", "web", "nginx:1.29", "proxy="},
		"error: give names, or -l, --all or -A, but not both. If nginx is meant as an image, write its tag, too, as in nginx:TAG\nSee 'kubectl fairlead set image -h' for help and examples\n": {"set", "image", "-l", "a=b", "nginx", "proxy=p:2"},
		"error: give names, or -l, --all or -A, but not both\nSee 'kubectl fairlead pause -h' for help and examples\n":                                                                         {"pause", "-l", "a=b", "web"},
		"error: name an Application, or select some with -l or --all\nSee 'kubectl fairlead logs -h' for help and examples\n":                                                                  {"logs"},
		"error: -f is for text: leave out -f or -o\nSee 'kubectl fairlead timeline -h' for help and examples\n":                                                                                {"timeline", "web", "-w", "-o", "json"},
		"error: https://example.com/web.yaml is not read, because -f takes files and directories: download it, or pipe it to -f -, as in curl -L https://example.com/web.yaml\n":               {"lint", "-f", "https://example.com/web.yaml"},
		"error: the name of an Application is empty: write it, such as web\n":                                                                                                                  {"why", ""},
		"error: the name of an Application is empty: write it, such as web\n ":                                                                                                                 {"restart", " "},
		"error: \"statefulsets/web\" is not the name of an Application: write its name alone, such as web\n":                                                                                   {"status", "statefulsets/web"},
		"error: \"shop/web\" is not the name of an Application: write its name alone, and its namespace with -n, if that is meant: -n shop web\n":                                              {"status", "shop/web"},
		"error: only one of -f and --from can be standard input: pass a file for the other\n":                                                                                                  {"diff", "-f", "-", "--from", "-"},
	} {
		want = strings.TrimRight(want, " ")
		streams, _, _, errOut := genericiooptions.NewTestIOStreams()
		if code := Run(t.Context(), streams, args); code != ExitError || errOut.String() != want {
			t.Errorf("%q: exit code %d, %q, want %q", args, code, errOut, want)
		}
	}
}

// TestForeignCommands: what other tools call otherwise leads to the command that does it, and a word that is only misspelled to
// what is spelled alike.
func TestForeignCommands(t *testing.T) {
	for args, want := range map[string]string{
		"rollback web":  "error: unknown command \"rollback\": use kubectl fairlead undo NAME\n",
		"rollout undo":  "error: unknown command \"rollout\": use kubectl fairlead restart, undo, history, pause, resume or status, each with a NAME\n",
		"wait web":      "error: unknown command \"wait\": use kubectl fairlead status NAME --watch\n",
		"stop web":      "error: unknown command \"stop\": use kubectl fairlead scale NAME --replicas=0\n",
		"list":          "error: unknown command \"list\": use kubectl fairlead get\n",
		"delete web":    "error: unknown command \"delete\": use kubectl delete applications.apps.fairlead.dev NAME\n",
		"pasue web":     "error: unknown command \"pasue\" for \"kubectl fairlead\"\n\nDid you mean this?\n\tpause\nSee 'kubectl fairlead -h' for the commands\n",
		"frobnicate":    "error: unknown command \"frobnicate\" for \"kubectl fairlead\"\nSee 'kubectl fairlead -h' for the commands\n",
		"help rollback": "error: unknown command \"rollback\": use kubectl fairlead undo NAME\n",
	} {
		streams, _, _, errOut := genericiooptions.NewTestIOStreams()
		if code := Run(t.Context(), streams, strings.Fields(args)); code != ExitError || errOut.String() != want {
			t.Errorf("%q: exit code %d, %q, want %q", args, code, errOut, want)
		}
	}
	root := New(genericiooptions.NewTestIOStreamsDiscard())
	for word := range foreign {
		if cmd, _, err := root.Find([]string{word}); err == nil && cmd != root {
			t.Errorf("%q is a command, so its entry has no effect", word)
		}
	}
}

// TestHelp: kubectl fairlead help COMMAND prints what -h prints.
func TestHelp(t *testing.T) {
	for _, command := range []string{"", "why", "set image"} {
		var printed []string
		for _, args := range [][]string{append([]string{"help"}, strings.Fields(command)...), append(strings.Fields(command), "-h")} {
			streams, _, out, errOut := genericiooptions.NewTestIOStreams()
			if code := Run(t.Context(), streams, args); code != ExitYes || errOut.String() != "" {
				t.Errorf("%q: exit code %d, %q", args, code, errOut)
			}
			printed = append(printed, out.String())
		}
		if printed[0] == "" || printed[0] != printed[1] {
			t.Errorf("help %s prints\n%s\nand -h\n%s", command, printed[0], printed[1])
		}
	}
}

// TestExplainsWebhooks: who edits an Application while its webhooks do not answer reads what to do.
func TestExplainsWebhooks(t *testing.T) {
	const ask = "\nThe API server cannot ask the webhook that it names"
	const foreign = ". It is not Fairlead's: ask the client or team that installed it. To find it: kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations"
	for name, next := range map[string]string{
		"mutate.applications.apps.fairlead.dev": ": see 'kubectl fairlead doctor'.", "images.example.com": foreign, "apps.fairlead.dev.example.com": foreign,
	} {
		message := fmt.Sprintf("failed calling webhook %q: connection refused", name)
		want := "Internal error occurred: " + message + ask + next
		if got := explain(fmt.Errorf("shop/web: %w", apierrors.NewInternalError(errors.New(message)))); got != "shop/web: "+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestExplainsRefusals: what Fairlead's own webhooks refuse reads as what the API server refuses. The name of another webhook matters.
func TestExplainsRefusals(t *testing.T) {
	denied := func(message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity, Message: message}}
	}
	const (
		invalid = `Application.apps.fairlead.dev "web" is invalid: spec.replicas: Invalid value: 30: must be at most 20`
		policy  = `admission webhook "images.example.com" denied the request: no latest tag`
	)
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"an edit":         {denied(`admission webhook "validate.applications.apps.fairlead.dev" denied the request: ` + invalid), invalid},
		"of several":      {fmt.Errorf("shop/web: %w", denied(`admission webhook "validate.scale.applications.apps.fairlead.dev" denied the request: `+invalid)), "shop/web: " + invalid},
		"another webhook": {denied(policy), policy},
	} {
		if got := explain(test.err); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestExplainsMissingAPI tells an Application that does not exist from a cluster without Applications.
func TestExplainsMissingAPI(t *testing.T) {
	resource := v1.Resource("applications")
	for want, err := range map[string]error{
		"this cluster does not serve Applications: install Fairlead's CRDs, or pass another --context":                                             apierrors.NewGenericServerResponse(404, "get", resource, "web", "404 page not found", 0, true),
		"applications.apps.fairlead.dev \"web\" not found\nIf it is in another namespace, pass that with -n: 'kubectl fairlead get -A' lists all.": apierrors.NewNotFound(resource, "web"),
		"deployments.apps \"web\" not found\nIf it is in another namespace, pass that with -n: 'kubectl get deployments -A' lists all.":            apierrors.NewNotFound(appsv1.Resource("deployments"), "web"),
	} {
		if got := explain(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestExplainsForbidden: another namespace may help a user, but not with classes.
func TestExplainsForbidden(t *testing.T) {
	everywhere := apierrors.NewForbidden(v1.Resource(v1.ApplicationResource), "", errors.New(`User "jane" cannot list resource "applications" in API group "apps.fairlead.dev" at the cluster scope`))
	const want = "\nAsk for the permission in the whole cluster, or leave out -A and pass a --namespace."
	if got := explain(everywhere); got != everywhere.Error()+want {
		t.Errorf("%q, want the end %q", got, want)
	}
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
