// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validation checks an Application beyond what the CRD's schema and CEL rules can. The sync
// calls it before it renders, and the webhooks before they admit. So the API server never has to refuse
// an invalid child, late and with a message about an object that the user did not write.
//
// It is pure, never panics, returns the same list for the same input, and its work and its
// messages are bounded by the size of the input.
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
	// SecurityProfile is the Pod Security level that the pods must meet. Anything but baseline
	// and privileged means restricted. The class may set another one.
	SecurityProfile podsecurity.Level
	// ForeignServiceAccounts allows serviceAccount.name. The sync does not know who wrote a spec: set it only
	// where webhooks review every requester, or where the administrator accepts that nothing does.
	ForeignServiceAccounts bool
	// Class is that of the Application, which has the class's defaults already; its limits are
	// applied too. Nil: none.
	Class *v1.ApplicationClass
}

// input is what every rule may look at.
type input struct {
	app  *v1.Application
	spec *v1.ApplicationSpec
	// path is that of spec.
	path *field.Path
	// level is one of the three of Pod Security.
	level podsecurity.Level
	// foreignServiceAccounts allows serviceAccount.name.
	foreignServiceAccounts bool
	// class is that of the Application, or nil.
	class *v1.ApplicationClass
	// containers are the names of all containers of the pod, in their order there: the
	// application's first.
	containers []string
	// volumes are the names of the pod's volumes; emptyDirs those that containers share files by.
	volumes, emptyDirs []string
}

// rule looks at one subject. It returns errors in the order of the spec, never in that of a map.
type rule func(input) field.ErrorList

// ValidateApplication returns everything that would keep a child from being what the user
// means: what the API server would refuse in it, what it would accept and could never work, and
// what the platform's limits forbid. An empty list means valid.
func ValidateApplication(app *v1.Application, options Options) field.ErrorList {
	if app == nil {
		return field.ErrorList{field.Required(field.NewPath("spec"), "there is no Application")}
	}
	if errs := validateSize(app); len(errs) > 0 {
		return bounded(errs) // To look for more in it is what it must not cost.
	}
	in := newInput(app, options)
	var errs field.ErrorList
	for _, rule := range []rule{
		// Who it is, and what runs.
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
		// How many, and how they change.
		validateReplicas,
		validateAutoscaling,
		validateStrategy,
		validateDisruptionBudget,
		// How it is reached, and what it reaches.
		validateService,
		validateRoutes,
		validateParentKinds,
		validateMonitoring,
		validateNetworkPolicy,
		// Who it is to others, and where it runs.
		validateServiceAccount,
		validateSecurityContexts,
		validateScheduling,
		validatePodMetadata,
		validateHarmlessAnnotations,
		// What is allowed. OnlyExceedsClass relies on it being the end.
		validateSecurityProfile,
		validateClassLimits,
	} {
		errs = append(errs, rule(in)...)
	}
	return bounded(errs)
}

func newInput(app *v1.Application, options Options) input {
	in := input{app: app, spec: &app.Spec, path: field.NewPath("spec"), level: podsecurity.LevelRestricted, class: options.Class, foreignServiceAccounts: options.ForeignServiceAccounts}
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

// validateName: the name becomes that of the Service, which must be an RFC 1035 label.
func validateName(in input) field.ErrorList {
	return invalid(field.NewPath("metadata", "name"), in.app.Name, utilvalidation.IsDNS1035Label(in.app.Name))
}

// validateCommand refuses what Kubernetes accepts and no container runtime starts.
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

// validatePolicies repeats the enumerations of the schema that no other rule looks at, and the
// limits of numbers.
func validatePolicies(in input) field.ErrorList {
	errs := enum(in.path.Child("imagePullPolicy"), in.spec.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
	errs = append(errs, enum(in.path.Child("reconcilePolicy"), in.spec.ReconcilePolicy, v1.ReconcileEnforce, v1.ReconcileObserve, v1.ReconcileSuspend)...)
	errs = append(errs, enum(in.path.Child("deletionPolicy"), in.spec.DeletionPolicy, v1.DeletionDelete, v1.DeletionOrphan)...)
	if rollback := in.spec.Rollback; rollback != nil {
		errs = append(errs, enum(in.path.Child("rollback", "policy"), rollback.Policy, v1.RollbackNever, v1.RollbackOnFailure)...)
	}
	errs = append(errs, between(in.path.Child("terminationGracePeriodSeconds"), in.spec.TerminationGracePeriodSeconds, 0, 86400)...)
	errs = append(errs, between(in.path.Child("revisionHistoryLimit"), in.spec.RevisionHistoryLimit, 0, 100)...)
	return errs
}
