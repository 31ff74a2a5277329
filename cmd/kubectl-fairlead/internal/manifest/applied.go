// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Applied is what kubectl apply would make of the live Application. What the file does not mention stays, such as the
// replicas of kubectl scale, unless the file had it when it was applied last.
func (d *Document) Applied(live *v1.Application) (*v1.Application, error) {
	file, err := json.Marshal(d.object)
	if err != nil {
		return nil, err
	}
	current, err := json.Marshal(live)
	if err != nil {
		return nil, err
	}
	last := []byte(live.Annotations[corev1.LastAppliedConfigAnnotation])
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(last, file, current)
	if err != nil {
		return nil, fmt.Errorf("merge the file into the Application of the cluster: %w", err)
	}
	merged, err := jsonpatch.MergePatch(current, patch)
	if err != nil {
		return nil, fmt.Errorf("merge the file into the Application of the cluster: %w", err)
	}
	applied := &v1.Application{}
	if err := json.Unmarshal(merged, applied); err != nil {
		return nil, fmt.Errorf("merge the file into the Application of the cluster: %w", err)
	}
	v1.SetDefaults(applied)
	applied.ObjectMeta = metav1.ObjectMeta{Namespace: live.Namespace, Name: live.Name, Labels: applied.Labels, Annotations: applied.Annotations}
	applied.Status = v1.ApplicationStatus{}
	return applied, nil
}
