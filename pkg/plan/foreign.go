// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// Adoptable reports whether a user could let an Application of its name adopt an object that is not the Application's, as far as
// the object tells.
func Adoptable(kind child.Kind, live metav1.Object) bool {
	path, _ := RefuseMetadata(live)
	if path == "" {
		path, _ = RefuseSelector(live)
	}
	if path == "" {
		path, _ = RefuseService(live)
	}
	return adopts(kind) && path == ""
}

// RefuseSelector returns the path of what excludes every adoption of a live Deployment, and why; "" if nothing does. No
// Application can make up for it, and nobody can change it: a selector is immutable. Of an object that has metadata alone,
// nothing is known.
func RefuseSelector(live metav1.Object) (path, why string) {
	deployment, ok := live.(*appsv1.Deployment)
	if ok && deployment.Spec.Selector != nil && len(deployment.Spec.Selector.MatchExpressions) > 0 {
		return "spec.selector.matchExpressions", "only matchLabels can stay"
	}
	return "", ""
}

// RefuseService returns the path of what excludes every adoption of a live Service, and why; "" if nothing does. No Application
// can make up for it. Of an object that has metadata alone, nothing is known.
func RefuseService(live metav1.Object) (path, why string) {
	if service, ok := live.(*corev1.Service); ok {
		if refused := refuseKindOfService(service); len(refused) > 0 {
			return refused[0].path, refused[0].why
		}
	}
	return "", ""
}

// LeftBehind reports whether an Application that is gone left the object behind: whether it has the marks that only
// Fairlead sets, and no controller, and stays. An object that waits for its adoption has not been Fairlead's yet.
func LeftBehind(object metav1.Object) bool {
	annotations := object.GetAnnotations()
	_, rendered := annotations[v1.AnnotationRenderedHash]
	_, owned := annotations[v1.AnnotationOwnerUID]
	return object.GetLabels()[v1.LabelManagedBy] == v1.ManagedBy && (rendered || owned) && stays(object)
}

// PluginFieldManager is the field manager of the kubectl plugin.
const PluginFieldManager = "kubectl-fairlead"

// IsEjected reports whether kubectl fairlead eject has removed Fairlead's marks from the object: it leaves an entry in managedFields without
// a time. Those that the API server writes have one.
func IsEjected(object metav1.Object) bool {
	return slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == PluginFieldManager && entry.Time == nil
	})
}

// IsLeftover reports whether an earlier Application had the object, which stays: it was left behind with its marks, or ejected. A new
// Application can take either back.
func IsLeftover(object metav1.Object) bool {
	return LeftBehind(object) || IsEjected(object) && stays(object)
}

// stays reports whether the object is neither being deleted nor another controller's, and does not wait for its adoption.
func stays(object metav1.Object) bool {
	_, waits := object.GetAnnotations()[v1.AnnotationAdoptableBy]
	return !waits && object.GetDeletionTimestamp() == nil && metav1.GetControllerOfNoCopy(object) == nil
}

// IsFormer reports whether the object belongs to an earlier Application of the name. That is gone, so Kubernetes deletes the object.
func IsFormer(application *v1.Application, object metav1.Object) bool {
	controller := metav1.GetControllerOfNoCopy(object)
	return controller != nil && controller.Kind == v1.ApplicationKind && controller.APIVersion == v1.SchemeGroupVersion.String() &&
		controller.Name == application.Name && controller.UID != application.UID
}

// NotOwnedMessage names an object that has the name of a child, says whose it is, and what to do.
func NotOwnedMessage(application *v1.Application, ref child.Ref, object metav1.Object) string {
	name := ref.Kind.Kind + " " + ref.Name
	if IsFormer(application, object) {
		return name + " belongs to an earlier Application of this name, which is gone; " + NotOwnedAdvice(application, ref, object)
	}
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		return fmt.Sprintf("%s exists and belongs to %s %s (UID %s); %s", name, controller.Kind, controller.Name, controller.UID, NotOwnedAdvice(application, ref, object))
	}
	if IsLeftover(object) {
		return name + " exists, left behind by an earlier Application; " + NotOwnedAdvice(application, ref, object)
	}
	return name + " exists and does not belong to the Application; " + NotOwnedAdvice(application, ref, object)
}

// nameAccount is a way out that the class, the controller or the permissions of the user may exclude.
const nameAccount = "name it in spec.serviceAccount.name if that is allowed"

// NotOwnedAdvice says what to do about an object that has the name of a child and is not the Application's.
func NotOwnedAdvice(application *v1.Application, ref child.Ref, object metav1.Object) string {
	const rename = "give the Application another name"
	kind := ref.Kind
	if IsFormer(application, object) {
		return "Kubernetes deletes it"
	}
	if metav1.GetControllerOfNoCopy(object) != nil {
		return rename
	}
	if IsLeftover(object) {
		return "take it back as docs/guides/take-back.md says, or " + rename
	}
	advice := deletion(kind, object)
	if without := WithoutChild(application, ref); without != "" {
		advice = without + " so that it stays, " + advice
	}
	if kind == child.Ingress {
		advice = "hand it over as docs/guides/migrate.md says, " + advice
	}
	if kind == child.ServiceAccount {
		advice = nameAccount + ", " + advice // Pods that run probably need it.
	}
	if Adoptable(kind, object) {
		keeps := "keeps its address"
		if kind == child.Deployment {
			keeps = "replaces no pod until you say so"
		}
		advice = "let the Application adopt it (spec.adoptionPolicy), which " + keeps + ", " + advice
	}
	return advice + ", or " + rename
}

// WithoutChild says how the spec asks for no such child, so that an object of others keeps the name; "" if it has no such way: a class asks for
// it, for example.
func WithoutChild(application *v1.Application, ref child.Ref) string {
	spec := &application.Spec
	switch kind := ref.Kind; {
	case kind == child.ConfigMap && spec.Config != nil:
		return "remove spec.config"
	case kind == child.HorizontalPodAutoscaler && spec.Autoscaling != nil:
		return "remove spec.autoscaling"
	case kind == child.PodDisruptionBudget:
		return "set spec.disruptionBudget to mode Disabled"
	case kind == child.NetworkPolicy && spec.NetworkPolicy != nil:
		return "remove spec.networkPolicy"
	case kind == child.ServiceMonitor && spec.Monitoring != nil:
		return "remove spec.monitoring"
	case kind == child.Ingress, kind == child.HTTPRoute:
		return withoutRoute(application, ref)
	default:
		return ""
	}
}

// withoutRoute says how an Application asks for no Ingress or HTTPRoute of this name, and keeps its others, which serve; "" if there is no
// such way. Of several routes, the first cannot go: the next one would take its name.
func withoutRoute(application *v1.Application, ref child.Ref) string {
	routes := application.Spec.Routes
	if len(routes) == 1 {
		return "remove spec.routes"
	}
	for i := 1; i < len(routes); i++ {
		own := application.Name + "-" + routes[i].Name
		if ref.Name == own || ref.Kind == child.HTTPRoute && ref.Name == own+v1.RedirectSuffix {
			return "remove or rename route " + routes[i].Name + " in spec.routes"
		}
	}
	return ""
}

// deletion says how to make way for a child of the kind. The controller does not see at once that an object of others is gone. For an Ingress,
// there is a guide.
func deletion(kind child.Kind, object metav1.Object) string {
	switch {
	case kind == child.HTTPRoute:
		return "delete it, after which nothing serves its host names for up to 30 s"
	case kind == child.Service, kind == child.ServiceAccount, kind == child.ConfigMap, kind == child.Ingress:
		return "delete it if nothing needs it" // Clients or pods that are not the Application's may.
	case kind != child.Deployment:
		return "delete it"
	case TakesPodsOver(object):
		return "delete it with --cascade=orphan, after which the Application's own takes its pods over and replaces them"
	default:
		return "delete it with --cascade=orphan, which keeps its pods"
	}
}

// TakesPodsOver reports whether the Deployment of a new Application selects the ReplicaSets of the live one that has its name: once that is
// gone, it takes them over, and scales them to zero. ReplicaSets have the labels of the template, which may be more than the selector asks
// for. Of an object that has metadata alone, nothing is known.
func TakesPodsOver(live metav1.Object) bool {
	deployment, ok := live.(*appsv1.Deployment)
	return ok && deployment.Name != "" && deployment.Spec.Template.Labels[v1.LabelApplication] == deployment.Name
}
