// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/pkg/apierror"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// checkStaying refuses to eject an Application with an object that is being deleted: without the Application, nothing creates it again.
// If the Application is being deleted already, or gone, then what goes with it is only named.
func (e *ejecting) checkStaying(to *screen.Screen, application *v1.Application, objects []left) (stay []left, err error) {
	again := "Let its deletion end, so that Fairlead creates it again if the spec asks for it, and run the command again"
	if !enforced(application) {
		again = "Let its deletion end, resume the Application, so that Fairlead creates it again if the spec asks for it, and run the command again"
	}
	for _, object := range objects {
		switch {
		case object.GetDeletionTimestamp() == nil:
			stay = append(stay, object)
		case application.DeletionTimestamp == nil && application.UID != "":
			return nil, fmt.Errorf("%s. Without the Application, no controller creates it again, so nothing was changed. %s", describeGoing(object.GetKind(), object), again)
		default:
			to.Printf("%s. That cannot be undone.", describeGoing(object.GetKind(), object))
		}
	}
	return stay, nil
}

// checkRestorable refuses to restore an object that is being deleted.
func (e *ejecting) checkRestorable() error {
	var going string
	switch {
	case e.deployment != nil && e.deployment.DeletionTimestamp != nil:
		going = describeGoing("Deployment", e.deployment)
	case e.service != nil && e.service.DeletionTimestamp != nil:
		going = describeGoing("Service", e.service)
	default:
		return nil
	}
	return fmt.Errorf("%s, so nothing was written. Let its deletion end, and run the command again, which then creates it again", going)
}

// describeGoing says what an object that is being deleted waits for.
func describeGoing(kind string, object metav1.Object) string {
	named := kind + " " + object.GetName()
	switch finalizers := object.GetFinalizers(); len(finalizers) {
	case 0:
		return named + " is being deleted, and is gone soon"
	case 1:
		return named + " is being deleted, and is gone once its finalizer " + finalizers[0] + " is removed"
	default:
		return named + " is being deleted, and is gone once its finalizers " + strings.Join(finalizers, ", ") + " are removed"
	}
}

// tryClean lets the API server try the removal of the marks, before anything is written: without the Application, what it refuses could
// not be finished. A webhook without dry runs fails the try alone.
func (e *ejecting) tryClean(ctx context.Context, objects []left) error {
	if e.editing.dryRun == cmdutil.DryRunClient {
		return nil
	}
	for _, object := range objects {
		err := e.patchMarks(ctx, object, []string{metav1.DryRunAll})
		switch {
		case err == nil:
		case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierror.ReasonFor(err) == v1.ReasonPolicyDenied:
			return fmt.Errorf("the API server refuses to remove Fairlead's marks from %s %s, so nothing was changed: %w", object.GetKind(), object.GetName(), err)
		case e.editing.dryRun == cmdutil.DryRunServer:
			return fmt.Errorf("the API server could not try to remove Fairlead's marks from %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// isReleased reports whether the deletion of the Application takes none of the objects along, and names the first that it would take.
func (e *ejecting) isReleased(ctx context.Context, application *v1.Application, objects []left) (released bool, kept string, err error) {
	for _, object := range objects {
		live, err := e.clients.Dynamic.Resource(object.kind.GroupVersionResource()).Namespace(e.namespace).Get(ctx, object.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return false, "", err
		}
		if child.Collectable(live, application) {
			return false, object.GetKind() + " " + object.GetName(), nil
		}
	}
	return true, "", nil
}
