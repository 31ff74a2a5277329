// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Restore returns the Application with the pods of a former revision in its spec, for a user who undoes a change. The
// pods include what they got from the class at that time. It returns an error if the content of the ControllerRevision
// is not what its name stands for.
func Restore(application *v1.Application, object *appsv1.ControllerRevision) (*v1.Application, error) {
	for _, former := range read(application, []*appsv1.ControllerRevision{object}) {
		if pods, found := former.pods(application.UID); found {
			return withPodFields(application, pods), nil
		}
	}
	return nil, fmt.Errorf("the ControllerRevision %s is not what Fairlead recorded", object.Name)
}

// Describes reports whether the ControllerRevision of the name is a revision of the pods that the Application asks for, whatever its
// ConfigMaps and Secrets contain. The Application has the defaults of its class.
func Describes(name string, application *v1.Application) bool {
	encoded, err := encode(podSpec(&application.Spec))
	return err == nil && keyInName(application, name) == keyOf(application.UID, encoded)
}
