// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/payload"
	"fairlead.dev/fairlead/pkg/reference"
	"fairlead.dev/fairlead/pkg/render"
)

// unlistedRetry is the delay before a waiting rollout looks for its references again, while the API server cannot list
// them.
const unlistedRetry = 30 * time.Second

// hashReferences computes the hash of the references of one kind, or keeps the live one if it is still valid.
func (c *Controller) hashReferences(ctx context.Context, application *v1.Application, k kindUsed, s *configState, now time.Time) error {
	versions := make([]reference.Version, len(k.references))
	debounce := time.Duration(0)
	absent := false
	for i, r := range k.references {
		object := cache.ObjectName{Namespace: application.Namespace, Name: r.Name}
		versions[i] = c.Informers.ReferenceVersion(k.kind, object)
		debounce = max(debounce, c.memory.debounce(cache.MetaObjectToName(application), referenced{k.kind, r.Name}, now))
		absent = absent || r.Required && !versions[i].Exists()
	}
	if !absent && k.live.Hash != "" && reference.Digest(k.live.Hash, k.references, versions) == k.live.Versions {
		return nil
	}
	// A changed spec replaces the pods anyway, and so may a rollout that waited for a missing object. Both include all
	// changes so far; otherwise a second rollout would follow. An Application without pods need not debounce at all.
	if debounce > 0 && k.live.Hash != "" && !edited(application) && !waited(application) {
		s.debounce = max(s.debounce, debounce)
		return nil
	}
	reads := make([]payload.Read, len(k.references))
	for i, r := range k.references {
		if !versions[i].Exists() {
			continue
		}
		var err error
		if reads[i], err = c.Payload.Content(ctx, k.kind, cache.ObjectName{Namespace: application.Namespace, Name: r.Name}, versions[i]); err != nil {
			return err
		}
	}
	k.rehash(reads, s)
	return nil
}

// edited reports whether no sync has ended since the last change of the spec.
func edited(application *v1.Application) bool {
	return application.Status.ObservedGeneration != application.Generation
}

// waited reports whether a ConfigMap or Secret, or a key of it, was missing at the last sync.
func waited(application *v1.Application) bool {
	ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
	return ready != nil && ready.Reason == v1.ReasonConfigMissing
}

// hashUnlisted computes the first hash of references that the API server cannot list. It gets each one by name, so that
// a new Application starts although another Secret cannot be read. Pods that have a hash keep it: their references may
// have changed, but no event reports it.
func (c *Controller) hashUnlisted(ctx context.Context, application *v1.Application, k kindUsed, s *configState) error {
	if k.live.Hash != "" {
		return nil
	}
	missing := len(s.missing)
	reads := make([]payload.Read, len(k.references))
	for i, r := range k.references {
		var err error
		reads[i], err = c.Payload.Latest(ctx, k.kind, cache.ObjectName{Namespace: application.Namespace, Name: r.Name})
		switch {
		case isUnreadable(err):
			// It exists, but the kubelet could not read it either.
			s.missing = append(s.missing, fmt.Sprintf("%s cannot be read (%s)", r, apierrors.ReasonForError(err)))
		case err != nil:
			return err
		}
	}
	if len(s.missing) == missing {
		k.rehash(reads, s)
	}
	if len(s.missing) > missing {
		s.retry = unlistedRetry
	}
	return nil
}

// isUnreadable reports whether the API server failed to read a stored object, for example because it lost the encryption
// key.
func isUnreadable(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusInternalServerError
}

// rehash computes the hash of the content, or finds what is missing. The zero Read means that the object does not exist.
func (k kindUsed) rehash(reads []payload.Read, s *configState) {
	missing := len(s.missing)
	versions := make([]reference.Version, len(reads))
	contents := make([]reference.Content, len(reads))
	for i, r := range k.references {
		versions[i], contents[i] = reads[i].Version, reads[i].Content
		switch lacking := contents[i].Missing(r.Keys); {
		case r.Required && !versions[i].Exists():
			s.missing = append(s.missing, fmt.Sprintf("%s does not exist", r))
		case versions[i].Exists() && len(lacking) > 0:
			s.missing = append(s.missing, fmt.Sprintf("%s has no %s", r, quoteKeys(lacking)))
		}
	}
	if len(s.missing) > missing {
		return
	}
	hash := reference.Combine(k.references, contents)
	if hash == k.live.Hash && k.live.Versions != "" {
		// Only metadata changed. Recording the new versions would cost a write for each Application that uses the
		// object; not recording them costs a read after the next restart.
		return
	}
	*k.hash = render.ReferenceHash{Hash: hash, Versions: reference.Digest(hash, k.references, versions)}
}

// quoteKeys quotes the names of keys of a ConfigMap or Secret.
func quoteKeys(keys []string) string {
	quoted := make([]string, len(keys))
	for i, key := range keys {
		quoted[i] = strconv.Quote(key)
	}
	if len(keys) == 1 {
		return "key " + quoted[0]
	}
	return "keys " + enumerate(quoted, ", ")
}
