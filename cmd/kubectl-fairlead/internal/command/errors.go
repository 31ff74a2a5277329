// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubectl/pkg/cmd/util"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// explainEach explains each error. Advice that several of them share follows the last of these.
func explainEach(errs []error) string {
	var said []string
	advice := ""
	for _, err := range errs {
		what, next, _ := strings.Cut(explain(err), "\n")
		if advice != "" && next != advice {
			said = append(said, advice)
		}
		said, advice = append(said, what), next
	}
	if advice != "" {
		said = append(said, advice)
	}
	return strings.Join(said, "\n")
}

// webhookPrefix is what the API server puts before what a webhook of Fairlead's says. The name of another webhook stays: it says who refuses.
var webhookPrefix = regexp.MustCompile(`admission webhook "[a-z.]+\.` + regexp.QuoteMeta(v1.GroupName) + `" denied the request: `)

// explain says what happened and what to do about it.
func explain(err error) string { return webhookPrefix.ReplaceAllString(explanation(err), "") }

func explanation(err error) string {
	if missing := (*missingError)(nil); errors.As(err, &missing) {
		return explainEach(missing.each)
	}
	status := apierrors.APIStatus(nil)
	meant := ""
	if misspelt := (*misspeltError)(nil); errors.As(err, &misspelt) {
		meant = "Did you mean " + misspelt.meant + "? "
	}
	in := (*notFoundInError)(nil)
	switch {
	case errors.Is(err, errNoMetrics):
		return errNoMetrics.Error()
	case clientcmd.IsEmptyConfig(err):
		return "there is no kubeconfig: set KUBECONFIG, or pass --kubeconfig or --server"
	case meta.IsNoMatchError(err), errors.As(err, &status) && isMissingAPI(status):
		return "this cluster does not serve Applications: install Fairlead's CRDs, or pass another --context"
	case isWebhookDown(err):
		return fmt.Sprintf("%s\nThe API server cannot ask the webhook that it names%s", err, whoseWebhook(err))
	case errors.As(err, &status) && apierrors.IsForbidden(err) && status.Status().Details != nil && status.Status().Details.Kind == v1.ApplicationClassResource:
		return fmt.Sprintf("%s\nAsk for the permission in the whole cluster: classes are in no namespace.", err)
	case apierrors.IsForbidden(err) && strings.HasSuffix(err.Error(), " at the cluster scope"):
		return fmt.Sprintf("%s\nAsk for the permission in the whole cluster, or leave out -A and pass a --namespace.", err)
	case meant != "" && errors.As(err, &in):
		return fmt.Sprintf("%s\n%s", err, strings.TrimSpace(meant))
	case errors.As(err, &in):
		return err.Error()
	case apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Kind == v1.ApplicationResource:
		return fmt.Sprintf("%s\n%sIf it is in another namespace, pass that with -n: 'kubectl fairlead get -A' lists all.", err, meant)
	case apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Kind == "deployments":
		return fmt.Sprintf("%s\n%sIf it is in another namespace, pass that with -n: 'kubectl get deployments -A' lists all.", err, meant)
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("%s\nAsk for the permission, or pass another --context or --namespace.", err)
	case meant != "":
		return fmt.Sprintf("%s\n%s", err, strings.TrimSpace(meant))
	}
	if unknown := err.Error(); strings.HasPrefix(unknown, "unknown command ") {
		return explainUnknown(unknown)
	}
	if message, ok := util.StandardErrorMessage(err); ok && status == nil {
		return message
	}
	return err.Error()
}

// isWebhookDown reports whether the API server refused a request because it cannot call a webhook.
func isWebhookDown(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook")
}

// ownWebhook finds a webhook of Fairlead's that the API server cannot call.
var ownWebhook = regexp.MustCompile(`failed calling webhook "[a-z.]+\.` + regexp.QuoteMeta(v1.GroupName) + `"`)

// whoseWebhook says what to do about the webhook: doctor checks Fairlead's own alone.
func whoseWebhook(err error) string {
	if ownWebhook.MatchString(err.Error()) {
		return ": see 'kubectl fairlead doctor'."
	}
	return ". It is not Fairlead's: ask the client or team that installed it. To find it: kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations"
}

// isMissingAPI recognises the 404 of a path that the API server does not have, as opposed to that of an object. Its body is
// no Status.
func isMissingAPI(status apierrors.APIStatus) bool {
	details := status.Status().Details
	return status.Status().Reason == metav1.StatusReasonNotFound && (details == nil || details.Name == "" ||
		slices.ContainsFunc(details.Causes, func(cause metav1.StatusCause) bool { return cause.Type == metav1.CauseTypeUnexpectedServerResponse }))
}

// usageError names the help of the command.
func usageError(path, format string, args ...any) error {
	return fmt.Errorf("%s\nSee '%s -h' for help and examples", fmt.Sprintf(format, args...), path)
}
