// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"hash/maphash"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/child"
)

// The API server gives a Deployment another generation when only its annotations change, such as by kubectl annotate. Until the Deployment
// controller has observed that generation, the generation alone cannot tell such a change from a rollout.

// sameSpec are the generations of a Deployment, without a gap, in which this process saw the same spec.
type sameSpec struct {
	uid         types.UID
	first, last int64
	hash        uint64
}

// sameSpecSince returns the first generation of the Deployment since which its spec is known to be the same; 0 if there is no Deployment. A
// generation that no sync saw may have had any spec, so the generations before it do not count. Nor do those before a restart.
func (m *memory) sameSpecSince(snapshot child.Snapshot) (int64, error) {
	deployment := child.Get[*appsv1.Deployment](snapshot, child.Deployment, snapshot.Application.Name)
	if deployment == nil {
		return 0, nil
	}
	key := cache.MetaObjectToName(snapshot.Application)
	m.mu.Lock()
	was := m.of(key).sameSpec
	m.mu.Unlock()
	if was.uid == deployment.UID && was.last == deployment.Generation {
		return was.first, nil
	}
	encoded, err := deployment.Spec.Marshal()
	if err != nil {
		return 0, fmt.Errorf("encode the spec of Deployment %s: %w", key, err)
	}
	is := sameSpec{uid: deployment.UID, first: deployment.Generation, last: deployment.Generation, hash: maphash.Bytes(m.seed, encoded)}
	if was.uid == is.uid && was.last+1 == is.last && was.hash == is.hash {
		is.first = was.first
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(key).sameSpec = is
	return is.first, nil
}
