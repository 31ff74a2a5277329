// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"bytes"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
)

// added finds containers that another client added to the Deployment. Fairlead leaves them, because a webhook may inject them; but
// kubectl apply of a manifest from before an adoption adds the former container beside the new one, too.
func added(f facts) []Finding {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	if deployment == nil || !child.OwnedBy(deployment, f.app) {
		return nil
	}
	owners := ownersOf(deployment)
	if owners[apply.FieldManager] == nil {
		return nil
	}
	var found []Finding
	for i := range deployment.Spec.Template.Spec.Containers {
		container := deployment.Spec.Template.Spec.Containers[i].Name
		image := fieldpath.MakePathOrDie("spec", "template", "spec", "containers", fieldpath.KeyByFields("name", container), "image")
		if owners[apply.FieldManager].Has(image) {
			continue
		}
		for _, entry := range deployment.ManagedFields {
			if set := owners[entry.Manager]; set == nil || !set.Has(image) {
				continue
			}
			evidence := Evidence{Object: child.Deployment.Kind + "/" + deployment.Name, Field: "metadata.managedFields", Message: entry.Manager + " set " + image.String()}
			if entry.Time != nil {
				evidence.Time = &entry.Time.Time
			}
			found = append(found, Finding{
				Reason:   "ContainerAdded",
				What:     fmt.Sprintf("Container %s of the Deployment is not the Application's: %s added it, and Fairlead leaves it there.", container, entry.Manager),
				Evidence: []Evidence{evidence},
				Next: []string{fmt.Sprintf("If it comes from a manifest or chart that is older than the Application, stop applying that, and remove the container: kubectl edit deployment %s",
					deployment.Name)},
			})
			break
		}
	}
	return found
}

// ownersOf are the fields of each manager.
func ownersOf(object metav1.Object) map[string]*fieldpath.Set {
	owners := map[string]*fieldpath.Set{}
	for _, entry := range slices.DeleteFunc(slices.Clone(object.GetManagedFields()), func(entry metav1.ManagedFieldsEntry) bool { return entry.Subresource != "" || entry.FieldsV1 == nil }) {
		set := &fieldpath.Set{}
		if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			continue
		}
		if before := owners[entry.Manager]; before != nil {
			set = before.Union(set)
		}
		owners[entry.Manager] = set
	}
	return owners
}
