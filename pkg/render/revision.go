// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Revision is the revision of the pods in the history.
type Revision struct {
	// Name, Number and Data are those of its ControllerRevision, and FormerNumbers, RolledBackBefore and ServicePorts are for its
	// annotations.
	Name             string
	Number           int64
	FormerNumbers    []int64
	RolledBackBefore []string
	ServicePorts     string
	Data             []byte
	// RolledBackFrom is the name of the revision that failed, if this one replaced it in a rollback, and
	// RolledBackBecause is why it failed.
	RolledBackFrom, RolledBackBecause string
}

// controllerRevisions renders the current revision. Earlier ones are never rendered again: their data is immutable,
// and pkg/revision decides whether they stay.
func controllerRevisions(app *v1.Application, facts Facts) ([]any, error) {
	revision := facts.Revision
	if revision.Name == "" {
		return nil, nil
	}
	controllerRevision := appsv1ac.ControllerRevision(revision.Name, app.Namespace).
		WithRevision(revision.Number).
		WithData(runtime.RawExtension{Raw: revision.Data})
	controllerRevision.ObjectMetaApplyConfiguration = collectableMeta(app, revision.Name, nil)
	if len(revision.FormerNumbers) > 0 {
		controllerRevision.WithAnnotations(map[string]string{v1.AnnotationFormerNumbers: commaSeparated(revision.FormerNumbers)})
	}
	if len(revision.RolledBackBefore) > 0 {
		controllerRevision.WithAnnotations(map[string]string{v1.AnnotationRolledBackBefore: strings.Join(revision.RolledBackBefore, ",")})
	}
	if revision.ServicePorts != "" {
		controllerRevision.WithAnnotations(map[string]string{v1.AnnotationServicePorts: revision.ServicePorts})
	}
	return []any{controllerRevision}, nil
}

func commaSeparated(numbers []int64) string {
	var words []string
	for _, number := range numbers {
		words = append(words, strconv.FormatInt(number, 10))
	}
	return strings.Join(words, ",")
}

// annotate records the revision on a Deployment. The pods have none of it, because the number of a revision may
// change while they stay.
func (r Revision) annotate(deployment *appsv1ac.DeploymentApplyConfiguration) {
	if r.Name != "" {
		deployment.WithAnnotations(map[string]string{v1.AnnotationRevision: r.Name})
	}
	if r.RolledBackFrom != "" {
		deployment.WithAnnotations(map[string]string{
			v1.AnnotationRolledBackFrom:    r.RolledBackFrom,
			v1.AnnotationRolledBackBecause: r.RolledBackBecause,
		})
	}
}
