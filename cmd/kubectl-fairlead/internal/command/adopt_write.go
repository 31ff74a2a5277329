// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/managers"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/text"
)

// controllerTimeout is how long the controller may take for a step.
const controllerTimeout = time.Minute

// backUp saves the objects, unless an earlier run did: a consent comes after it, and begins another generation. Then it knows the
// digest of what was saved.
func (a *adopting) backUp(ctx context.Context, application *v1.Application) error {
	if a.deployment.Annotations[v1.AnnotationAdoptableBy] == string(application.UID) {
		return nil
	}
	saved := adopt.Saved{Deployment: a.deployment, Service: a.service}
	if a.release != nil {
		saved.Release = a.release.saved
	}
	secret, err := adopt.Backup(saved)
	if err != nil {
		return err
	}
	_, err = a.clients.Kube.CoreV1().Secrets(a.namespace).Create(ctx, secret, metav1.CreateOptions{FieldManager: fieldManager})
	if apierrors.IsAlreadyExists(err) {
		return a.checkBackup(ctx)
	}
	if err != nil {
		return fmt.Errorf("save the objects: %w", err)
	}
	a.digest = adopt.Digest(secret)
	a.tool.screen().Printf("  saved in Secret %s", secret.Name)
	return nil
}

// checkBackup refuses a backup of another Deployment, or of another state: --abort and eject --restore would restore it. Any user with
// permission to write Secrets may have written it.
func (a *adopting) checkBackup(ctx context.Context) error {
	secret, err := a.clients.Kube.CoreV1().Secrets(a.namespace).Get(ctx, adopt.BackupName(a.name), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	saved, err := adopt.Read(secret)
	if err != nil {
		return err
	}
	what := "has the objects of an earlier adoption"
	switch digest := adopt.Digest(secret); {
	case saved.Deployment.UID != a.deployment.UID:
	case saved.Deployment.Generation != a.deployment.Generation:
		if a.mayAbort(nil, true) == nil {
			return fmt.Errorf("the Secret %s is left from an earlier adoption of this Deployment: run %s to take back what is left of that, then this command again", secret.Name, a.command("--abort"))
		}
	case saved.Describes(digest, a.deployment, a.service):
		a.digest = digest
		return nil
	default:
		what = "says something else than what runs"
	}
	refused := fmt.Sprintf("the Secret %s %s. Keep a copy, since without it they cannot be restored; then run kubectl delete secret %s, and this command again", secret.Name, what, secret.Name)
	if plan.IsLeftover(a.deployment) {
		refused = "the Deployment was left behind by an earlier Application: take all of that back, as docs/guides/take-back.md says. To adopt it like one that never was an Application's: " + refused
	}
	return errors.New(a.tool.withNamespace(a.namespace, refused))
}

// withRefusal adds why the API server would refuse the Application to why it is not written yet. Otherwise a user would delete the backup in
// vain.
func (a *adopting) withRefusal(ctx context.Context, refused error) error {
	draft, err := adopt.Draft(a.deployment, a.service, a.options)
	if err != nil || a.editing.dryRun == cmdutil.DryRunClient {
		return refused
	}
	_ = a.leaveDefaultAccount(ctx, draft, true)
	options := metav1.CreateOptions{FieldManager: fieldManager, DryRun: []string{metav1.DryRunAll}}
	if _, err := a.clients.Fairlead.AppsV1().Applications(a.namespace).Create(ctx, draft, options); apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		return forReasons([]error{refused, needsClass(err)})
	}
	return refused
}

// consent lets the Application adopt the objects, in the very version that was read. The Service comes first: the adoption
// begins with the Deployment.
func (a *adopting) consent(ctx context.Context, application *v1.Application) error {
	if a.service != nil && !consented(a.service, application) && !child.OwnedBy(a.service, application) {
		patch, err := adopt.Consent(a.service, application.UID, a.digest)
		if err != nil {
			return err
		}
		if _, err := a.clients.Kube.CoreV1().Services(a.namespace).Patch(ctx, a.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}); err != nil {
			return fmt.Errorf("consent to the adoption of the Service: %w", again(err))
		}
	}
	if consented(a.deployment, application) {
		return nil
	}
	patch, err := adopt.Consent(a.deployment, application.UID, a.digest)
	if err != nil {
		return err
	}
	_, err = a.clients.Kube.AppsV1().Deployments(a.namespace).Patch(ctx, a.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	if err != nil {
		return fmt.Errorf("consent to the adoption of the Deployment: %w", again(err))
	}
	return nil
}

// consented reports whether an object has the consent, and the labels by which the controller finds it: a GitOps tool may have
// taken them off again.
func consented(object metav1.Object, application *v1.Application) bool {
	labels := object.GetLabels()
	return object.GetAnnotations()[v1.AnnotationAdoptableBy] == string(application.UID) &&
		labels[v1.LabelManagedBy] == v1.ManagedBy && labels[v1.LabelApplication] == application.Name
}

// endRelease ends the change of the Helm release, if there is one. An earlier run may have ended before it.
func (a *adopting) endRelease(ctx context.Context) error {
	if a.release == nil || a.editing.dryRun != cmdutil.DryRunNone {
		return nil
	}
	return a.release.end(ctx)
}

// again says what to do about a conflict.
func again(err error) error {
	if apierrors.IsConflict(err) {
		return errors.New("it changed meanwhile: run the command again")
	}
	return err
}

// enforce waits until the controller would adopt the Deployment, lets it, and waits until it has.
func (a *adopting) enforce(ctx context.Context, application *v1.Application) error {
	to := a.tool.screen()
	if application.Spec.ReconcilePolicy == v1.ReconcileObserve {
		observed, reason, err := a.await(ctx, func(reason string) bool { return reason != v1.ReasonAwaitingConsent })
		if err != nil {
			return err
		}
		if reason.Reason == v1.ReasonRefused {
			to.Hanging("  ", reason.Message)
			to.Line("  Change that and run the command again, or take all of it back with --abort.")
			return errNo
		}
		enforced := observed.DeepCopy()
		enforced.Spec.ReconcilePolicy = v1.ReconcileEnforce
		if _, err := write(ctx, a.clients, observed, enforced, metav1.PatchOptions{FieldManager: fieldManager}); err != nil {
			return err
		}
	}
	application, reason, err := a.await(ctx, func(reason string) bool { return reason != v1.ReasonAwaitingConsent && reason != v1.ReasonAdopting })
	if err != nil {
		return err
	}
	if reason.Reason == v1.ReasonPodsHeld {
		a.announceHeld(ctx, application, reason.Message)
		return nil
	}
	to.Hanging("  ", reason.Message)
	switch reason.Reason {
	case v1.ReasonRefused, v1.ReasonSelectorShared:
		return errNo
	default:
		return nil
	}
}

// await waits until the controller has seen the Application, no rollout of the Deployment is in progress, and the condition
// Adopted has a reason that is wanted.
func (a *adopting) await(ctx context.Context, wanted func(reason string) bool) (application *v1.Application, condition metav1.Condition, err error) {
	waits := a.tool.wait()
	err = wait.PollUntilContextTimeout(ctx, pollInterval, controllerTimeout, true, func(ctx context.Context) (bool, error) {
		var err error
		if application, err = a.clients.Fairlead.AppsV1().Applications(a.namespace).Get(ctx, a.name, metav1.GetOptions{}); err != nil {
			return false, err
		}
		if ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady); ready != nil && ready.ObservedGeneration >= application.Generation {
			if err := refusedByController(ready); err != nil {
				return false, err
			}
		}
		found := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionAdopted)
		if found == nil || found.ObservedGeneration < application.Generation || !wanted(found.Reason) || strings.Contains(found.Message, plan.RolloutInProgress) {
			if waits.isLong() {
				waits.on("adopt the Deployment")
			}
			if found != nil && found.ObservedGeneration >= application.Generation && strings.Contains(found.Message, plan.RolloutInProgress) {
				waits.quote(application, found) // Ready says only that nothing is adopted.
			} else {
				waits.look(application)
			}
			return false, a.checkConsent(ctx, application)
		}
		condition = *found
		return true, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		err = fmt.Errorf("the controller did not adopt the Deployment within %s: see '%s', run the command again, or take all of it back with --abort", controllerTimeout,
			a.tool.commandLine(a.namespace, "why "+a.name))
	}
	return application, condition, err
}

// refusedByController says what to do about an Application that the controller will never carry out as it is; nil about any other.
func refusedByController(ready *metav1.Condition) error {
	advice := "Take it back with --abort"
	switch ready.Reason {
	case v1.ReasonInvalid:
	case v1.ReasonClassRequired:
		advice += ". " + nameClass
	default:
		return nil
	}
	return fmt.Errorf("the controller refuses the Application, and nothing is adopted: %s %s", text.Sentence(ready.Message), advice)
}

// checkConsent reports that another client took off what the controller waits for, or that the rollout needs the user meanwhile.
func (a *adopting) checkConsent(ctx context.Context, application *v1.Application) error {
	live, err := a.clients.Kube.AppsV1().Deployments(a.namespace).Get(ctx, a.name, metav1.GetOptions{})
	if err != nil || child.OwnedBy(live, application) {
		return err
	}
	if consented(live, application) {
		return a.checkRollout(live)
	}
	return errors.New("another client took the consent, or Fairlead's labels, off the Deployment: take it out of the tool that applies it, then run the command again; or take all of it back with --abort")
}

// mayRollOut reports why no pod would be replaced.
func (a *adopting) mayRollOut(application *v1.Application) error {
	if enforced(application) {
		return nil
	}
	return fmt.Errorf("the reconcilePolicy of the Application is %s, so no pod would be replaced: let Fairlead change the children again, "+
		"which replaces no pod while rollouts are paused, then run the command again: %s",
		application.Spec.ReconcilePolicy, a.tool.withNamespace(a.namespace, why.EnforceCommand(application)))
}

// announceRollout says what the release of the pods does. It refuses new pods with a container that another client added to the Deployment,
// unless the user accepts it: the manifest from before the adoption may have been applied while the pods were held.
func (a *adopting) announceRollout(ctx context.Context, application *v1.Application, deployment *appsv1.Deployment) error {
	to := a.tool.screen()
	var missing, there []string
	added := why.AddedContainers(application, deployment)
	for _, container := range added {
		path := ".spec.containers[" + container.Name + "]"
		if there = append(there, path); !slices.Contains(a.accept, path) {
			missing = append(missing, "--accept='"+path+"'")
		}
	}
	if len(missing) > 0 {
		to.Printf("%s: no pod is replaced, because the new ones would have what another client added:", a.id())
	} else {
		a.announceReleased(ctx, application, deployment)
	}
	a.announceUnneeded(there, "another client added no such container.")
	for _, container := range added {
		to.Hanging("  + ", container.What())
		to.Hanging("    ", a.tool.withNamespace(a.namespace, container.Next()))
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: remove the container, or, if the new pods may have it, pass %s", errDraft, strings.Join(missing, " "))
	}
	return nil
}

// rollOut replaces the pods.
func (a *adopting) rollOut(ctx context.Context) error {
	application, err := a.clients.Fairlead.AppsV1().Applications(a.namespace).Get(ctx, a.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		if err := a.readDeployment(ctx); err != nil {
			return err
		}
		return fmt.Errorf("there is nothing to roll out: namespace %s has no Application %s. Adopt the Deployment first: run %s", a.namespace, a.name, a.command(strings.TrimSpace(a.harden(ctx))))
	}
	if err != nil {
		return err
	}
	deployment, err := a.clients.Kube.AppsV1().Deployments(a.namespace).Get(ctx, a.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	to := a.tool.screen()
	held := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionAdopted)
	switch {
	case !child.OwnedBy(deployment, application) || held == nil:
		if application.Spec.AdoptionPolicy != v1.AdoptionConsented {
			return fmt.Errorf("there is nothing to roll out: the adoptionPolicy of the Application %s is not Consented, so it adopts nothing", a.name)
		}
		flag := "--existing" // Without a consent, another user may have written the Application.
		if child.OwnedBy(deployment, application) || consented(deployment, application) {
			flag = ""
		}
		return fmt.Errorf("the Deployment is not adopted yet: run %s", a.command(flag))
	case application.Spec.Paused == nil || !*application.Spec.Paused:
		to.Printf("%s: the rollout is not paused. %s", a.id(), held.Message)
		return nil
	}
	if err := a.mayRollOut(application); err != nil {
		return err
	}
	if err := a.refuseShared(ctx, application, deployment); err != nil {
		return err
	}
	if err := a.announceRollout(ctx, application, deployment); err != nil {
		return err
	}
	released := application.DeepCopy()
	released.Spec.Paused = nil
	options, done := metav1.PatchOptions{FieldManager: fieldManager}, "  written; follow it with "+a.tool.commandLine(a.namespace, "status "+a.name+" --watch")
	switch a.editing.dryRun {
	case cmdutil.DryRunClient:
		to.Line("  not written (dry run)")
		return nil
	case cmdutil.DryRunServer:
		options.DryRun, done = []string{metav1.DryRunAll}, "  not written (server dry run)"
	case cmdutil.DryRunNone:
	}
	if _, err := write(ctx, a.clients, application, released, options); err != nil {
		return err
	}
	to.Line(done)
	if pausedByOthers(application) {
		to.Hanging("  ", "Take spec.paused out of your manifest too: otherwise the next apply pauses rollouts again.")
	}
	return nil
}

// pausedByOthers reports whether another client than this plugin paused the Application.
func pausedByOthers(application *v1.Application) bool {
	paused := fieldpath.MakePathOrDie("spec", "paused")
	return slices.ContainsFunc(application.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager != fieldManager && managers.Has(entry, paused)
	})
}
