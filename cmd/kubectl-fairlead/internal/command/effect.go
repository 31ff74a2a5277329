// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/difference"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
	"fairlead.dev/fairlead/pkg/reference"
)

const isDeleting = "The Application is being deleted, so this changes none of its pods."

// effect is what becomes of the pods.
type effect struct {
	summary string
	// takesBack means that the edit takes back what waits while rollouts are paused.
	takesBack bool
}

func effectOf(d preview.Difference) effect {
	return effect{difference.Sentence(d), difference.TakesBack(d)}
}

// summary describes the effect on the pods.
func (e *editing) summary(ctx context.Context, clients *cluster.Clients, application, edited *v1.Application) (effect, error) {
	if edited.DeletionTimestamp != nil {
		return effect{summary: isDeleting}, nil
	}
	if !enforced(edited) {
		unfinished, live, strategy, err := unfinishedRollout(ctx, clients, edited)
		if err != nil {
			return effect{}, err
		}
		if goesOn := difference.GoesOn(unfinished, live, strategy); goesOn != "" {
			return effect{summary: "Until it is resumed, Fairlead replaces no pod." + goesOn}, nil
		}
		return effect{summary: "Until it is resumed, no pod is replaced."}, nil
	}
	if refusal := routeConflict(application, edited); refusal != "" {
		return effect{summary: "The edit replaces no pod, because such a spec is not carried out (RouteConflict): " + refusal}, nil
	}
	loaded, err := clients.Load(ctx, application)
	if err != nil {
		return effect{}, err
	}
	if said := awaitsDeletion(loaded); said != "" {
		return effect{summary: said}, nil
	}
	platform, err := e.platform(ctx, application)
	if denied := (*classesForbiddenError)(nil); errors.As(err, &denied) {
		d, served, err := e.tool.served(ctx, application, edited)
		if err != nil {
			return effect{}, err
		}
		if served {
			return e.withContents(ctx, clients, application, edited, d)
		}
	}
	if err != nil {
		return effect{}, err
	}
	before, live := application, loaded.Snapshot()
	now, err := preview.Render(application, live, platform, e.tool.now())
	if err != nil {
		return effect{}, err
	}
	if revision := application.Status.Revision; !enforced(application) || revision == nil || revision.Current != now.Revision {
		before = nil // The spec is not carried out, so compare with what runs.
	}
	d, err := e.tool.liveDifference(before, edited, loaded, platform)
	if err != nil {
		return effect{}, err
	}
	isEarlier := false // It is an earlier change that replaces pods, and the edit itself replaces none.
	if before == nil && len(d.Pods.Because) > 0 {
		asked := application.DeepCopy()
		asked.Status.Revision = nil // As if it were carried out, so that only the edit makes a difference.
		_, own, err := e.tool.difference(asked, edited, live, platform)
		if err != nil {
			return effect{}, err
		}
		d.Pods.Because = difference.EditedFirst(d.Pods.Because, own.Pods.Because)
		isEarlier = enforced(application) && !difference.RollsOut(own)
	}
	if _, unreadable := loaded.Unreadable[child.Deployment.Resource]; unreadable {
		return effect{summary: "What becomes of the pods is not known, because you may not list deployments."}, nil
	}
	deployment := child.Get[*appsv1.Deployment](live, child.Deployment, application.Name)
	explain := e.explain(application)
	d = difference.JoinBlocked(d, explain)
	if deployment == nil {
		return effect{summary: difference.WithoutDeployment(d, missingConfig(application, edited))}, nil
	}
	if before == nil || d.Pods.Before == nil && d.Pods.After != nil {
		d.Pods.Before = deployment.Spec.Replicas // Without replicas in the spec, the cluster alone knows the number.
	}
	if said := whileWaiting(d, missingConfig(application, edited), isEarlier); said != "" {
		return effect{summary: said}, nil
	}
	known, err := e.withContents(ctx, clients, application, edited, d)
	if err == nil && refusesPods(deployment) {
		known.summary += whileRefused(d, deployment, explain)
	}
	return known, err
}

// whileWaiting says what an edit means while pods wait: for the ConfigMap or Secret that missing describes, or for a child that Fairlead
// leaves alone. It is "" if none waits. isEarlier means that only an earlier change replaces pods.
func whileWaiting(d preview.Difference, missing string, isEarlier bool) string {
	switch {
	case isEarlier && (missing != "" || difference.Withheld(d)):
		return difference.GoesOnWaiting(d, missing)
	case missing != "" && difference.StartsPods(d):
		return difference.Deferred(d, missing)
	default:
		return ""
	}
}

// explain is the command that says why an Application is as it is.
func (e *editing) explain(application *v1.Application) string {
	return e.tool.commandLine(application.Namespace, "why "+application.Name)
}

// whileRefused says what an edit means while the API server refuses pods of the Deployment; "" if it neither starts pods nor makes room for
// those of a rollout that has begun.
func whileRefused(d preview.Difference, deployment *appsv1.Deployment, explain string) string {
	before, after := d.Pods.Before, d.Pods.After
	switch {
	case difference.NeedsPods(d) && !difference.RollsOut(d):
		return " The new ones do not start, because the API server refuses pods at present: see " + explain
	case difference.NeedsPods(d):
		return " At present the API server refuses pods: see " + explain
	case before != nil && after != nil && *after > 0 && *after < *before && difference.Unfinished(deployment) != 0:
		return " At present the API server refuses pods of the rollout that has begun: it goes on if that makes room for them."
	default:
		return ""
	}
}

// refusesPods reports whether the API server refuses pods of the Deployment, for a quota or an admission policy.
func refusesPods(deployment *appsv1.Deployment) bool {
	return slices.ContainsFunc(deployment.Status.Conditions, func(condition appsv1.DeploymentCondition) bool {
		return condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue
	})
}

// awaitsDeletion says that the Application's Deployment is being deleted; "" if it is not. Kubernetes carries out no change of such a
// Deployment, which a finalizer of another client may hold for long.
func awaitsDeletion(loaded *cluster.Loaded) string {
	deployment := child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, loaded.Application.Name)
	if deployment == nil || deployment.DeletionTimestamp == nil || !child.OwnedBy(deployment, loaded.Application) {
		return ""
	}
	waits := ""
	if len(deployment.Finalizers) > 0 {
		waits = ", and waits for its finalizers: " + strings.Join(deployment.Finalizers, ", ")
	}
	return "The Deployment is being deleted" + waits + ". The edit has no effect before it is gone. Then Fairlead creates it again."
}

// unfinishedRollout is difference.Unfinished of the Application's Deployment, the number of its pods, and its strategy.
func unfinishedRollout(
	ctx context.Context, clients *cluster.Clients, application *v1.Application,
) (unfinished, live int32, strategy appsv1.DeploymentStrategyType, err error) {
	deployment, err := clients.Kube.AppsV1().Deployments(application.Namespace).Get(ctx, application.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err):
		return -1, 0, "", nil
	case apierrors.IsNotFound(err), err == nil && !child.OwnedBy(deployment, application):
		return 0, 0, "", nil
	case err != nil:
		return 0, 0, "", err
	}
	return difference.Unfinished(deployment), deployment.Status.Replicas, deployment.Spec.Strategy.Type, nil
}

// withContents is the effect of the difference and of ConfigMaps and Secrets that have changed meanwhile.
func (e *editing) withContents(ctx context.Context, clients *cluster.Clients, application, edited *v1.Application, d preview.Difference) (effect, error) {
	unknown, err := e.tool.followContents(ctx, clients, application, edited, &d)
	if err != nil {
		return effect{}, err
	}
	known := effectOf(difference.JoinBlocked(d, e.explain(application)))
	known.summary += unknown
	return known, nil
}

// missingConfig is what the controller says about a ConfigMap or Secret for which new pods wait, if the edit keeps the references and
// the spec has them. Of a reference that the edit begins to have, the webhook warns.
func missingConfig(application, edited *v1.Application) string {
	if !equality.Semantic.DeepEqual(reference.FromSpec(&application.Spec), reference.FromSpec(&edited.Spec)) {
		return ""
	}
	return why.MissingForSpec(application) // Perhaps an earlier revision runs, which needs more than the spec.
}

// routeConflict is what the controller says about a host name or path of another Application, if the edit keeps the routes: the spec is
// not carried out before that is solved. The webhook cannot refuse such an edit, which makes nothing worse.
func routeConflict(application, edited *v1.Application) string {
	ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
	if ready == nil || ready.Reason != v1.ReasonRouteConflict || ready.ObservedGeneration != application.Generation ||
		application.Spec.ClassName != edited.Spec.ClassName || !equality.Semantic.DeepEqual(application.Spec.Routes, edited.Spec.Routes) {
		return ""
	}
	return ready.Message
}

func enforced(application *v1.Application) bool {
	return application.Spec.ReconcilePolicy == v1.ReconcileEnforce || application.Spec.ReconcilePolicy == ""
}
