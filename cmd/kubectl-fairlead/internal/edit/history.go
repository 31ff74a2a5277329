// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/revision"
)

// Revision is one entry of the history of an Application.
type Revision struct {
	Number  int64     `json:"revision"`
	Name    string    `json:"name"`
	Image   string    `json:"image"`
	Created time.Time `json:"created"`
	// Current is rolled out, LastHealthy was healthy last, and RolledBack is the spec's, which failed.
	Current     bool `json:"current,omitempty"`
	LastHealthy bool `json:"lastHealthy,omitempty"`
	RolledBack  bool `json:"rolledBack,omitempty"`
}

// History returns the revisions that the Application owns, the newest first.
func History(application *v1.Application, children []child.Object) []Revision {
	var status v1.RevisionStatus
	if application.Status.Revision != nil {
		status = *application.Status.Revision
	}
	var revisions []Revision
	for _, live := range children {
		object, ok := live.(*appsv1.ControllerRevision)
		if !ok || !child.OwnedBy(object, application) {
			continue
		}
		revisions = append(revisions, Revision{
			Number: object.Revision, Name: object.Name, Image: imageOf(object), Created: object.CreationTimestamp.Time,
			Current: object.Revision == status.Current, LastHealthy: object.Revision == status.LastHealthy,
			RolledBack: object.Revision == status.RolledBackFrom,
		})
	}
	slices.SortFunc(revisions, func(a, b Revision) int {
		return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(a.Name, b.Name))
	})
	return revisions
}

// imageOf is empty if the data is not what Fairlead writes.
func imageOf(object *appsv1.ControllerRevision) string {
	var content struct {
		Spec struct {
			Image string `json:"image"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(object.Data.Raw, &content); err != nil {
		return ""
	}
	return content.Spec.Image
}

// Target is the revision that undo goes back to: the given one, else the one that runs, if the spec says something else
// about the pods, else the last healthy one, else the one before. asksFor is the revision of the spec, which need not be
// there yet; the spec says something else after a rollback, and while it is not carried out.
func Target(revisions []Revision, asksFor, number int64) (Revision, error) {
	running := slices.IndexFunc(revisions, func(r Revision) bool { return r.Current })
	elsewhere := running >= 0 && revisions[running].Number != asksFor || slices.ContainsFunc(revisions, func(r Revision) bool { return r.RolledBack })
	for i, r := range revisions {
		switch {
		case number > 0 && r.Number == number,
			number == 0 && elsewhere && r.Current,
			number == 0 && !elsewhere && r.LastHealthy && !r.Current:
			return revisions[i], nil
		}
	}
	if number == 0 && running >= 0 && running+1 < len(revisions) {
		return revisions[running+1], nil
	}
	if number > 0 {
		if len(revisions) == 0 {
			return Revision{}, fmt.Errorf("there is no revision %d: the Application has no revisions yet", number)
		}
		numbers := make([]string, 0, len(revisions))
		for _, r := range slices.Backward(revisions) {
			numbers = append(numbers, strconv.FormatInt(r.Number, 10))
		}
		return Revision{}, fmt.Errorf("there is no revision %d. Revisions: %s", number, strings.Join(numbers, ", "))
	}
	return Revision{}, errors.New("there is no former revision to go back to")
}

// Undo takes the pods of the revision. The spec decides about the pods again, if it named a revision.
func Undo(target Revision, children []child.Object) Edit {
	return func(application *v1.Application) (string, error) {
		for _, live := range children {
			object, ok := live.(*appsv1.ControllerRevision)
			if !ok || object.Name != target.Name {
				continue
			}
			restored, err := revision.Restore(application, object)
			if err != nil {
				return "", err
			}
			application.Spec = restored.Spec
			what := fmt.Sprintf("the pods of revision %d (%s) in the spec", target.Number, target.Image)
			if rollback := application.Spec.Rollback; rollback != nil && rollback.ToRevision != nil {
				what += fmt.Sprintf("; rollback.toRevision %d is removed", *rollback.ToRevision)
				rollback.ToRevision = nil
			}
			return what, nil
		}
		return "", fmt.Errorf("the ControllerRevision %s is gone", target.Name)
	}
}
