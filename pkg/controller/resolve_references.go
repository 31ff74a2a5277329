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

// configState is what a sync finds out about the ConfigMaps and Secrets that the pods use.
type configState struct {
	hashes render.ReferenceHashes
	// pending: the caches that know which objects exist are being filled. Their end makes the next
	// sync; until then nothing can be said about the pods.
	pending bool
	// missing are the objects and keys without which no pod starts, and podsRun is true while pods run anyway.
	missing []string
	podsRun bool
	// unwatched are the objects whose changes replace no pods, and unwatchedWhy is why.
	unwatched    []string
	unwatchedWhy string
	// debounce is when a burst of changes is over; 0 if there is none.
	debounce time.Duration
	// retry is when to read again what no event tells of; 0 if there is nothing of the kind.
	retry time.Duration
}

// kindUsed are the references of one kind, and the hash that the live pods have.
type kindUsed struct {
	kind       reference.Kind
	references []reference.Reference
	live       render.ReferenceHash
	hash       *render.ReferenceHash // where the result goes
}

// resolveReferences finds out whether the ConfigMaps and Secrets that the pods use exist, and
// which hash the pods are to have. It reads the content of those alone that have changed since the
// hash of the live pods was computed.
//
// application is the snapshot's, with the pods that are to run: a former revision may use others.
func (c *Controller) resolveReferences(
	ctx context.Context, snapshot child.Snapshot, application *v1.Application, now time.Time,
) (configState, error) {
	c.Informers.SetReferences(cache.MetaObjectToName(application), followed(snapshot.Application, application))
	deployment := ownDeployment(snapshot)
	s := configState{podsRun: deployment != nil && deployment.Status.Replicas > 0}
	for _, k := range kindsUsed(deployment, application, &s.hashes) {
		// Whatever keeps a new hash from being computed, the pods stay as they are.
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

// followed are the references whose changes concern the Application: those of the pods that are to run, and those of the spec,
// which after a rollback are others.
func followed(application, runs *v1.Application) []reference.Reference {
	if !reference.RollsOut(&runs.Spec) {
		return nil
	}
	return slices.Concat(reference.FromSpec(&runs.Spec), reference.FromSpec(&application.Spec))
}

// kindsUsed sorts the references by kind, and finds the hashes of the live pods. ConfigMaps that the
// Application itself carries are not among them: their hash is rendered from the spec.
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

// ownDeployment is the live Deployment, or nil if there is none or it is not the Application's.
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

// missingMessage tells users what is missing; "" if nothing is.
func (s *configState) missingMessage() string {
	if len(s.missing) == 0 {
		return ""
	}
	waits := "no pod starts without it"
	if s.podsRun {
		waits = "running pods stay as they are, and new ones wait for it"
	}
	return enumerate(s.missing, "; ") + "; " + waits
}

// unwatchedMessage tells users whose changes have no effect; "" if all have.
func (s *configState) unwatchedMessage() string {
	if len(s.unwatched) == 0 {
		return ""
	}
	return fmt.Sprintf("Changes of %s do not replace pods: %s", enumerate(s.unwatched, ", "), s.unwatchedWhy)
}

// enumerate names some of many.
func enumerate(items []string, separator string) string {
	const most = 5
	if len(items) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(items[:most], separator), len(items)-most)
	}
	return strings.Join(items, separator)
}
