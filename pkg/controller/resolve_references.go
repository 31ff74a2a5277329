// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/reference"
	"fairlead.dev/fairlead/pkg/render"
)

// configState is the state of the ConfigMaps and Secrets that the pods use.
type configState struct {
	hashes render.ReferenceHashes
	// pending means that their caches have not synced. That event triggers the next sync; until then nothing is known
	// about the pods.
	pending bool
	// missing are the objects and keys without which no pod starts. podsRun is true while pods run nevertheless.
	missing []string
	podsRun bool
	// unwatched are the objects whose changes replace no pods, and unwatchedWhy is the reason.
	unwatched    []string
	unwatchedWhy string
	// debounce is the time until a burst of changes ends; 0 if there is none.
	debounce time.Duration
	// retry is the delay before the next read of what no event reports; 0 if there is no such read.
	retry time.Duration
}

// kindUsed are the references of one kind, and the hash that the live pods have.
type kindUsed struct {
	kind       reference.Kind
	references []reference.Reference
	live       render.ReferenceHash
	hash       *render.ReferenceHash // the hash to render
}

// resolveReferences finds out whether the ConfigMaps and Secrets that the pods use exist, and which hash the pods get.
// It reads only the content that changed since the hash of the live pods was computed.
//
// application is the snapshot's, with the pods of the selected revision: a former one may use other objects.
func (c *Controller) resolveReferences(
	ctx context.Context, snapshot child.Snapshot, application *v1.Application, now time.Time,
) (configState, error) {
	c.Informers.SetReferences(cache.MetaObjectToName(application), followed(snapshot.Application, application))
	deployment := ownDeployment(snapshot)
	s := configState{podsRun: deployment != nil && deployment.Status.Replicas > 0}
	for _, k := range kindsUsed(deployment, application, &s.hashes) {
		// Whatever prevents a new hash, the pods stay as they are.
		*k.hash = k.live
		if !reference.RollsOut(&application.Spec) {
			continue
		}
		var err error
		switch watching, why := c.Informers.WatchReferences(k.kind, application.Namespace); watching {
		case informer.WatchPending:
			s.pending = true
			continue
		case informer.WatchForbidden:
			s.markUnwatched(k, why)
			continue
		case informer.WatchListFailed:
			s.markUnwatched(k, why)
			err = c.hashUnlisted(ctx, application, k, &s)
		default:
			err = c.hashReferences(ctx, application, k, &s, now)
		}
		if apierrors.IsForbidden(err) {
			s.markUnwatched(k, err.Error())
			continue
		}
		if err != nil {
			return configState{}, err
		}
	}
	return s, nil
}

// followed returns the references whose changes concern the Application: those of the selected revision, and those of
// the spec, which differ after a rollback.
func followed(application, runs *v1.Application) []reference.Reference {
	if !reference.RollsOut(&runs.Spec) {
		return nil
	}
	return slices.Concat(reference.FromSpec(&runs.Spec), reference.FromSpec(&application.Spec))
}

// kindsUsed groups the references by kind, with the hashes of the live pods. It omits the Application's own ConfigMap,
// whose hash is rendered from the spec.
func kindsUsed(deployment *appsv1.Deployment, application *v1.Application, hashes *render.ReferenceHashes) []kindUsed {
	configMaps := kindUsed{kind: reference.ConfigMap, hash: &hashes.ConfigMaps}
	secrets := kindUsed{kind: reference.Secret, hash: &hashes.Secrets}
	for _, r := range reference.FromSpec(&application.Spec) {
		switch {
		case r.Kind == reference.Secret:
			secrets.references = append(secrets.references, r)
		case application.Spec.Config == nil || r.Name != render.ConfigMapName(application):
			configMaps.references = append(configMaps.references, r)
		}
	}
	if deployment != nil {
		pods := deployment.Spec.Template.Annotations
		configMaps.live = render.ReferenceHash{Hash: pods[v1.AnnotationConfigMapsHash], Versions: deployment.Annotations[v1.AnnotationConfigMapsVersions]}
		secrets.live = render.ReferenceHash{Hash: pods[v1.AnnotationSecretsHash], Versions: deployment.Annotations[v1.AnnotationSecretsVersions]}
	}
	return slices.DeleteFunc([]kindUsed{configMaps, secrets}, func(k kindUsed) bool { return len(k.references) == 0 })
}

// ownDeployment returns the live Deployment, or nil if there is none or the Application does not own it.
func ownDeployment(snapshot child.Snapshot) *appsv1.Deployment {
	deployment := child.Get[*appsv1.Deployment](snapshot, child.Deployment, snapshot.Application.Name)
	if deployment == nil || !child.OwnedBy(deployment, snapshot.Application) {
		return nil
	}
	return deployment
}

func (s *configState) markUnwatched(k kindUsed, why string) {
	for _, r := range k.references {
		s.unwatched = append(s.unwatched, r.String())
	}
	s.unwatchedWhy = why
}

// missingMessage explains to users what is missing; "" if nothing is.
func (s *configState) missingMessage() string {
	if len(s.missing) == 0 {
		return ""
	}
	it := "it"
	if len(s.missing) > 1 {
		it = "them"
	}
	waits := "no pod starts without " + it
	if s.podsRun {
		waits = "running pods stay as they are, and new ones that need " + it + " wait"
	}
	return enumerate(s.missing, "; ") + "; " + waits
}

// unwatchedMessage explains to users whose changes have no effect; "" if all have.
func (s *configState) unwatchedMessage() string {
	if len(s.unwatched) == 0 {
		return ""
	}
	return fmt.Sprintf("Changes of %s do not replace pods: %s", enumerate(s.unwatched, ", "), s.unwatchedWhy)
}

// enumerate lists the first of many names.
func enumerate(items []string, separator string) string {
	const most = 5
	if len(items) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(items[:most], separator), len(items)-most)
	}
	return strings.Join(items, separator)
}
