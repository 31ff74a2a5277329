// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
)

// AddedContainer is a container that another client added to the Deployment.
type AddedContainer struct {
	Name, Manager string
	Time          *time.Time // nil if it is unknown
	image         fieldpath.Path
	deployment    string
}

// What says what it is.
func (a AddedContainer) What() string {
	return fmt.Sprintf("Container %s of the Deployment is not the Application's: %s added it, and Fairlead leaves it there.", a.Name, a.Manager)
}

// Next says what to do about it.
func (a AddedContainer) Next() string {
	return "If it comes from a manifest or chart that is older than the Application, stop applying that, and remove the container: kubectl edit deployment " + a.deployment
}

// addedToHeld finds such containers of a Deployment whose pods wait for their release, and added those of any other.
func addedToHeld(f facts) []Finding {
	if !f.holdsPods() {
		return nil
	}
	return f.added()
}

func added(f facts) []Finding {
	if f.holdsPods() {
		return nil
	}
	return f.added()
}

func (f facts) added() []Finding {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	var found []Finding
	for _, container := range AddedContainers(f.app, deployment) {
		found = append(found, Finding{
			Reason: "ContainerAdded",
			What:   container.What(),
			Evidence: []Evidence{{
				Object: child.Deployment.Kind + "/" + deployment.Name, Field: "metadata.managedFields",
				Message: container.Manager + " set " + container.image.String(), Time: container.Time,
			}},
			Next: []string{container.Next()},
		})
	}
	return found
}

// AddedContainers finds containers that another client added to the Deployment of the Application. Fairlead leaves them, because a webhook
// may inject them; but kubectl apply of a manifest from before an adoption adds the former container beside the new one, too.
func AddedContainers(application *v1.Application, deployment *appsv1.Deployment) []AddedContainer {
	if deployment == nil || !child.OwnedBy(deployment, application) {
		return nil
	}
	owners := ownersOf(deployment)
	if owners[apply.FieldManager] == nil {
		return nil
	}
	var found []AddedContainer
	for i := range deployment.Spec.Template.Spec.Containers {
		container := deployment.Spec.Template.Spec.Containers[i].Name
		element := fieldpath.MakePathOrDie("spec", "template", "spec", "containers", fieldpath.KeyByFields("name", container))
		image := append(element.Copy(), fieldpath.MakePathOrDie("image")...)
		if ours := owners[apply.FieldManager]; ours.Has(element) || ours.Has(image) {
			continue // Another client may have set its image since.
		}
		for _, entry := range deployment.ManagedFields {
			if set := owners[entry.Manager]; set == nil || !set.Has(image) {
				continue
			}
			one := AddedContainer{Name: container, Manager: entry.Manager, image: image, deployment: deployment.Name}
			if entry.Time != nil {
				one.Time = &entry.Time.Time
			}
			found = append(found, one)
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
