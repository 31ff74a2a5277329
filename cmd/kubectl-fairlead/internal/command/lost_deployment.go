// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/difference"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/helm"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/pkg/preview"
)

// lostDeployment is the error if the Deployment is gone, and only the backup of its adoption still has it. It is nil if there is no
// backup, or the user may not read it.
func (a *adopting) lostDeployment(ctx context.Context) error {
	backup := adopt.BackupName(a.name)
	if _, err := a.clients.Kube.CoreV1().Secrets(a.namespace).Get(ctx, backup, metav1.GetOptions{}); err != nil {
		return nil //nolint:nilerr // The caller's own error says that the Deployment does not exist.
	}
	also := ""
	if _, err := a.clients.Fairlead.AppsV1().Applications(a.namespace).Get(ctx, a.name, metav1.GetOptions{}); err == nil {
		also = ", which also deletes the Application"
	}
	return fmt.Errorf("the Deployment %s is gone. The Secret %s has it as it was before its adoption. To create it again, as a plain one, run %s%s",
		a.name, backup, a.tool.commandLine(a.namespace, "eject "+a.name+" --restore"), also)
}

// readDeployment finds the very Deployment that was adopted. If there is none any more, a restoration creates it again: its pods are gone,
// so none is replaced.
func (e *ejecting) readDeployment(ctx context.Context, before adopt.Saved) error {
	live, err := e.clients.Kube.AppsV1().Deployments(e.namespace).Get(ctx, e.name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case live.UID == before.Deployment.UID:
	case e.hasCreated(live):
		before.Deployment.UID = live.UID
		_, marked := helm.ReleaseOf(live)
		e.created = marked == e.toHelm // Otherwise it gains or loses Helm's marks.
	case adopt.IsRecreatedDeployment(live, before):
		before.Deployment.UID = live.UID // It is the restored one.
	default:
		return fmt.Errorf("the Deployment %s is neither the adopted one nor as the Secret %s says, so it cannot be restored: leave out --restore. "+
			"The Secret still has the earlier one. To read it: %s. If an earlier run created this Deployment again, then it is restored: delete the Secret: %s",
			e.name, e.backup.Name, e.tool.readBackup(e.namespace, e.name, adopt.DeploymentKey),
			e.tool.withNamespace(e.namespace, "kubectl delete secret "+e.backup.Name))
	}
	e.deployment = live
	if e.created {
		return nil
	}
	e.pods, err = podsAfterRestoration(ctx, e.clients, live, before.Deployment)
	return err
}

// hasCreated reports whether an earlier run created the Deployment from this very backup, and ended before its managers had their fields
// again. It may differ from the backup: a webhook or new defaults may have changed it.
func (e *ejecting) hasCreated(live *appsv1.Deployment) bool {
	return live.Annotations[adopt.AnnotationBackup] == adopt.Digest(e.backup) && isManager(live, fieldpath.MakePathOrDie("spec", "selector"))
}

// describeRestored says what becomes of the Deployment, and of the Service that is still there.
func (e *ejecting) describeRestored() string {
	restoresService := e.service != nil || e.lost.restores()
	if e.deployment == nil || e.created {
		said := "The Deployment " + e.name + " is gone, and is created again as it was before the adoption."
		if e.created {
			said = "The Deployment " + e.name + " was created again by an earlier run, and stays as it is now. Its fields are given back to the clients that managed them."
		}
		if e.service != nil {
			said += " The Service becomes what it was before the adoption."
		}
		return said
	}
	effect := e.tool.withNamespace(e.namespace, e.pods.describe(e.name))
	if restoresService {
		return "The Deployment and the Service become what they were before the adoption: " + effect
	}
	return "The Deployment becomes what it was before the adoption: " + effect
}

// checkRestored prints what a restoration changes, and refuses a backup that is not as the adoption saved it. A user with permission
// to edit Secrets could otherwise choose what this one runs. A deleted Deployment leaves no digest.
func (e *ejecting) checkRestored(before adopt.Saved) error {
	if !e.restore {
		return nil
	}
	digest := adopt.Digest(e.backup)
	if e.created {
		before.Deployment = e.deployment // It stays as it is.
	}
	service := e.service
	changed := service
	if e.changesMarks && !e.toHelm {
		changed = nil // It only loses Helm's marks.
	}
	vouched := e.deployment != nil && before.IsVouched(digest, e.deployment, changed)
	if e.lost.recreates() {
		vouched, service = vouched && e.deployment.Annotations[adopt.AnnotationBackup] == digest, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: e.name}}
	}
	changes, err := before.Restored(e.deployment, service, !vouched)
	if err != nil {
		return err
	}
	if vouched && len(changes) > 0 {
		e.tool.screen().Hanging("  ", "Of what changes, this is about code, privileges and data:")
	}
	printRestored(e.tool.screen(), changes)
	if e.release != nil && !vouched {
		printManifest(e.tool.screen(), e.release)
	}
	switch {
	case vouched || e.acceptBackup == digest:
		return nil
	case e.deployment == nil:
		return fmt.Errorf("the Deployment %s is gone, so nothing confirms what the Secret %s says about it, and nothing was written. If the pods may run as printed, pass --accept-backup=%s",
			e.name, e.backup.Name, digest)
	case e.lost.recreates() && e.isRestoredWithoutDigest(before):
		about := "the Service " + e.name
		if e.toHelm && !before.IsDeploymentVouched(digest, e.deployment) {
			about += " and the " + e.release.String()
		}
		return fmt.Errorf("nothing confirms what the Secret %s says about %s, and nothing was written. If what it would change, as printed, is what you want, pass --accept-backup=%s",
			e.backup.Name, about, digest)
	case e.toHelm && !e.lost.recreates() && before.IsPlain(e.deployment, e.service):
		return fmt.Errorf("the objects are plain ones, so nothing confirms that the %s had them, as the Secret %s says, and nothing was written. "+
			"If they belong to that release, pass --accept-backup=%s", e.release, e.backup.Name, digest)
	}
	return fmt.Errorf("the Secret %s is not as the adoption saved it, and nothing was written. If what it would change, as printed, is what you want, pass --accept-backup=%s",
		e.backup.Name, digest)
}

// isRestoredWithoutDigest reports whether the Deployment is restored already, with Helm's marks or without, so that it has no digest.
func (e *ejecting) isRestoredWithoutDigest(before adopt.Saved) bool {
	return e.deployment.Annotations[adopt.AnnotationBackup] == "" &&
		(before.IsDeploymentVouched(adopt.Digest(e.backup), e.deployment) || before.IsPlain(e.deployment, nil))
}

// printRestored prints whole values. Of a script in args, an innocent beginning would hide the end.
func printRestored(to *screen.Screen, changes []preview.Change) {
	for _, change := range changes {
		to.Hanging("  ~ ", difference.DescribeWhole(change))
	}
}

// printManifest prints what the backup says about a Helm release. A later helm rollback would apply it.
func printManifest(to *screen.Screen, r *release) {
	to.Hanging("  ", fmt.Sprintf("The %s gets this manifest from the Secret, for each of these objects that it lacks:", r))
	for line := range strings.SplitSeq(strings.TrimRight(r.saved.Manifest, "\n"), "\n") {
		to.Hanging("  | ", line)
	}
}

// bringDeploymentBack restores the Deployment, or creates it again. One that it creates has the digest of the backup until endCreation.
func (e *ejecting) bringDeploymentBack(ctx context.Context, before adopt.Saved) error {
	switch {
	case e.deployment == nil:
		return e.createDeployment(ctx, before)
	case e.created:
		return nil
	}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live, err := e.clients.Kube.AppsV1().Deployments(e.namespace).Get(ctx, e.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if live.UID != before.Deployment.UID {
			return errors.New("it was replaced meanwhile: run the command again")
		}
		return restoreDeployment(ctx, e.clients, live, before.Deployment)
	})
	if err != nil {
		return fmt.Errorf("restore the Deployment: %w", err)
	}
	return nil
}

// createDeployment creates the Deployment as it was. The Application, or another client, may have created one meanwhile: that stays, and the
// next run says what the user can do. By the digest of the backup, the next run also knows what this one created.
func (e *ejecting) createDeployment(ctx context.Context, before adopt.Saved) error {
	deployment := adopt.RecreatedDeployment(before)
	metav1.SetMetaDataAnnotation(&deployment.ObjectMeta, adopt.AnnotationBackup, adopt.Digest(e.backup))
	created, err := e.clients.Kube.AppsV1().Deployments(e.namespace).Create(ctx, deployment, metav1.CreateOptions{FieldManager: fieldManager})
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("the Deployment %s was gone, but another client created one meanwhile, so it is not created again. Run the command again", e.name)
	}
	if err != nil {
		return fmt.Errorf("create the Deployment %s again: %w. The Secret %s still has it: correct that, and run the command again", e.name, err, e.backup.Name)
	}
	e.deployment, e.created = created, true
	before.Deployment.UID = created.UID // It is the restored one from here on.
	return nil
}

// endCreation gives the fields of a Deployment that was created again back to the clients that managed them. After that, nothing says any
// more that a run created it, so the Helm release has it before.
func (e *ejecting) endCreation(ctx context.Context, before adopt.Saved) error {
	if !e.created {
		return nil
	}
	patch, err := adopt.EndCreation(e.deployment, before.Deployment)
	if err != nil {
		return err
	}
	_, err = e.clients.Kube.AppsV1().Deployments(e.namespace).Patch(ctx, e.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	if err != nil {
		return fmt.Errorf("the Deployment %s is created again, but its fields are not given back to the clients that managed them: %w. Run the command again", e.name, err)
	}
	return nil
}
