// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/utils/ptr"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	appsclient "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/apps/v1"
)

// editManager owns the fields that these subresources set.
const editManager = "fairlead-apiserver"

// options are the input and output of an edit.
type options interface {
	runtime.Object
	metav1.Object
}

// edit is a subresource that changes the spec of an Application by one patch. The controller does the rest, so it stays
// the only writer of children.
type edit struct {
	subresource string
	newOptions  func() options
	// spec returns the merge patch of the spec.
	spec func(given options, now time.Time) (map[string]any, error)
	// check, if it is not nil, returns an error if the edit would do harm to the Application as it is, or nothing. The caution is about
	// one that may do harm.
	check func(application *v1.Application, now time.Time) (caution string, err error)
}

func edits() []edit {
	return []edit{
		{"restart", func() options { return &v1alpha1.RestartOptions{} }, restart, checkRestart},
		{"rollback", func() options { return &v1alpha1.RollbackOptions{} }, rollback, nil},
		{"pause", func() options { return &v1alpha1.PauseOptions{} }, pause, nil},
		{"resume", func() options { return &v1alpha1.ResumeOptions{} }, resume, nil},
	}
}

func restart(_ options, now time.Time) (map[string]any, error) {
	return map[string]any{"podMetadata": map[string]any{"annotations": map[string]any{v1.AnnotationRestartedAt: restartedAt(now)}}}, nil
}

func restartedAt(now time.Time) string { return now.UTC().Format(time.RFC3339) }

// checkRestart refuses to try a revision again that failed and was rolled back: the spec still says it, and a restart is a change of it.
// Of a suspended Application it only warns, as the plugin does. It refuses a second restart within one second too, which would change nothing,
// because the time of a restart has whole seconds.
func checkRestart(application *v1.Application, now time.Time) (caution string, err error) {
	if metadata := application.Spec.PodMetadata; metadata != nil && metadata.Annotations[v1.AnnotationRestartedAt] == restartedAt(now) {
		return "", conflict(application, "it was restarted in this very second already: to restart it once more, send the request again")
	}
	status := application.Status.Revision
	if status == nil || status.RolledBackFrom == 0 || !application.IsRolledBack() || application.Status.ObservedGeneration != application.Generation {
		return application.RestartCaution(), nil
	}
	return "", conflict(application, fmt.Sprintf(
		"revision %d failed and was rolled back, and a restart would try it again: change the pods in the spec instead", status.RolledBackFrom))
}

func conflict(application *v1.Application, why string) error {
	return apierrors.NewConflict(v1.Resource(v1.ApplicationResource), application.Name, errors.New(why))
}

func rollback(given options, _ time.Time) (map[string]any, error) {
	asked, ok := given.(*v1alpha1.RollbackOptions)
	if !ok || asked.Revision < 1 {
		return nil, apierrors.NewBadRequest("revision must be at least 1: kubectl get controllerrevisions lists the Application's")
	}
	return map[string]any{"rollback": map[string]any{"toRevision": asked.Revision}}, nil
}

func pause(options, time.Time) (map[string]any, error) { return map[string]any{"paused": true}, nil }

func resume(options, time.Time) (map[string]any, error) { return map[string]any{"paused": nil}, nil }

// editor is the registry of one edit.
type editor struct {
	edit
	applications appsclient.ApplicationsGetter
	access       access
}

var _ rest.NamedCreater = &editor{}

func (r *editor) New() runtime.Object { return r.newOptions() }
func (r *editor) Destroy()            {}

// Create patches the Application as this server, after it has found that the user may patch it. Admission plugins of
// kube-apiserver see this server as the requester, which has no further permissions: what only some users may
// do, such as naming a ServiceAccount, they must do themselves.
func (r *editor) Create(ctx context.Context, name string, object runtime.Object, validate rest.ValidateObjectFunc, create *metav1.CreateOptions) (runtime.Object, error) {
	if err := r.access.require(ctx, name, onApplications("patch", name)); err != nil {
		return nil, err
	}
	given, ok := object.(options)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%T is not the input of %s", object, r.subresource))
	}
	if given.GetName() != "" && given.GetName() != name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("metadata.name is %q, but the path names %q", given.GetName(), name))
	}
	if validate != nil {
		if err := validate(ctx, object.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	applications := r.applications.Applications(request.NamespaceValue(ctx))
	caution, now := "", time.Now()
	if r.check != nil {
		present, err := applications.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		if caution, err = r.check(present, now); err != nil {
			return nil, err
		}
	}
	spec, err := r.spec(given, now)
	if err != nil {
		return nil, err
	}
	patch := map[string]any{"spec": spec}
	if version := given.GetResourceVersion(); version != "" {
		if _, err := parseVersion(version); err != nil {
			return nil, err // kube-apiserver would answer 500.
		}
		patch["metadata"] = map[string]any{"resourceVersion": version} // kube-apiserver answers 409 if it is another.
	}
	body, err := json.Marshal(patch)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	patched, err := applications.Patch(ctx, name, types.MergePatchType, body,
		metav1.PatchOptions{DryRun: create.DryRun, FieldManager: editManager})
	if err != nil {
		return nil, err // It is the answer: 404, 409 or 422 of kube-apiserver.
	}
	if caution != "" {
		warning.AddWarning(ctx, "", caution)
	}
	return r.answer(patched), nil
}

// answer has the metadata of the Application, so that a client knows which generation to wait for.
func (r *editor) answer(patched *v1.Application) runtime.Object {
	answer := r.newOptions()
	if rolledBack, ok := answer.(*v1alpha1.RollbackOptions); ok && patched.Spec.Rollback != nil {
		rolledBack.Revision = ptr.Deref(patched.Spec.Rollback.ToRevision, 0)
	}
	answer.SetNamespace(patched.Namespace)
	answer.SetName(patched.Name)
	answer.SetUID(patched.UID)
	answer.SetResourceVersion(patched.ResourceVersion)
	answer.SetGeneration(patched.Generation)
	answer.SetCreationTimestamp(patched.CreationTimestamp)
	return answer
}
