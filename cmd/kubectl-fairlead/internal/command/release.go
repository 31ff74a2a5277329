// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/helm"
)

// release is the Helm release that has, or had, the objects of an adoption. A change of it begins with a pending revision,
// by which Helm refuses to change the release meanwhile, and ends when that is deployed. Each half finds out by itself
// whether an earlier run did it.
type release struct {
	clients   *cluster.Clients
	now       func() time.Time
	namespace string // of the objects
	saved     *adopt.Release
}

// ourRevision begins the description of a revision that this command wrote.
const ourRevision = "kubectl fairlead "

func (r *release) String() string { return "Helm release " + r.saved.Namespace + "/" + r.saved.Name }

func (r *release) newest(ctx context.Context) (*helm.Revision, error) {
	list, err := r.clients.Kube.CoreV1().Secrets(r.saved.Namespace).List(ctx, metav1.ListOptions{LabelSelector: helm.Selector(r.saved.Name)})
	if err != nil {
		return nil, fmt.Errorf("read the %s: %w", r, err)
	}
	newest, err := helm.Newest(list.Items)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r, err)
	}
	return newest, nil
}

// find reads the part of the manifest that describes the objects.
func (r *release) find(ctx context.Context, objects []helm.Object) error {
	newest, err := r.newest(ctx)
	if err != nil {
		return err
	}
	if err := r.mustBeDeployed(newest); err != nil {
		return err
	}
	_, taken, err := helm.Take(newest.Manifest, r.saved.Namespace, r.namespace, objects)
	if err != nil {
		return err
	}
	found, err := helm.Objects(taken)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if !slices.Contains(found, object) {
			return fmt.Errorf("revision %d of the %s does not have %s, whose annotations say so: remove the annotations", newest.Number, r, object)
		}
	}
	r.saved.Manifest = taken
	return nil
}

// others names what else the release has.
func (r *release) others(ctx context.Context) ([]helm.Object, error) {
	newest, err := r.newest(ctx)
	if err != nil {
		return nil, err
	}
	objects, err := helm.Objects(r.saved.Manifest)
	if err != nil {
		return nil, err
	}
	rest, _, err := helm.Take(newest.Manifest, r.saved.Namespace, r.namespace, objects)
	if err != nil {
		return nil, err
	}
	return helm.Objects(rest)
}

func (r *release) mustBeDeployed(newest *helm.Revision) error {
	if newest.Status == helm.Deployed {
		return nil
	}
	return fmt.Errorf("revision %d of the %s is %s: finish that first, with helm upgrade or helm rollback", newest.Number, r, newest.Status)
}

// takeOut begins a revision without the objects.
func (r *release) takeOut(ctx context.Context) error {
	newest, err := r.newest(ctx)
	if err != nil {
		return err
	}
	objects, err := helm.Objects(r.saved.Manifest)
	if err != nil {
		return err
	}
	rest, taken, err := helm.Take(newest.Manifest, r.saved.Namespace, r.namespace, objects)
	if err != nil || taken == "" {
		return err
	}
	if err := r.mustBeDeployed(newest); err != nil {
		return err
	}
	return r.begin(ctx, newest, rest, "adopt: without "+list(objects))
}

// giveBack begins a revision with the objects as they were.
func (r *release) giveBack(ctx context.Context) error {
	if err := r.end(ctx); err != nil {
		return err
	}
	newest, err := r.newest(ctx)
	if err != nil {
		return err
	}
	objects, err := helm.Objects(r.saved.Manifest)
	if err != nil {
		return err
	}
	_, has, err := helm.Take(newest.Manifest, r.saved.Namespace, r.namespace, objects)
	if err != nil {
		return err
	}
	there, err := helm.Objects(has)
	if err != nil {
		return err
	}
	objects = slices.DeleteFunc(objects, func(object helm.Object) bool { return slices.Contains(there, object) })
	if len(objects) == 0 {
		return nil
	}
	if err := r.mustBeDeployed(newest); err != nil {
		return err
	}
	_, missing, err := helm.Take(r.saved.Manifest, r.saved.Namespace, r.namespace, objects)
	if err != nil {
		return err
	}
	return r.begin(ctx, newest, helm.Join(newest.Manifest, missing), "eject: with "+list(objects))
}

func list(objects []helm.Object) string {
	names := make([]string, 0, len(objects))
	for _, object := range objects {
		names = append(names, object.String())
	}
	return strings.Join(names, ", ")
}

// begin creates a pending revision.
func (r *release) begin(ctx context.Context, newest *helm.Revision, manifest, description string) error {
	secret, err := newest.Next(manifest, ourRevision+description, r.now())
	if err != nil {
		return err
	}
	_, err = r.clients.Kube.CoreV1().Secrets(secret.Namespace).Create(ctx, secret, metav1.CreateOptions{FieldManager: fieldManager})
	if apierrors.IsAlreadyExists(err) {
		return errors.New("Helm changed the release meanwhile: run the command again") //nolint:staticcheck // A name.
	}
	if err != nil {
		return fmt.Errorf("write a revision of the %s: %w", r, err)
	}
	return nil
}

// end makes the pending revision the deployed one, as Helm does: the one before is superseded first.
func (r *release) end(ctx context.Context) error {
	newest, err := r.newest(ctx)
	if err != nil {
		return err
	}
	if newest.Status != helm.Pending || !strings.HasPrefix(newest.Description, ourRevision) {
		return nil
	}
	secrets := r.clients.Kube.CoreV1().Secrets(r.saved.Namespace)
	previous, err := secrets.Get(ctx, newest.Previous(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err): // Helm keeps the last ten.
	case err != nil:
		return fmt.Errorf("read the %s: %w", r, err)
	default:
		revision, err := helm.Read(previous)
		if err != nil {
			return err
		}
		if err := r.mark(ctx, revision, helm.Superseded); err != nil {
			return err
		}
	}
	return r.mark(ctx, newest, helm.Deployed)
}

func (r *release) mark(ctx context.Context, revision *helm.Revision, status helm.Status) error {
	secret, err := revision.With(status, r.now())
	if err != nil {
		return err
	}
	if _, err := r.clients.Kube.CoreV1().Secrets(secret.Namespace).Update(ctx, secret, metav1.UpdateOptions{FieldManager: fieldManager}); err != nil {
		return fmt.Errorf("write revision %d of the %s, then run the command again: %w", revision.Number, r, again(err))
	}
	return nil
}
