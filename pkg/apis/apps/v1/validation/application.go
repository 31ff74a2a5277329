// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validation checks of an Application what the CRD's schema and CEL rules cannot check. The sync calls it before
// it renders, and the webhooks before they admit. So the API server never refuses an invalid child, late, with a message
// about an object that the user did not write.
//
// It is pure and never panics. It returns the same list for the same input. Its work and its messages are bounded by the
// size of the input.
package validation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podsecurity "k8s.io/pod-security-admission/api"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Options are the limits that the platform sets.
type Options struct {
	// SecurityProfile is the Pod Security level that the pods must meet: baseline or privileged; all other values mean
	// restricted. The class may set another one.
	SecurityProfile podsecurity.Level
	// ForeignServiceAccounts allows serviceAccount.name. The sync does not know who wrote a spec, so set it only if
	// webhooks review every requester, or if the administrator accepts that none does.
	ForeignServiceAccounts bool
	// TemporaryWebhooks says that there are webhooks, which end with the controller. It explains why ForeignServiceAccounts
	// is not set.
	TemporaryWebhooks bool
	// Class is the class of the Application, whose limits apply; nil if it has none. The Application must already have
	// the defaults of the class.
	Class *v1.ApplicationClass
	// FormerPods says that the pods are those of a former revision, with the defaults of its time. An edit of the spec does not change them.
	FormerPods bool
}

// input has what every rule may use.
type input struct {
	app  *v1.Application
	spec *v1.ApplicationSpec
	// path is the path of spec.
	path *field.Path
	// level is a Pod Security level.
	level podsecurity.Level
	// foreignServiceAccounts allows serviceAccount.name; temporaryWebhooks explains why not.
	foreignServiceAccounts, temporaryWebhooks bool
	// class is the class of the Application, or nil.
	class *v1.ApplicationClass
	// formerPods says that the pods are those of a former revision.
	formerPods bool
	// containers are the names of all containers of the pod, in their order; the application's is the first.
	containers []string
	// volumes are the names of the pod's volumes, emptyDirs those through which containers share files.
	volumes, emptyDirs []string
}

// rule checks one subject. It returns errors in the order of the spec, never in the order of a map.
type rule func(input) field.ErrorList

// ValidateApplication returns all reasons why a child would not be what the user means: what the API server would
// refuse, what it would accept although it can never work, and what the limits of the platform forbid. An empty list
// means valid.
func ValidateApplication(app *v1.Application, options Options) field.ErrorList {
	if app == nil {
		return field.ErrorList{field.Required(field.NewPath("spec"), "there is no Application")}
	}
	if errs := validateSize(app); len(errs) > 0 {
		return bounded(errs) // Further checks of what is too large would cost too much.
	}
	in := newInput(app, options)
	var errs field.ErrorList
	for _, rule := range []rule{
		// Identity, and what runs.
		validateName,
		validateApplicationImage,
		validateImagePullSecrets,
		validatePolicies,
		// The application container.
		validateCommand,
		validatePorts,
		validateApplicationEnv,
		validateConfig,
		validateMounts,
		validateApplicationResources,
		validateApplicationProbes,
		validateApplicationLifecycle,
		// The other containers.
		validateInitContainers,
		validateSidecars,
		validatePortsAcrossContainers,
		// Scaling and rollout.
		validateReplicas,
		validateAutoscaling,
		validateStrategy,
		validateDisruptionBudget,
		// Network.
		validateService,
		validateRoutes,
		validateParentKinds,
		validateMonitoring,
		validateNetworkPolicy,
		// Identity in the cluster, and scheduling.
		validateServiceAccount,
		validateSecurityContexts,
		validateScheduling,
		validatePodMetadata,
		validateHarmlessAnnotations,
		// Limits. OnlyExceedsClass relies on these being last.
		validateSecurityProfile,
		validateClassLimits,
	} {
		errs = append(errs, rule(in)...)
	}
	return bounded(errs)
}

func newInput(app *v1.Application, options Options) input {
	in := input{app: app, spec: &app.Spec, path: field.NewPath("spec"), level: podsecurity.LevelRestricted, class: options.Class, foreignServiceAccounts: options.ForeignServiceAccounts, temporaryWebhooks: options.TemporaryWebhooks, formerPods: options.FormerPods}
	switch level := levelOf(options.Class, options.SecurityProfile); level {
	case podsecurity.LevelBaseline, podsecurity.LevelPrivileged:
		in.level = level
	}
	in.containers = append(in.containers, app.Name)
	for i := range app.Spec.InitContainers {
		in.containers = append(in.containers, app.Spec.InitContainers[i].Name)
	}
	for i := range app.Spec.Sidecars {
		in.containers = append(in.containers, app.Spec.Sidecars[i].Name)
	}
	in.volumes, in.emptyDirs = volumeNames(&app.Spec)
	return in
}

// validateName checks the name as that of the Service, which must be an RFC 1035 label.
func validateName(in input) field.ErrorList {
	return invalid(field.NewPath("metadata", "name"), in.app.Name, utilvalidation.IsDNS1035Label(in.app.Name))
}

// validateCommand refuses commands that Kubernetes accepts and no container runtime starts.
func validateCommand(in input) field.ErrorList {
	errs := validateWords(in.path.Child("command"), in.spec.Command)
	errs = append(errs, validateWords(in.path.Child("args"), in.spec.Args)...)
	return append(errs, validateWorkingDir(in.path.Child("workingDir"), in.spec.WorkingDir)...)
}

func validateWorkingDir(path *field.Path, directory string) field.ErrorList {
	if directory == "" || strings.HasPrefix(directory, "/") && !hasControl(directory) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, directory, "must be an absolute path without control characters")}
}

func validateImagePullSecrets(in input) field.ErrorList {
	path := in.path.Child("imagePullSecrets")
	errs := tooMany(path, len(in.spec.ImagePullSecrets), 32)
	seen := names{}
	for i, secret := range in.spec.ImagePullSecrets {
		errs = append(errs, subdomain(path.Index(i).Child("name"), secret.Name)...)
		errs = append(errs, seen.add(path.Index(i).Child("name"), secret.Name)...)
	}
	return errs
}

// validatePolicies repeats the schema's enumerations that no other rule checks, and its limits of numbers.
func validatePolicies(in input) field.ErrorList {
	errs := enum(in.path.Child("imagePullPolicy"), in.spec.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
	errs = append(errs, enum(in.path.Child("reconcilePolicy"), in.spec.ReconcilePolicy, v1.ReconcileEnforce, v1.ReconcileObserve, v1.ReconcileSuspend)...)
	errs = append(errs, enum(in.path.Child("deletionPolicy"), in.spec.DeletionPolicy, v1.DeletionDelete, v1.DeletionOrphan)...)
	errs = append(errs, enum(in.path.Child("adoptionPolicy"), in.spec.AdoptionPolicy, v1.AdoptionNever, v1.AdoptionConsented)...)
	if rollback := in.spec.Rollback; rollback != nil {
		errs = append(errs, enum(in.path.Child("rollback", "policy"), rollback.Policy, v1.RollbackNever, v1.RollbackOnFailure)...)
	}
	errs = append(errs, between(in.path.Child("terminationGracePeriodSeconds"), in.spec.TerminationGracePeriodSeconds, 0, 86400)...)
	errs = append(errs, between(in.path.Child("revisionHistoryLimit"), in.spec.RevisionHistoryLimit, 0, 100)...)
	return errs
}
