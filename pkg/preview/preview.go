// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package preview renders an Application, and computes the effect of a change: field by field, and whether it replaces
// pods, and because of which field.
//
// It runs the stages of a sync up to the rendering, with the same packages: class, validation, revision, render. It is
// pure, so it works without a cluster, too. Two things only the controller knows: the hashes of the ConfigMaps and
// Secrets that pods use, in whose place it takes those of the live pods, and the routes of other Applications.
package preview

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/reference"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/revision"
)

// Platform has the settings of the controller's flags and of the platform's classes.
type Platform struct {
	Rules      class.Rules
	Validation validation.Options
	Facts      render.Facts
}

// Rendering is a rendered Application.
type Rendering struct {
	// Application has the defaults of its class, and the pods of the revision that would run.
	Application *v1.Application
	// Class is the part of its class that applies; nil if it has none.
	Class *v1.AppliedClass
	// Invalid is why nothing would be rendered, and Reason is the reason of the condition.
	Invalid field.ErrorList
	Reason  string
	// Revision is the number of the revision that would run.
	Revision int64
	// Children are all children.
	Children []child.Desired
	// notCarriedOut means that the controller has perhaps not applied the children, so that others run.
	notCarriedOut bool
}

// ComputedHash replaces the hash of ConfigMaps or Secrets that only the controller can compute.
const ComputedHash = "computed-by-the-controller"

// Render renders the Application beside its live children, if it has any.
func Render(application *v1.Application, live child.Snapshot, platform Platform, now time.Time) (Rendering, error) {
	live.Application = application
	resolved := class.Resolve(application, platform.Rules)
	r := Rendering{Application: resolved.Application, Class: resolved.Applied}
	if r.Invalid, r.Reason = resolved.Validate(platform.Validation); len(r.Invalid) > 0 {
		return r, nil
	}
	selection, err := revision.Select(revision.Input{
		Application: resolved.Application,
		Deployment:  ownedDeployment(live),
		History:     history(live),
		Health:      health.Assess(live, now),
		Validate: func(former *v1.Application) (field.ErrorList, string) {
			return resolved.ValidateAs(former, platform.Validation)
		},
	})
	if err != nil {
		return Rendering{}, err
	}
	if r.Invalid, r.Reason = selection.Invalid, selection.InvalidReason; len(r.Invalid) > 0 {
		return r, nil
	}
	r.Application = selection.Application
	hashes := referenceHashes(r.Application, ownedDeployment(live))
	record, err := selection.Record(hashes.ConfigMaps.Hash, hashes.Secrets.Hash)
	if err != nil {
		return Rendering{}, err
	}
	facts := platform.Facts
	facts.References, facts.Replicas = hashes, render.LiveReplicas(live)
	facts.Revision = render.Revision{
		Name: record.Name, Number: record.Number, FormerNumbers: record.FormerNumbers, ServicePorts: record.ServicePorts, Data: record.Data,
		RolledBackFrom: record.RolledBackFrom, RolledBackBecause: record.RolledBackBecause, RolledBackBefore: record.RolledBackBefore,
	}
	r.Revision = record.Number
	if r.Children, err = render.Children(r.Application, facts); err != nil {
		return Rendering{}, fmt.Errorf("render: %w", err)
	}
	return r, nil
}

func ownedDeployment(live child.Snapshot) *appsv1.Deployment {
	deployment := child.Get[*appsv1.Deployment](live, child.Deployment, live.Application.Name)
	if deployment == nil || !child.OwnedBy(deployment, live.Application) {
		return nil
	}
	return deployment
}

func history(live child.Snapshot) []*appsv1.ControllerRevision {
	var found []*appsv1.ControllerRevision
	for _, object := range live.Children {
		if r, ok := object.(*appsv1.ControllerRevision); ok && child.OwnedBy(r, live.Application) {
			found = append(found, r)
		}
	}
	return found
}

// referenceHashes returns the hashes of the live pods, for kinds to which the pods would still refer.
func referenceHashes(application *v1.Application, deployment *appsv1.Deployment) render.ReferenceHashes {
	var hashes render.ReferenceHashes
	if len(Followed(application, reference.ConfigMap)) > 0 {
		hashes.ConfigMaps = liveHash(application, deployment, v1.AnnotationConfigMapsHash, v1.AnnotationConfigMapsVersions)
	}
	if len(Followed(application, reference.Secret)) > 0 {
		hashes.Secrets = liveHash(application, deployment, v1.AnnotationSecretsHash, v1.AnnotationSecretsVersions)
	}
	return hashes
}

// Followed returns the references of one kind whose content has a hash. It omits the Application's own ConfigMap, whose hash is rendered
// from the spec.
func Followed(application *v1.Application, kind reference.Kind) []reference.Reference {
	return slices.DeleteFunc(reference.FromSpec(&application.Spec), func(r reference.Reference) bool {
		isOwn := r.Kind == reference.ConfigMap && application.Spec.Config != nil && r.Name == render.ConfigMapName(application)
		return r.Kind != kind || isOwn
	})
}

func liveHash(application *v1.Application, deployment *appsv1.Deployment, hash, versions string) render.ReferenceHash {
	var live render.ReferenceHash
	if deployment != nil {
		live = render.ReferenceHash{Hash: deployment.Spec.Template.Annotations[hash], Versions: deployment.Annotations[versions]}
	}
	if live.Hash == "" && reference.RollsOut(&application.Spec) {
		live.Hash = ComputedHash
	}
	return live
}
