// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/text"
)

// fieldOf is the path of a container in the spec; "" if the spec does not have it.
func (f facts) fieldOf(container string) string {
	named := func(c corev1.Container) bool { return c.Name == container }
	switch {
	case slices.ContainsFunc(f.app.Spec.Sidecars, named):
		return fmt.Sprintf("spec.sidecars[%s]", container)
	case slices.ContainsFunc(f.app.Spec.InitContainers, named):
		return fmt.Sprintf("spec.initContainers[%s]", container)
	case container == f.app.Name, container == "", f.isFormer(container):
		return "spec"
	default:
		return ""
	}
}

// isFormer reports whether a container is the application's, by the name from before an adoption that is held. The template of a
// ReplicaSet does not have what a webhook adds to its pods.
func (f facts) isFormer(container string) bool {
	return f.holdsAdoption() && (len(f.ReplicaSets) == 0 || slices.ContainsFunc(f.ReplicaSets, func(replicaSet *appsv1.ReplicaSet) bool {
		return f.formerIn(&replicaSet.Spec.Template.Spec) == container
	}))
}

func (f facts) holdsAdoption() bool {
	adopted := f.condition(v1.ConditionAdopted)
	return adopted != nil && adopted.Status != metav1.ConditionTrue && meta.IsStatusConditionTrue(f.app.Status.Conditions, v1.ConditionPaused)
}

// formerIn is the application's container by its name before the adoption: the only one, or the only one that the spec does not name;
// "" if that is not certain.
func (f facts) formerIn(pod *corev1.PodSpec) (name string) {
	if len(pod.Containers) == 1 {
		return pod.Containers[0].Name
	}
	for i := range pod.Containers {
		candidate := pod.Containers[i].Name
		isCandidate := func(c corev1.Container) bool { return c.Name == candidate }
		switch {
		case slices.ContainsFunc(f.app.Spec.Sidecars, isCandidate):
		case candidate == f.app.Name, name != "":
			return ""
		default:
			name = candidate
		}
	}
	return name
}

func hasContainer(pod *corev1.PodSpec, name string) bool {
	return slices.ContainsFunc(slices.Concat(pod.Containers, pod.InitContainers), func(c corev1.Container) bool { return c.Name == name })
}

// notOfSpec names a container that is not in the spec, and says where it comes from, if that is known.
func (f facts) notOfSpec(container string) string {
	return "container " + container + f.origin(container)
}

// origin says where a container comes from that is not in the spec: after a rollback, or while a rollout waits, an earlier revision runs.
func (f facts) origin(container string) string {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	ofReplicaSet := func(replicaSet *appsv1.ReplicaSet) bool {
		return hasContainer(&replicaSet.Spec.Template.Spec, container)
	}
	if deployment == nil || f.holdsAdoption() && slices.ContainsFunc(f.ReplicaSets, ofReplicaSet) {
		return "" // During an adoption, it may be the application's own.
	}
	if !hasContainer(&deployment.Spec.Template.Spec, container) {
		return " (which an admission webhook added)"
	}
	revisions := edit.History(f.Objects)
	i := slices.IndexFunc(revisions, func(r edit.Revision) bool { return r.Name == deployment.Annotations[v1.AnnotationRevision] })
	if i < 0 {
		return ""
	}
	switch has, known := revisions[i].HasContainer(container); {
	case has:
		return fmt.Sprintf(" (of revision %d, which runs)", revisions[i].Number)
	case known:
		return " (which another client added to the Deployment)"
	default:
		return ""
	}
}

// fieldsOf names fields of a container by their paths in the spec, or by the container, if the spec does not have it.
func (f facts) fieldsOf(container string, fields ...string) string {
	path := f.fieldOf(container)
	if path == "" {
		return text.Enumerate(fields) + " of " + f.notOfSpec(container)
	}
	paths := make([]string, 0, len(fields))
	for _, field := range fields {
		paths = append(paths, path+"."+field)
	}
	return text.Enumerate(paths)
}

// fieldsInAdvice finds fields of a container, as in FIELDS(command,args).
var fieldsInAdvice = regexp.MustCompile(`FIELDS\(([^)]+)\)`)

// withFields replaces them.
func (f facts) withFields(advice, container string) string {
	return fieldsInAdvice.ReplaceAllStringFunc(advice, func(found string) string {
		return f.fieldsOf(container, strings.Split(fieldsInAdvice.FindStringSubmatch(found)[1], ",")...)
	})
}
