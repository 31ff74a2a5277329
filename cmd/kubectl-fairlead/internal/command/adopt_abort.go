// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/helm"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// released is the error if pods may have been replaced.
func (a *adopting) released() error {
	return fmt.Errorf("the rollout has begun, so taking the adoption back would end new pods; to read which with --dry-run=client, or to do that, run %s",
		a.tool.commandLine(a.namespace, "eject "+a.name+" --restore"))
}

// abort takes the adoption back. The Application goes first, and leaves its objects behind.
func (a *adopting) abort(ctx context.Context) error {
	application, err := a.clients.Fairlead.AppsV1().Applications(a.namespace).Get(ctx, a.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		application = nil
	} else if err != nil {
		return err
	}
	if err := a.read(ctx); err != nil {
		return err
	}
	if err := a.awaitObserved(ctx); err != nil {
		return err
	}
	secret, err := a.clients.Kube.CoreV1().Secrets(a.namespace).Get(ctx, adopt.BackupName(a.name), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		secret = nil
	} else if err != nil {
		return err
	}
	to := a.tool.screen()
	if application == nil && secret == nil {
		to.Printf("%s: there is nothing to take back.", a.id())
		return nil
	}
	var before adopt.Saved
	if secret != nil {
		if before, err = a.saved(ctx, application, secret); err != nil {
			return err
		}
	}
	if err := a.mayAbort(application, secret != nil); err != nil {
		return err
	}
	if a.isUnsaved(application, secret) {
		return a.unsaved(ctx, secret)
	}
	if application != nil && secret == nil && !isWritten(application) {
		return fmt.Errorf("there is nothing to take back: the Application %s has adopted nothing. This command did not write it, so it stays. To delete it, run %s",
			a.name, a.tool.withNamespace(a.namespace, "kubectl delete applications.apps.fairlead.dev "+a.name))
	}
	created := secret != nil && before.Service == nil
	if secret != nil {
		if err := a.checkTemplate(ctx, before.Deployment); err != nil {
			return err
		}
		a.lost = findLost(a.clients, application, before, a.service, a.deployment.Annotations[adopt.AnnotationBackup] == adopt.Digest(secret))
		if before, err = a.restorable(ctx, before, secret); err != nil {
			return err
		}
		if a.lost != nil {
			before.Service = nil // There is none that could lose the consent.
		}
	}
	restores := before.Deployment != nil || before.Service != nil || a.lost.restores()
	if a.editing.dryRun != cmdutil.DryRunNone {
		to.Line(a.takenBack(application != nil, restores, true))
		a.announceLost(true)
		return nil
	}
	if application != nil {
		if err := a.deleteApplication(ctx, application); err != nil {
			return err
		}
	}
	if err := a.deleteOwn(ctx, application, created); err != nil {
		return err
	}
	if restores {
		if err := a.restore(ctx, before); err != nil {
			return err
		}
	}
	if secret != nil && !a.lost.keepsBackup() {
		if err := a.clients.Kube.CoreV1().Secrets(a.namespace).Delete(ctx, secret.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &secret.UID}}); err != nil {
			return err
		}
	}
	to.Line(a.takenBack(application != nil, restores, false))
	a.announceLost(false)
	return nil
}

// announceLost says what becomes of a Service that was deleted after the adoption began.
func (a *adopting) announceLost(dryRun bool) {
	if a.lost != nil {
		a.tool.screen().Hanging("  ", a.lost.describe(a.tool, dryRun))
		a.lost.announceMoved(a.tool.screen())
	}
}

// takenBack says what an abort does, or did. An earlier run may have deleted the Application, or nothing was consented to.
func (a *adopting) takenBack(deletes, restores, dryRun bool) string {
	is, ended := "is", "no pod was replaced."
	if dryRun {
		is, ended = "would be", "no pod would be replaced (dry run)."
	}
	var what []string
	if deletes {
		what = append(what, "the Application "+is+" deleted")
	}
	if restores {
		what = append(what, "the adoption "+is+" taken back")
	} else {
		what = append(what, "nothing was adopted")
	}
	return a.id() + ": " + strings.Join(what, ", and ") + "; " + ended
}

// saved reads the backup of this very Deployment, and finds the Helm release that is to have the objects again. If that was
// uninstalled meanwhile, they become plain ones.
func (a *adopting) saved(ctx context.Context, application *v1.Application, secret *corev1.Secret) (adopt.Saved, error) {
	before, err := adopt.Read(secret)
	if err != nil {
		return adopt.Saved{}, err
	}
	if before.Deployment.UID != a.deployment.UID {
		return adopt.Saved{}, a.recreated(application, secret)
	}
	if a.release, err = a.savedRelease(ctx); err != nil || a.release == nil {
		return before, err
	}
	err = a.release.mayChange(ctx)
	if errors.Is(err, helm.ErrNoRelease) {
		a.release = nil
		before.Unmark()
		return before, nil
	}
	return before, err
}

// recreated is the error if the Deployment is not the one that was adopted. The Secret may be all that is left of that.
func (a *adopting) recreated(application *v1.Application, secret *corev1.Secret) error {
	message := fmt.Sprintf("the Deployment %s was deleted and created again after the adoption began, so there is nothing to take back. The Secret %s still has the earlier one. To read it: %s",
		a.name, secret.Name, a.tool.readBackup(a.namespace, a.name, adopt.DeploymentKey))
	if application != nil && child.OwnedBy(a.deployment, application) {
		message += ". The Deployment is the Application's now. To start its pods, run " + a.tool.commandLine(a.namespace, "resume "+a.name)
	}
	return errors.New(message)
}

// replicaSets returns those of a Deployment, with the pod templates that it had.
func replicaSets(ctx context.Context, clients *cluster.Clients, deployment *appsv1.Deployment) ([]appsv1.ReplicaSet, error) {
	list, err := clients.Kube.AppsV1().ReplicaSets(deployment.Namespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(deployment.Spec.Selector)})
	if err != nil {
		return nil, err
	}
	var sets []appsv1.ReplicaSet
	for i := range list.Items {
		set := &list.Items[i]
		if metav1.IsControlledBy(set, deployment) {
			delete(set.Spec.Template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
			sets = append(sets, *set)
		}
	}
	return sets, nil
}

// deleteApplication deletes exactly this Application, and waits for its end.
func (a *adopting) deleteApplication(ctx context.Context, application *v1.Application) error {
	client := a.clients.Fairlead.AppsV1().Applications(a.namespace)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now, err := client.Get(ctx, a.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if now.UID != application.UID || now.Generation != application.Generation {
			return errChanged
		}
		if child.OwnedBy(a.deployment, now) && !slices.Contains(now.Finalizers, v1.FinalizerOrphan) {
			return errors.New("the controller has not promised yet that the Deployment stays, so nothing was deleted: see 'kubectl fairlead doctor', and run the command again")
		}
		return client.Delete(ctx, a.name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &now.UID, ResourceVersion: &now.ResourceVersion}})
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the Application: %w", err)
	}
	return awaitGone(ctx, a.tool, a.clients, application)
}

// deleteOwn deletes what the Application created for itself, and left behind at its end. It keeps a Service that was there before; without
// one, the Service of the Application would be in the way of the next adoption.
func (a *adopting) deleteOwn(ctx context.Context, application *v1.Application, withService bool) error {
	objects, err := leftBehind(ctx, a.clients, &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.name}})
	if err != nil {
		return err
	}
	// An earlier run may have deleted the Application. The Deployment names it until it is restored.
	owner := a.deployment.Annotations[v1.AnnotationOwnerUID]
	if application != nil {
		owner = string(application.UID)
	}
	for _, object := range objects {
		isOwn := owner != "" && object.GetAnnotations()[v1.AnnotationOwnerUID] == owner
		if object.kind == child.Deployment || object.kind == child.Service && (!withService || !isOwn) {
			continue
		}
		uid := object.GetUID()
		err := a.clients.Dynamic.Resource(object.kind.GroupVersionResource()).Namespace(a.namespace).
			Delete(ctx, object.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete %s %s, which the Application created; run the command again to go on: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// restore makes the objects what they were. The Deployment comes last: until then, it confirms what the backup says.
func (a *adopting) restore(ctx context.Context, before adopt.Saved) error {
	if a.release != nil {
		if err := a.release.giveBack(ctx); err != nil {
			return err
		}
	}
	if a.lost.restores() {
		if _, err := a.lost.restore(ctx); err != nil {
			return err
		}
	}
	if before.Service != nil {
		patch := func() error {
			live, err := a.clients.Kube.CoreV1().Services(a.namespace).Get(ctx, a.name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			body, err := adopt.Withdraw(live, before.Service)
			if err != nil {
				return err
			}
			_, err = a.clients.Kube.CoreV1().Services(a.namespace).Patch(ctx, a.name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: fieldManager})
			return err
		}
		if err := retry.RetryOnConflict(retry.DefaultBackoff, patch); err != nil {
			return fmt.Errorf("take the consent of the Service back: %w", err)
		}
	}
	if before.Deployment != nil {
		if err := a.takeBackDeployment(ctx, before.Deployment); err != nil {
			return fmt.Errorf("restore the Deployment: %w", err)
		}
	}
	if a.release == nil {
		return nil
	}
	return a.release.end(ctx)
}

// takeBackDeployment takes the consent of the Deployment back, and what the Application made of it.
func (a *adopting) takeBackDeployment(ctx context.Context, before *appsv1.Deployment) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live, err := a.clients.Kube.AppsV1().Deployments(a.namespace).Get(ctx, a.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if adopt.Taken(live) {
			return restoreDeployment(ctx, a.clients, live, before)
		}
		// It never had another template, or an earlier run has restored it.
		body, err := adopt.Withdraw(live, before)
		if err != nil {
			return err
		}
		_, err = a.clients.Kube.AppsV1().Deployments(a.namespace).Patch(ctx, a.name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: fieldManager})
		if err != nil {
			return err
		}
		return giveFieldsBack(ctx, a.clients, live, before)
	})
}

// restoreDeployment makes a Deployment what it was before. Its managers get their fields back in a second write, for which
// the command can be run again.
func restoreDeployment(ctx context.Context, clients *cluster.Clients, live, before *appsv1.Deployment) error {
	_, err := clients.Kube.AppsV1().Deployments(live.Namespace).Update(ctx, adopt.Restore(live, before), metav1.UpdateOptions{FieldManager: fieldManager})
	if err != nil {
		return err
	}
	return giveFieldsBack(ctx, clients, live, before)
}

func giveFieldsBack(ctx context.Context, clients *cluster.Clients, live, before *appsv1.Deployment) error {
	patch, err := adopt.Ownership(live, before)
	if err != nil {
		return err
	}
	_, err = clients.Kube.AppsV1().Deployments(live.Namespace).Patch(ctx, live.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return err
}
