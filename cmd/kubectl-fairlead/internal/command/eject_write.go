// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/eject"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/helm"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// errEnding is returned if nothing can keep the objects any more.
var errEnding = errors.New("the Application is being deleted already, together with its objects")

// delete deletes exactly this Application, once its controller has promised by the finalizer that the children stay, and has released
// the objects.
func (e *ejecting) delete(ctx context.Context, application *v1.Application, objects []left) error {
	client := e.clients.Fairlead.AppsV1().Applications(e.namespace)
	set := application.Spec.DeletionPolicy != v1.DeletionOrphan
	if set {
		orphan := application.DeepCopy()
		orphan.Spec.DeletionPolicy = v1.DeletionOrphan
		if _, err := write(ctx, e.clients, application, orphan, metav1.PatchOptions{FieldManager: fieldManager}); err != nil {
			policy := ""
			if mayBeStored(err) {
				policy = e.resetPolicy(ctx, application)
			}
			return fmt.Errorf("set deletionPolicy to Orphan: %w%s", err, policy)
		}
	}
	waits, kept, held := e.tool.wait(), "", ""
	err := wait.PollUntilContextTimeout(ctx, pollInterval, controllerTimeout, true, func(ctx context.Context) (bool, error) {
		now, err := client.Get(ctx, e.name, metav1.GetOptions{})
		switch {
		case err != nil: // It may be gone: its deletion had begun before.
			return false, err
		case now.UID != application.UID || now.Spec.DeletionPolicy != v1.DeletionOrphan:
			return false, errChanged
		case now.DeletionTimestamp != nil && isHeldByOthers(now):
			released, _, err := e.isReleased(ctx, now, objects)
			if released {
				held = describeGoing(v1.ApplicationKind, now)
			}
			return released, err
		case !slices.Contains(now.Finalizers, v1.FinalizerOrphan), now.DeletionTimestamp == nil && now.Status.ObservedGeneration != now.Generation:
			waits.on("promise that the objects stay")
			return false, nil
		}
		if now.DeletionTimestamp == nil {
			released, first, err := e.isReleased(ctx, now, objects)
			if err != nil {
				return false, err
			}
			if kept = first; !released {
				waits.on("release " + kept)
				waits.look(now)
				return false, nil
			}
		}
		// Only this version keeps its objects for certain; a later one is looked at again.
		err = client.Delete(ctx, e.name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &now.UID, ResourceVersion: &now.ResourceVersion}})
		if apierrors.IsConflict(err) {
			return false, nil
		}
		return err == nil, err
	})
	if held != "" {
		return errors.New(held + ". Its objects stay. Once it is gone, run the command again, so that they lose Fairlead's marks")
	}
	policy := ""
	if set && err != nil {
		policy = e.resetPolicy(ctx, application)
	}
	if wait.Interrupted(err) && ctx.Err() == nil && kept != "" {
		return fmt.Errorf("the controller did not release %s within %s, so nothing was deleted%s%s", kept, controllerTimeout, waits.next(), policy)
	}
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("the controller did not promise within %s that the objects stay, so nothing was deleted: see 'kubectl fairlead doctor', and run the command again%s",
			controllerTimeout, policy)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the Application: %w%s", err, policy)
	}
	return awaitGone(ctx, e.tool, e.clients, application)
}

// isHeldByOthers reports whether only other clients hold the end of an Application. The garbage collector removes its own finalizers soon.
func isHeldByOthers(application *v1.Application) bool {
	return !slices.Contains(application.Finalizers, v1.FinalizerOrphan) && slices.ContainsFunc(application.Finalizers, func(finalizer string) bool {
		return finalizer != metav1.FinalizerDeleteDependents && finalizer != metav1.FinalizerOrphanDependents
	})
}

// mayBeStored reports whether a write that failed may have been stored: its answer was lost, or the API server gave up waiting.
func mayBeStored(err error) bool {
	var answer apierrors.APIStatus
	if errors.As(err, &answer) {
		return answer.Status().Code >= http.StatusInternalServerError
	}
	return !errors.Is(err, errChanged)
}

// resetPolicy sets deletionPolicy back to what it was, because nothing was deleted, and says so. It does that after an interruption too.
// It leaves alone, without a word, an Application that is being deleted, and one whose deletionPolicy another client changed meanwhile.
func (e *ejecting) resetPolicy(ctx context.Context, before *v1.Application) string {
	const timeout = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	was := cmp.Or(before.Spec.DeletionPolicy, v1.DeletionDelete)
	isOrphan, unless := "is Orphan now", ""
	var err error
	for range 5 { // A change by another client may be the deletion, after which Delete would take the objects along.
		var now *v1.Application
		now, err = e.clients.Fairlead.AppsV1().Applications(e.namespace).Get(ctx, e.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && (now.UID != before.UID || now.DeletionTimestamp != nil || now.Spec.DeletionPolicy != v1.DeletionOrphan) {
			return ""
		}
		if err != nil {
			isOrphan, unless = "may be Orphan now", ", unless the Application is being deleted"
			break
		}
		back := now.DeepCopy()
		back.Spec.DeletionPolicy = was
		_, err = write(ctx, e.clients, now, back, metav1.PatchOptions{FieldManager: fieldManager})
		if err == nil {
			return fmt.Sprintf(". The deletionPolicy of the Application is %s again", was)
		}
		if !errors.Is(err, errChanged) && !apierrors.IsNotFound(err) {
			break
		}
	}
	reset := fmt.Sprintf(`kubectl patch applications.apps.fairlead.dev %s --type=merge --patch '{"spec":{"deletionPolicy":%q}}'`, e.name, was)
	return fmt.Sprintf(". The deletionPolicy of the Application %s, and could not be set back to %s: %v. To set it back%s: %s",
		isOrphan, was, err, unless, e.tool.withNamespace(e.namespace, reset))
}

// clean removes Fairlead's marks, unless the object was replaced meanwhile.
func (e *ejecting) clean(ctx context.Context, read left) error {
	if err := e.patchMarks(ctx, read, nil); err != nil {
		return fmt.Errorf("remove Fairlead's marks from %s %s; run the command again to go on: %w", read.GetKind(), read.GetName(), err)
	}
	return nil
}

func (e *ejecting) patchMarks(ctx context.Context, read left, dryRun []string) error {
	client := e.clients.Dynamic.Resource(read.kind.GroupVersionResource()).Namespace(e.namespace)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live, err := client.Get(ctx, read.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && live.GetUID() != read.GetUID() {
			return nil
		}
		if err != nil {
			return err
		}
		patch, err := eject.Clean(live)
		if err != nil || patch == nil {
			return err
		}
		_, err = client.Patch(ctx, live.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager, DryRun: dryRun})
		return err
	})
}

// errBackWithHelm says that an earlier run came to its end, or that Helm has had the objects all along.
var errBackWithHelm = errors.New("there is nothing to give back")

// errNotAdopted says that no adoption has changed the Deployment, or that an earlier run restored it.
var errNotAdopted = errors.New("the Deployment is not adopted")

// saved reads what the objects were before the adoption.
func (e *ejecting) saved(ctx context.Context, application *v1.Application) (adopt.Saved, error) {
	secret, err := e.clients.Kube.CoreV1().Secrets(e.namespace).Get(ctx, adopt.BackupName(e.name), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		live, err := e.clients.Kube.AppsV1().Deployments(e.namespace).Get(ctx, e.name, metav1.GetOptions{})
		if of, marked := helm.ReleaseOf(live); err == nil && marked && e.toHelm {
			return adopt.Saved{}, fmt.Errorf("%w: the Helm release %s has the Deployment", errBackWithHelm, of)
		}
		if err == nil && !e.toHelm && !adopt.Taken(live) && !adopt.IsMarked(live) {
			return adopt.Saved{}, fmt.Errorf("%w, and there is no Secret %s: leave out --restore", errNotAdopted, adopt.BackupName(e.name))
		}
		return adopt.Saved{}, fmt.Errorf("there is no Secret %s, so nothing says what the objects were: leave out --restore and --to-helm", adopt.BackupName(e.name))
	}
	if err != nil {
		return adopt.Saved{}, err
	}
	e.backup = secret
	before, err := adopt.Read(secret)
	if err != nil {
		return adopt.Saved{}, err
	}
	if err := e.readDeployment(ctx, before); err != nil {
		return adopt.Saved{}, err
	}
	switch {
	case !e.toHelm:
		before.Unmark()
	case before.Release == nil:
		return adopt.Saved{}, errors.New("no Helm release had the objects before the adoption: leave out --to-helm")
	default:
		if e.release, err = useSaved(e.clients, e.tool.now, before); err == nil {
			err = e.release.mayChange(ctx)
		}
		if errors.Is(err, helm.ErrNoRelease) {
			err = fmt.Errorf("%w: leave out --to-helm, and the objects are plain ones", err)
		}
		if err != nil {
			return adopt.Saved{}, err
		}
	}
	if e.created {
		const every = true
		if e.unrestored, err = before.Restored(e.deployment, nil, every); err != nil {
			return adopt.Saved{}, err
		}
	}
	return before, e.readService(ctx, application, before)
}

// podsThen says which pods a Deployment runs when it becomes what it was before. After an adoption that is still held, or that an earlier
// run took back, all of them are of its template.
type podsThen struct {
	stay, other int32 // of the template from before, and of another one
	paused      bool  // The Deployment was paused before.
}

func podsAfterRestoration(ctx context.Context, clients *cluster.Clients, live, before *appsv1.Deployment) (podsThen, error) {
	sets, err := replicaSets(ctx, clients, live)
	if err != nil {
		return podsThen{}, fmt.Errorf("read the pod templates that run: %w", err)
	}
	pods := podsThen{paused: before.Spec.Paused}
	for _, set := range withPods(sets) {
		if equality.Semantic.DeepEqual(set.Spec.Template, before.Spec.Template) {
			pods.stay += *set.Spec.Replicas
		} else {
			pods.other += *set.Spec.Replicas
		}
	}
	return pods, nil
}

// describe says what becomes of the pods of the Deployment.
func (p podsThen) describe(name string) string {
	switch {
	case p.other == 0:
		return "no pod is replaced."
	case p.paused:
		return "the Deployment is paused again, so no pod is replaced before you resume its rollout: kubectl rollout resume deployment/" + name
	case p.stay == 0:
		return "all pods are replaced."
	}
	stay, other := fmt.Sprintf("the %d pods from before stay", p.stay), fmt.Sprintf("the %d newer ones end.", p.other)
	if p.stay == 1 {
		stay = "the pod from before stays"
	}
	if p.other == 1 {
		other = "the newer one ends."
	}
	return stay + ", and " + other
}

// bringBack restores the Service first: what it selected finds the pods of both templates. The Secret goes last. It would be in the way
// of the next adoption, and after later changes, the objects must not become what they were once more.
func (e *ejecting) bringBack(ctx context.Context, before adopt.Saved) error {
	if e.release != nil {
		if err := e.release.giveBack(ctx); err != nil {
			return err
		}
	}
	if e.lost.restores() {
		var err error
		if e.service, err = e.lost.restore(ctx); err != nil {
			return err
		}
		before.Service.UID = e.service.UID // It is the restored one from here on.
		e.lost.announceMoved(e.tool.screen())
	} else if e.service != nil {
		if err := e.bringServiceBack(ctx, before.Service); err != nil {
			return fmt.Errorf("restore the Service: %w", err)
		}
	}
	if err := e.bringDeploymentBack(ctx, before); err != nil {
		return err
	}
	if e.release != nil {
		if err := e.release.end(ctx); err != nil {
			return err
		}
	}
	if err := e.endCreation(ctx, before); err != nil {
		return err
	}
	if e.keepsBackup(before) {
		return nil
	}
	err := e.clients.Kube.CoreV1().Secrets(e.namespace).Delete(ctx, e.backup.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &e.backup.UID}})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("the objects are restored, but the Secret %s, which is no longer needed, cannot be deleted: %w. To delete it: %s",
			e.backup.Name, err, e.tool.withNamespace(e.namespace, "kubectl delete secret "+e.backup.Name))
	}
	return nil
}

// readService finds the very Service that was adopted, or what is to know about its loss.
func (e *ejecting) readService(ctx context.Context, application *v1.Application, before adopt.Saved) error {
	if before.Service == nil {
		return nil
	}
	live, err := e.clients.Kube.CoreV1().Services(e.namespace).Get(ctx, e.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		live = nil
	} else if err != nil {
		return err
	}
	const asked = true // The user can accept the backup.
	e.lost = findLost(e.clients, application, before, live, asked)
	if live != nil && live.UID != before.Service.UID {
		if e.changesMarks, err = e.isOtherwiseMarked(live); err != nil {
			return err
		}
		if e.changesMarks || e.toHelm && (e.lost == nil || e.lost.created != nil) {
			before.Service.UID, before.Service.Spec, e.lost = live.UID, *live.Spec.DeepCopy(), nil // It keeps its addresses.
		}
	}
	if e.lost == nil && live.UID == before.Service.UID {
		e.service = live
	}
	return nil
}

// isOtherwiseMarked reports whether an earlier run created the Service without Helm's marks, and this one gives them to it, or the other way
// round.
func (e *ejecting) isOtherwiseMarked(live *corev1.Service) (bool, error) {
	other, err := adopt.Read(e.backup)
	if err != nil {
		return false, err
	}
	if e.toHelm {
		other.Unmark()
	}
	_, marked := helm.ReleaseOf(live)
	return marked != e.toHelm && adopt.IsRecreated(live, other), nil
}

// bringServiceBack restores the very Service that was adopted.
func (e *ejecting) bringServiceBack(ctx context.Context, before *corev1.Service) error {
	services := e.clients.Kube.CoreV1().Services(e.namespace)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live, err := services.Get(ctx, e.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if live.UID != before.UID {
			return errors.New("it was replaced meanwhile: run the command again")
		}
		restored, err := services.Update(ctx, adopt.RestoreService(live, before), metav1.UpdateOptions{FieldManager: fieldManager})
		if err != nil {
			return err
		}
		patch, err := adopt.Ownership(restored, before)
		if err != nil {
			return err
		}
		_, err = services.Patch(ctx, e.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
		return err
	})
}
