// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// Secrets are the Secrets whose absence would explain something: those of images that cannot be pulled, and those of certificates.
// The controller does not look for them: pods start without the first, and an Ingress without the second.
func Secrets(loaded *cluster.Loaded) []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if slices.ContainsFunc(loaded.Application.Status.Problems, func(problem v1.Problem) bool { return problem.Reason == v1.ReasonImagePullFailed }) {
		for _, source := range pullSources(loaded) {
			add(source.secret)
		}
	}
	for _, source := range certificates(loaded) {
		add(source.secret)
	}
	return names
}

// secretSource is where a Secret is named.
type secretSource struct {
	secret, object, field string
	// issued: the annotations of the Ingress ask a controller for the Secret.
	issued bool
}

// missing returns the sources whose Secrets do not exist, each Secret once.
func (f facts) missing(sources []secretSource) []secretSource {
	var found []secretSource
	for _, source := range sources {
		seen := slices.ContainsFunc(found, func(other secretSource) bool { return other.secret == source.secret })
		if slices.Contains(f.MissingSecrets, source.secret) && !seen {
			found = append(found, source)
		}
	}
	return found
}

func (s secretSource) evidence() Evidence {
	return Evidence{Object: s.object, Field: s.field, Message: fmt.Sprintf("names Secret %s, which does not exist", s.secret)}
}

// pullSources are the Secrets with credentials of registries. The class may name them too, and the ServiceAccount gives its own to pods.
func pullSources(loaded *cluster.Loaded) []secretSource {
	var sources []secretSource
	add := func(object, field string, secrets []corev1.LocalObjectReference) {
		for _, secret := range secrets {
			sources = append(sources, secretSource{secret: secret.Name, object: object, field: field})
		}
	}
	application := loaded.Application
	add(v1.ApplicationKind+"/"+application.Name, "spec.imagePullSecrets", application.Spec.ImagePullSecrets)
	if deployment := child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, application.Name); deployment != nil {
		add(child.Deployment.Kind+"/"+deployment.Name, "spec.template.spec.imagePullSecrets", deployment.Spec.Template.Spec.ImagePullSecrets)
	}
	current := facts{Loaded: loaded, app: application}.replicaSet()
	for _, pod := range loaded.Pods {
		if current != nil && !metav1.IsControlledBy(pod, current) {
			continue // A pod of an older revision may have been made with another ServiceAccount.
		}
		add("Pod/"+pod.Name, "spec.imagePullSecrets", pod.Spec.ImagePullSecrets)
	}
	return sources
}

// addMissingPullSecrets adds the Secrets that do not exist, or else those that the kubelet did not find, by its Event: the user may not
// be allowed to read them.
func (f facts) addMissingPullSecrets(finding *Finding) {
	missing := f.missing(pullSources(f.Loaded))
	for _, source := range missing {
		finding.Evidence = append(finding.Evidence, source.evidence())
		finding.Next = append(finding.Next, fmt.Sprintf("Create Secret %s, or %s: kubectl create secret docker-registry %[1]s "+
			"--docker-server=REGISTRY --docker-username=USER --docker-password=PASSWORD", source.secret, f.correctPullSecret(source)))
	}
	i := slices.IndexFunc(f.EventsOfObjects, func(event corev1.Event) bool { return event.Reason == "FailedToRetrieveImagePullSecret" })
	if i < 0 || len(missing) > 0 {
		return
	}
	event := &f.EventsOfObjects[i]
	finding.Evidence = append(finding.Evidence, eventEvidence(event))
	secrets, correct := "the Secret that the Event names", "correct spec.imagePullSecrets"
	if names := pullSecrets.FindStringSubmatch(event.Message); names != nil {
		secrets, correct = "Secret "+strings.ReplaceAll(names[1], ", ", " and Secret "), f.correctPullSecrets(strings.Split(names[1], ", "))
	}
	finding.Next = append(finding.Next, "Create "+secrets+" with the credentials of the registry, or "+correct+".")
}

// correctPullSecrets is what to do where the Secrets are named, each step once.
func (f facts) correctPullSecrets(secrets []string) string {
	var steps []string
	for _, secret := range secrets {
		source := secretSource{secret: secret}
		for _, known := range pullSources(f.Loaded) {
			if known.secret == secret {
				source = known
				break
			}
		}
		if step := f.correctPullSecret(source); !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
	}
	return strings.Join(steps, ", and ")
}

// correctPullSecret is what to do where the Secret is named: the Application, its class or its ServiceAccount.
func (f facts) correctPullSecret(source secretSource) string {
	is := func(secret corev1.LocalObjectReference) bool { return secret.Name == source.secret }
	taken, class := f.class()
	switch {
	case slices.ContainsFunc(f.app.Spec.ImagePullSecrets, is):
		return "correct spec.imagePullSecrets"
	case slices.ContainsFunc(taken.ImagePullSecrets, is):
		return "ask the platform team to correct ApplicationClass " + class + ", which names it"
	case strings.HasPrefix(source.object, "Pod/") && f.replicaSet() != nil:
		return "remove it from the ServiceAccount of the pods"
	case strings.HasPrefix(source.object, "Pod/"): // The pods may be of any revision.
		return "remove it from the ServiceAccount of the pods, unless it comes from an older revision"
	default:
		return "correct spec.imagePullSecrets"
	}
}

// pullSecrets finds the names in the kubelet's message.
var pullSecrets = regexp.MustCompile(`image pull secrets \(([^)]+)\)`)

// certificates are the Secrets that the Application's Ingresses take their certificates from.
func certificates(loaded *cluster.Loaded) []secretSource {
	var sources []secretSource
	for _, live := range loaded.Children {
		ingress, ok := live.(*networkingv1.Ingress)
		if !ok || !child.OwnedBy(ingress, loaded.Application) || ingress.DeletionTimestamp != nil {
			continue
		}
		for _, tls := range ingress.Spec.TLS {
			sources = append(sources, secretSource{
				secret: tls.SecretName, object: child.Ingress.Kind + "/" + ingress.Name, field: "spec.tls", issued: asksForCertificate(ingress),
			})
		}
	}
	return sources
}

// asksForCertificate reports whether the annotations of an Ingress ask cert-manager for a certificate.
func asksForCertificate(ingress *networkingv1.Ingress) bool {
	for key := range ingress.Annotations {
		if strings.HasPrefix(key, "cert-manager.io/") || key == "kubernetes.io/tls-acme" {
			return true
		}
	}
	return false
}

// missingCertificates explains Ingresses without a certificate. Pods and routes work all the same.
func missingCertificates(f facts) []Finding {
	if f.app.DeletionTimestamp != nil {
		return nil
	}
	var found []Finding
	for _, source := range f.missing(certificates(f.Loaded)) {
		names := "the Ingress" // Another client wrote it, such as the one whose Ingress the Application took over.
		taken, class := f.class()
		switch {
		case slices.ContainsFunc(f.app.Spec.Routes, func(route v1.Route) bool { return route.TLS != nil && route.TLS.SecretName == source.secret }):
			names = "the route"
		case taken.Routes != nil && taken.Routes.TLS != nil && taken.Routes.TLS.SecretName == source.secret:
			names = "ApplicationClass " + class
		}
		next := []string{
			fmt.Sprintf("Create it: kubectl create secret tls %s --cert=FILE --key=FILE", source.secret),
			"Or let a controller such as cert-manager create it.",
		}
		if source.issued {
			next = []string{"Wait for cert-manager, which the annotations of the Ingress ask for it; if that lasts, see why: kubectl describe certificates"}
		}
		found = append(found, Finding{
			Reason:   "CertificateMissing",
			What:     fmt.Sprintf("Secret %s does not exist, so HTTPS clients do not get the certificate that %s names.", source.secret, names),
			Evidence: []Evidence{source.evidence()},
			Next:     next,
		})
	}
	return found
}
