// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/difference"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/helm"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// printChanges says how the pods will differ: name by name, and field by field.
func printChanges(to *screen.Screen, id string, pods int32, differences *adopt.Differences) {
	who, them, what := fmt.Sprintf("%d pods", pods), "them", changesOf(differences)
	if pods == 1 {
		who, them = "1 pod", "it"
	}
	switch {
	case differences.Empty():
		to.Printf("%s: the pod template stays the same, so no pod will be replaced.", id)
	case pods == 0:
		to.Printf("%s: there are no pods to replace. %s once you release the rollout:", id, strings.ToUpper(what[:1])+what[1:])
	default:
		to.Printf("%s: %s will be replaced once you release %s, because %s:", id, who, them, what)
	}
	for _, renamed := range differences.Renamed {
		to.Hanging("  ~ ", renamed)
	}
	for _, change := range differences.Changed {
		to.Hanging("  ~ ", difference.Describe(change))
	}
	for _, change := range differences.Lost {
		to.Hanging("  - ", difference.Describe(change))
	}
}

// changesOf counts what changes.
func changesOf(differences *adopt.Differences) string {
	fields, names := len(differences.Changed)+len(differences.Lost), len(differences.Renamed)
	var counts []string
	for _, count := range []struct {
		of   int
		what string
	}{{fields, "field"}, {names, "name"}} {
		switch count.of {
		case 0:
		case 1:
			counts = append(counts, "1 "+count.what)
		default:
			counts = append(counts, fmt.Sprintf("%d %ss", count.of, count.what))
		}
	}
	verb := "change"
	if fields+names == 1 {
		verb = "changes"
	}
	return strings.Join(counts, " and ") + " of the pod template " + verb
}

// printRelease says what becomes of the Helm release. The pods may need what it still has.
func printRelease(to *screen.Screen, release fmt.Stringer, others []helm.Object) {
	keeps := "It has nothing else; uninstall it when you like."
	if len(others) > 0 {
		keeps = "It keeps " + list(others) + ", which helm uninstall would delete."
	}
	to.Hanging("  ", "The "+release.String()+" gives the adopted objects up. "+keeps)
}

// notWritten ends a dry run.
func (a *adopting) notWritten() {
	dryRun := "dry run"
	if a.editing.dryRun == cmdutil.DryRunServer {
		dryRun = "server dry run"
	}
	a.tool.screen().Printf("  not written (%s)", dryRun)
}

// nextCommand is a command with which the user goes on, and what it does.
type nextCommand struct{ does, command string }

// printHeld says that the Deployment is adopted, and which commands come next.
func printHeld(to *screen.Screen, message string, next ...nextCommand) {
	to.Hanging("  ", message)
	width := 0
	for _, one := range next {
		width = max(width, len(one.does)+len(":"))
	}
	for _, one := range next {
		to.Printf("  %-*s %s", width, one.does+":", one.command)
	}
}

// announceHeld says which commands come next while the pods are held. Of an adoption by hand, nothing saved what --abort would restore.
func (a *adopting) announceHeld(ctx context.Context, application *v1.Application, message string) {
	to := a.tool.screen()
	saved := a.isBackedUp(ctx, application)
	release := nextCommand{"Replace the pods", a.command("--rollout")}
	if podsThatRun(a.deployment) == 0 {
		release.does = "Release the rollout"
	}
	if saved {
		printHeld(to, message, release, nextCommand{"Take it back", a.command("--abort")})
		return
	}
	printHeld(to, message, release, nextCommand{"Delete the Application alone", a.tool.commandLine(a.namespace, "eject "+a.name)})
	to.Hanging("  ", "Nothing saved what the Deployment was, so --abort cannot take the adoption back.")
}

// isBackedUp reports whether --abort has what the Deployment was, which it reads again. For users without permission to read Secrets, the
// digest on the Deployment counts.
func (a *adopting) isBackedUp(ctx context.Context, application *v1.Application) bool {
	if live, err := a.clients.Kube.AppsV1().Deployments(a.namespace).Get(ctx, a.name, metav1.GetOptions{}); err == nil {
		a.deployment = live
	}
	secret, err := a.clients.Kube.CoreV1().Secrets(a.namespace).Get(ctx, adopt.BackupName(a.name), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		secret = nil
	} else if err != nil {
		return a.deployment.Annotations[adopt.AnnotationBackup] != ""
	}
	return !a.isUnsaved(application, secret)
}

// podsToReplace returns how many pods of the Deployment a rollout replaces. The status of a Deployment that was just created or scaled lags
// behind its spec.
func podsToReplace(deployment *appsv1.Deployment) int32 {
	asked := int32(1)
	if replicas := deployment.Spec.Replicas; replicas != nil {
		asked = *replicas
	}
	return max(deployment.Status.Replicas, asked)
}

// runsTemplate reports whether all pods of the Deployment are of its present template already.
func runsTemplate(deployment *appsv1.Deployment) bool {
	status := &deployment.Status
	return status.ObservedGeneration >= deployment.Generation && status.UpdatedReplicas == status.Replicas && status.Replicas == podsToReplace(deployment)
}

// lacksPods reports whether the Deployment asks for pods and has none: it was created while its rollout was paused.
func lacksPods(deployment *appsv1.Deployment) bool {
	status := &deployment.Status
	return status.ObservedGeneration > 0 && status.ObservedGeneration >= deployment.Generation && status.Replicas == 0 && podsToReplace(deployment) > 0
}

// podsThatRun is podsToReplace, or 0 if none runs yet.
func podsThatRun(deployment *appsv1.Deployment) int32 {
	if lacksPods(deployment) {
		return 0
	}
	return podsToReplace(deployment)
}

// printRollout says what the release of the pods will do, and what that waits for. The command does not wait for it.
func printRollout(to *screen.Screen, id string, deployment *appsv1.Deployment, waits string) {
	switch pods := podsToReplace(deployment); {
	case pods == 0:
		to.Printf("%s: there are no pods to replace.", id)
		return
	case lacksPods(deployment) && pods == 1:
		to.Printf("%s: no pod runs, and 1 pod will be started.", id)
	case lacksPods(deployment):
		to.Printf("%s: no pod runs, and %d pods will be started.", id, pods)
	case runsTemplate(deployment):
		to.Printf("%s: the pod template stays the same, so no pod will be replaced.", id)
		return
	case pods == 1:
		to.Printf("%s: the one pod will be replaced.", id)
	default:
		to.Printf("%s: all %d pods will be replaced.", id, pods)
	}
	if waits != "" {
		to.Hanging("  ", "That waits: "+waits)
	}
}

// withoutStatus is the part of the Application that a user writes.
func withoutStatus(application *v1.Application) map[string]any {
	return map[string]any{
		"apiVersion": application.APIVersion, "kind": application.Kind, "spec": application.Spec,
		"metadata": map[string]any{"name": application.Name, "namespace": application.Namespace},
	}
}

// print writes the Application for programs.
func (a *adopting) print(ctx context.Context, to io.Writer) (err error) {
	application := a.draft
	if application == nil {
		if application, err = a.clients.Fairlead.AppsV1().Applications(a.namespace).Get(ctx, a.name, metav1.GetOptions{}); err != nil {
			return err
		}
	}
	return printApplications(to, a.editing.out, []*v1.Application{application}, false)
}
