// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package doctor judges an installation of Fairlead by its objects. It is pure: what the user may not read is a warning,
// never a guess.
package doctor

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/tree"
)

// Installation is what was read. A nil object does not exist; Unreadable has those that could not be read.
type Installation struct {
	Namespace   string
	Server      string
	Definitions []apiextensionsv1.CustomResourceDefinition
	Deployment  *appsv1.Deployment
	Lease       *coordinationv1.Lease
	Webhooks    []admissionregistrationv1.ValidatingWebhook
	Mutating    []admissionregistrationv1.MutatingWebhook
	// ByURL are the names of the configurations whose webhooks have a URL: of a controller outside of the cluster.
	ByURL []string
	// Probe is what the API server said to an Application that it was to check, and not to store.
	Probe        error
	Endpoints    []discoveryv1.EndpointSlice
	Applications []v1.Application
	Classes      []*v1.ApplicationClass
	// Denied are what the user may not do in namespace Asked, of what the plugin needs.
	Denied     []string
	Asked      string
	Unreadable map[string]error
}

// Result is one check.
type Result struct {
	Check   string      `json:"check"`
	Health  tree.Health `json:"health"`
	Message string      `json:"message"`
	Next    string      `json:"next,omitempty"`
}

// Examine runs all checks.
func Examine(in Installation, now time.Time) []Result {
	results := []Result{
		in.definitions(now), in.controller(), in.leader(now), in.webhooks(), in.certificates(now), in.classes(), in.lag(now), in.permissions(),
	}
	for i := range results {
		read := results[i].Check
		if read == Certificates {
			read = Webhooks // They have its CAs.
		}
		if err, unreadable := in.Unreadable[read]; unreadable {
			results[i] = Result{results[i].Check, tree.Unknown, err.Error(), "Ask for the permission, or let an administrator run this."}
		}
	}
	return results
}

// Wrong reports whether a check failed.
func Wrong(results []Result) bool {
	return slices.ContainsFunc(results, func(r Result) bool { return r.Health == tree.Degraded || r.Health == tree.Missing })
}

// The names of the checks.
const (
	Definitions  = "CRDs"
	Controller   = "controller"
	Leader       = "leader"
	Webhooks     = "webhooks"
	Certificates = "certificates"
	Classes      = "classes"
	Lag          = "lag"
	Permissions  = "permissions"
)

func (in Installation) controller() Result {
	if in.Deployment == nil {
		return Result{Controller, tree.Unknown, "no Deployment fairlead-controller in namespace " + in.Namespace, "Name its namespace with --system-namespace. A controller outside of the cluster has no Deployment."}
	}
	image := ""
	if containers := in.Deployment.Spec.Template.Spec.Containers; len(containers) > 0 {
		image = containers[0].Image
	}
	kubectl, wanted, available := "kubectl --namespace "+in.Namespace, int32(1), in.Deployment.Status.AvailableReplicas
	if replicas := in.Deployment.Spec.Replicas; replicas != nil {
		wanted = *replicas
	}
	message := fmt.Sprintf("%s, %d of %d replicas available", image, available, wanted)
	refusal := in.refusedPods()
	switch {
	case wanted == 0 && available == 0:
		return Result{Controller, tree.Degraded, image + ", scaled to 0", "Scale it up: " + kubectl + " scale deployment fairlead-controller --replicas=2"}
	case refusal != "":
		health := tree.Degraded
		if available > 0 {
			health = tree.Progressing
		}
		return Result{Controller, health, message + ", and the API server refuses its pods: " + refusal, "Look at its Events: " + kubectl + " describe replicasets"}
	case available == 0:
		return Result{Controller, tree.Degraded, message, "Look at its pods: " + kubectl + " get pods"}
	}
	return Result{Controller, tree.Healthy, message, ""}
}

// refusedPods is why the Deployment cannot create pods, such as for a quota or a policy. There are no pods to look at then.
func (in Installation) refusedPods() string {
	for _, condition := range in.Deployment.Status.Conditions {
		if condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue {
			return condition.Message
		}
	}
	return ""
}

func (in Installation) leader(now time.Time) Result {
	if in.isReleased() {
		// A leader that ends releases it. An available replica may be about to take it, or run without --leader-elect.
		message, health := "the last leader released the Lease fairlead-controller in namespace "+in.Namespace, tree.Degraded
		next := "A controller without --leader-elect needs none. Otherwise no controller runs, and no Application is synced: start it, or look at its log."
		if renewed := in.Lease.Spec.RenewTime; renewed != nil {
			message += fmt.Sprintf(" %s ago", now.Sub(renewed.Time).Round(time.Second))
		}
		if in.Unreadable[Controller] != nil || in.Deployment != nil && in.Deployment.Status.AvailableReplicas > 0 {
			health = tree.Unknown
			next = "A controller without --leader-elect needs none. Otherwise a replica takes it within seconds; if none does, look at the controller's log."
		}
		return Result{Leader, health, message + ", and no replica holds it", next}
	}
	if in.Lease == nil || in.Lease.Spec.RenewTime == nil {
		return Result{Leader, tree.Unknown, "no replica holds the Lease fairlead-controller in namespace " + in.Namespace, "A controller without --leader-elect needs none. Otherwise no Application is synced: look at the controller's log."}
	}
	age := now.Sub(in.Lease.Spec.RenewTime.Time).Round(time.Second)
	message := fmt.Sprintf("%s renewed the Lease %s ago", *in.Lease.Spec.HolderIdentity, age)
	duration := 15 * time.Second
	if seconds := in.Lease.Spec.LeaseDurationSeconds; seconds != nil {
		duration = time.Duration(*seconds) * time.Second
	}
	if age > duration {
		return Result{Leader, tree.Degraded, message + ", which is longer than it lasts", "No replica works: look at the controller's log."}
	}
	return Result{Leader, tree.Healthy, message, ""}
}

// isReleased reports whether the Lease is there without a holder.
func (in Installation) isReleased() bool {
	return in.Lease != nil && (in.Lease.Spec.HolderIdentity == nil || *in.Lease.Spec.HolderIdentity == "")
}

func (in Installation) webhooks() Result {
	if len(in.Webhooks)+len(in.Mutating) == 0 && in.servesWebhooks() {
		// Such a controller accepts every account, because it takes each for reviewed.
		return Result{
			Webhooks, tree.Degraded, "the controller serves webhooks, but none are registered: nothing reviews which ServiceAccounts Applications name",
			"List the accounts that they name now: " + listAccounts + ". Then bring the webhooks back: run 'make deploy' in a checkout of Fairlead, or 'helm upgrade'.",
		}
	}
	if len(in.Webhooks)+len(in.Mutating) == 0 {
		return Result{Webhooks, tree.Unknown, "none registered: what the CRD cannot check is reported by the sync", ""}
	}
	ready := 0
	for i := range in.Endpoints {
		for _, endpoint := range in.Endpoints[i].Endpoints {
			if endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready {
				ready++
			}
		}
	}
	byService := slices.ContainsFunc(in.Webhooks, func(w admissionregistrationv1.ValidatingWebhook) bool { return w.ClientConfig.Service != nil })
	if byService && ready == 0 {
		return Result{Webhooks, tree.Degraded, "registered, but no endpoint of their Service is ready: writes of Applications fail", "Look at the controller's pods: kubectl --namespace " + in.Namespace + " get pods"}
	}
	return in.probed(ready)
}

// listAccounts is in docs/operations.md too.
const listAccounts = "kubectl get applications.apps.fairlead.dev --all-namespaces -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,ACCOUNT:.spec.serviceAccount.name"

// servesWebhooks reports whether the Deployment's controller leaves the review of accounts to webhooks, as a flag says.
func (in Installation) servesWebhooks() bool {
	if in.Deployment == nil {
		return false
	}
	return slices.ContainsFunc(in.Deployment.Spec.Template.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(slices.Concat(c.Command, c.Args), func(argument string) bool {
			address, found := strings.CutPrefix(argument, "--webhook-bind-address")
			return found && address != "="
		})
	})
}

// probed judges the webhooks by what they said to the probe. What refuses it has looked at it.
func (in Installation) probed(ready int) Result {
	message := fmt.Sprintf("%d registered, %d endpoints ready", len(in.Webhooks)+len(in.Mutating), ready)
	next := "Look at the controller's log for \"webhook\"."
	if len(in.ByURL) > 0 {
		message = fmt.Sprintf("%d registered by URL", len(in.Webhooks)+len(in.Mutating))
		next = "Start the controller on that machine again, or delete what it left: kubectl delete mutatingwebhookconfiguration,validatingwebhookconfiguration " + strings.Join(in.ByURL, " ")
	}
	switch {
	case in.Probe == nil, apierrors.IsInvalid(in.Probe):
		return Result{Webhooks, tree.Healthy, message + "; they answer", ""}
	case in.isUnanswered(in.Probe):
		return Result{Webhooks, tree.Degraded, message + ", but they do not answer, so writes of Applications fail: " + in.Probe.Error(), next}
	default:
		return Result{Webhooks, tree.Unknown, message + "; whether they answer is not known: " + in.Probe.Error(), ""}
	}
}

// isUnanswered reports whether the API server failed because it could not call a webhook of Fairlead. Only the message names it.
func (in Installation) isUnanswered(err error) bool {
	if !apierrors.IsInternalError(err) {
		return false
	}
	names := func(webhook string) bool {
		return strings.Contains(err.Error(), fmt.Sprintf("failed calling webhook %q", webhook))
	}
	return slices.ContainsFunc(in.Webhooks, func(w admissionregistrationv1.ValidatingWebhook) bool { return names(w.Name) }) ||
		slices.ContainsFunc(in.Mutating, func(w admissionregistrationv1.MutatingWebhook) bool { return names(w.Name) })
}

// certificates looks at the CAs that the API server trusts.
func (in Installation) certificates(now time.Time) Result {
	var bundles [][]byte
	for _, w := range in.Webhooks {
		bundles = append(bundles, w.ClientConfig.CABundle)
	}
	for _, w := range in.Mutating {
		bundles = append(bundles, w.ClientConfig.CABundle)
	}
	if len(bundles) == 0 {
		return Result{Certificates, tree.Unknown, "no webhooks, so none needed", ""}
	}
	var last time.Time
	for _, bundle := range bundles {
		until := validUntil(bundle)
		if until.IsZero() {
			return Result{Certificates, tree.Degraded, "a webhook has no CA that can be read, so the API server cannot call it", "The controller writes it when it serves webhooks: look at its log for \"certificate\"."}
		}
		if last.IsZero() || until.Before(last) {
			last = until
		}
	}
	message := "the CA of the webhooks is valid until " + last.UTC().Format(time.DateOnly)
	if now.After(last) {
		return Result{Certificates, tree.Degraded, "the CA of the webhooks expired on " + last.UTC().Format(time.DateOnly), "The controller rotates it: look at its log for \"certificate\"."}
	}
	return Result{Certificates, tree.Healthy, message, ""}
}

// validUntil is the end of the CA that lasts longest, or zero.
func validUntil(bundle []byte) time.Time {
	var last time.Time
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if ca, err := x509.ParseCertificate(block.Bytes); err == nil && ca.NotAfter.After(last) {
			last = ca.NotAfter
		}
	}
	return last
}

func (in Installation) permissions() Result {
	if len(in.Denied) > 0 {
		return Result{Permissions, tree.Progressing, "you may not " + strings.Join(in.Denied, ", ") + " in namespace " + in.Asked, in.withoutPermissions()}
	}
	return Result{Permissions, tree.Healthy, "you may do what the commands need in namespace " + in.Asked, ""}
}

// withoutPermissions says what the commands do without each of them.
func (in Installation) withoutPermissions() string {
	const (
		write   = "patch " + v1.ApplicationResource
		history = "list controllerrevisions"
	)
	var effects []string
	if slices.Contains(in.Denied, write) {
		effects = append(effects, "Edits of Applications are refused: ask the platform team for the role edit in this namespace.")
	}
	if slices.Contains(in.Denied, history) {
		effects = append(effects, "history and undo need controllerrevisions.")
	}
	if slices.ContainsFunc(in.Denied, func(denied string) bool { return denied != write && denied != history }) {
		effects = append(effects, "The commands leave out what you may not read.")
	}
	return strings.Join(effects, " ")
}

// Print writes the results as text.
func Print(to *screen.Screen, results []Result) {
	for _, result := range results {
		word := "ok"
		switch result.Health {
		case tree.Degraded, tree.Missing:
			word = "WRONG"
		case tree.Progressing, tree.Suspended, tree.Unknown:
			word = "note"
		case tree.Healthy:
		}
		to.Row(result.Check, to.Health(result.Health, word)+"  "+result.Message)
		if result.Next != "" {
			to.Row("", "→ "+result.Next)
		}
	}
}
