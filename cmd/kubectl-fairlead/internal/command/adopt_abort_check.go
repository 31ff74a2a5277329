// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/managers"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// awaitObserved waits until Kubernetes' Deployment controller has seen the Deployment: until then, its status does not say whether
// pods are being replaced.
func (a *adopting) awaitObserved(ctx context.Context) error {
	const interval = 200 * time.Millisecond
	err := wait.PollUntilContextTimeout(ctx, interval, controllerTimeout, true, func(ctx context.Context) (observed bool, err error) {
		if a.deployment.Status.ObservedGeneration >= a.deployment.Generation {
			return true, nil
		}
		a.deployment, err = a.clients.Kube.AppsV1().Deployments(a.namespace).Get(ctx, a.name, metav1.GetOptions{})
		return false, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("the Deployment controller did not look at the Deployment within %s, so nothing says whether pods are being replaced: see whether kube-controller-manager runs, then run the command again",
			controllerTimeout)
	}
	return err
}

// mayAbort reports why the adoption cannot be taken back without replacing a pod. isSaved says that a Secret has what there was before it.
func (a *adopting) mayAbort(application *v1.Application, isSaved bool) error {
	held := a.deployment.Spec.Paused && a.deployment.Status.ObservedGeneration >= a.deployment.Generation && a.deployment.Status.UpdatedReplicas == 0
	if application == nil {
		if adopt.Taken(a.deployment) && !held {
			return a.released()
		}
		return nil
	}
	if application.Spec.AdoptionPolicy != v1.AdoptionConsented {
		return errors.New("this Application adopts nothing: its adoptionPolicy is not Consented")
	}
	if !child.OwnedBy(a.deployment, application) {
		return nil
	}
	paused := application.Spec.Paused != nil && *application.Spec.Paused
	switch {
	case !paused && held:
		return fmt.Errorf("spec.paused does not pause rollouts any more, so this one begins as soon as nothing is in its way; to take the adoption back nevertheless, run %s",
			a.tool.commandLine(a.namespace, "eject "+a.name+" --restore"))
	case !held && !isSaved: // Perhaps the Application created the Deployment.
		return fmt.Errorf("there is nothing to take back: the Deployment belongs to the Application %s, and no Secret %s says what it was before", a.name, adopt.BackupName(a.name))
	case !held:
		return a.released() // No deletionPolicy helps after that.
	case application.Spec.DeletionPolicy != v1.DeletionOrphan:
		return errors.New("the deletionPolicy of the Application is not Orphan, so its deletion would delete the Deployment too: run " + a.orphanPatch() + ", and this command again")
	}
	return nil
}

// isWritten reports whether this command wrote the Application, in a run that may have ended before it saved the objects. The other
// commands of this client write Applications too, but never that field.
func isWritten(application *v1.Application) bool {
	return isManager(application, fieldpath.MakePathOrDie("spec", "adoptionPolicy"))
}

// isManager reports whether this client manages the field.
func isManager(object metav1.Object, field fieldpath.Path) bool {
	return slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == fieldManager && managers.Has(entry, field)
	})
}

// isUnsaved reports whether no Secret says what the Deployment was before this adoption, which a user made without this command. A Secret
// may be left from an earlier one. This command would have put its digest onto the Deployment, together with the consent.
func (a *adopting) isUnsaved(application *v1.Application, secret *corev1.Secret) bool {
	if application == nil || secret != nil && a.deployment.Annotations[adopt.AnnotationBackup] != "" {
		return false
	}
	return child.OwnedBy(a.deployment, application) || secret != nil && adopt.IsMarked(a.deployment)
}

// unsaved is the error of such an adoption, with what the user can do instead.
func (a *adopting) unsaved(ctx context.Context, secret *corev1.Secret) error {
	sets, err := replicaSets(ctx, a.clients, a.deployment)
	if err != nil {
		return fmt.Errorf("read the pod templates that run: %w", err)
	}
	running := ""
	for _, set := range withPods(sets) {
		running = fmt.Sprintf(" The ReplicaSet %s has the pod template that runs.", set.Name)
	}
	why := fmt.Sprintf("there is no Secret %s: the adoption was made by hand, or the Secret was deleted", adopt.BackupName(a.name))
	if secret != nil {
		why = fmt.Sprintf("the Secret %s is of an earlier adoption, because the Deployment does not have its digest. This adoption was made by hand", secret.Name)
	}
	return fmt.Errorf("%s. So nothing says what the Deployment was.%s To delete the Application alone, which replaces no pod, run %s",
		why, running, a.tool.commandLine(a.namespace, "eject "+a.name))
}

// withPods returns the ReplicaSets that ask for pods.
func withPods(sets []appsv1.ReplicaSet) []appsv1.ReplicaSet {
	return slices.DeleteFunc(slices.Clone(sets), func(set appsv1.ReplicaSet) bool { return set.Spec.Replicas == nil || *set.Spec.Replicas == 0 })
}

// checkTemplate refuses a backup with another pod template than the pods that run: it would replace them, by what any user
// with permission to write Secrets has chosen. The API server completes the template, without storing it.
func (a *adopting) checkTemplate(ctx context.Context, before *appsv1.Deployment) error {
	if !adopt.Taken(a.deployment) {
		return nil
	}
	client := a.clients.Kube.AppsV1().Deployments(a.namespace)
	var restored *appsv1.Deployment
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live, err := client.Get(ctx, a.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		restored, err = client.Update(ctx, adopt.Restore(live, before), metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: fieldManager})
		return err
	})
	if err != nil {
		return fmt.Errorf("let the API server check what would be restored: %w", err)
	}
	sets, err := replicaSets(ctx, a.clients, a.deployment)
	if err != nil {
		return fmt.Errorf("read the pod templates that run: %w", err)
	}
	if running := withPods(sets); len(running) > 0 {
		sets = running // To restore the template of an older one would start other pods.
	}
	for i := range sets {
		if equality.Semantic.DeepEqual(sets[i].Spec.Template, restored.Spec.Template) {
			return nil
		}
	}
	if len(sets) == 0 {
		return nil // It never had pods.
	}
	return fmt.Errorf("the Secret %s has another pod template than the pods that run, so restoring it would replace them: compare the two, and correct the Secret",
		adopt.BackupName(a.name))
}

// restorable returns what an abort restores of the backup: no object that another client has changed and the adoption has not. There
// the adoption ended before its consent, and the object stays as it is. It refuses a backup that is not as the adoption saved it,
// whatever of it is different: a strategy, say. It reads the Secret itself, because saved leaves out the marks of a Helm release that
// is gone.
func (a *adopting) restorable(ctx context.Context, before adopt.Saved, secret *corev1.Secret) (adopt.Saved, error) {
	saved, err := adopt.Read(secret)
	if err != nil {
		return adopt.Saved{}, err
	}
	digest, refused := adopt.Digest(secret), false
	if !saved.IsDeploymentVouched(digest, a.deployment) {
		before.Deployment, refused = nil, adopt.IsMarked(a.deployment) || adopt.Taken(a.deployment)
	}
	if saved.Service != nil && a.service != nil && !saved.IsServiceVouched(digest, a.service) {
		before.Service, refused = nil, refused || adopt.IsMarked(a.service)
	}
	if before.Deployment == nil && before.Service == nil && a.release != nil {
		hasAll, err := a.release.hasAll(ctx)
		if err != nil {
			return adopt.Saved{}, err
		}
		refused = refused || !hasAll
	}
	if refused {
		return adopt.Saved{}, fmt.Errorf("the Secret %s is not as the adoption saved it, and nothing was written. %s says what it would change",
			secret.Name, a.tool.commandLine(a.namespace, "eject "+a.name+" --restore --dry-run=client"))
	}
	return before, nil
}

// orphanPatch is the command with which the Deployment outlives the Application.
func (a *adopting) orphanPatch() string {
	return a.tool.withNamespace(a.namespace, fmt.Sprintf(`kubectl patch applications.apps.fairlead.dev %s --type=merge --patch '{"spec":{"deletionPolicy":"Orphan"}}'`, a.name))
}
