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
	"fairlead.dev/fairlead/pkg/child"
)

// release is the Helm release that has, or had, the objects of an adoption. A change of it begins with a pending revision,
// by which Helm refuses to upgrade the release meanwhile, and ends when that is deployed. Each half finds out by itself
// whether an earlier run did it.
type release struct {
	clients   *cluster.Clients
	now       func() time.Time
	namespace string // of the objects, and of the release
	name      string // of the objects
	saved     *adopt.Release
}

// useSaved returns the release that a backup names. Whoever may write Secrets in the namespace may have written it, while the
// user of this command may be allowed much more: so it counts for this namespace and these two objects alone.
func useSaved(clients *cluster.Clients, now func() time.Time, backup adopt.Saved) (*release, error) {
	saved, of := backup.Release, backup.Deployment
	r := &release{clients: clients, now: now, namespace: of.Namespace, name: of.Name, saved: saved}
	objects, err := helm.Objects(saved.Manifest)
	if err != nil {
		return nil, fmt.Errorf("read Secret %s: %w", adopt.BackupName(of.Name), err)
	}
	foreign := func(object helm.Object) bool { return !slices.Contains(r.adoptable(), object) }
	if saved.Namespace != of.Namespace || len(objects) == 0 || slices.ContainsFunc(objects, foreign) {
		return nil, fmt.Errorf("the Secret %s names a release of another namespace, or other objects than the Deployment and Service %s: delete it", adopt.BackupName(of.Name), of.Name)
	}
	return r, nil
}

// adoptable are the objects that a release can give up.
func (r *release) adoptable() []helm.Object {
	return []helm.Object{{APIVersion: "apps/v1", Kind: child.Deployment.Kind, Name: r.name}, {APIVersion: "v1", Kind: child.Service.Kind, Name: r.name}}
}

// ours begins the description of a revision that this command wrote for these objects, ourRevision of any.
func (r *release) ours() string { return ourRevision + r.name + ": " }

const ourRevision = "kubectl fairlead for "

func (r *release) String() string { return "Helm release " + r.saved.Namespace + "/" + r.saved.Name }

func (r *release) newest(ctx context.Context) (*helm.Revision, error) {
	selector, err := helm.Selector(r.saved.Name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r, err)
	}
	list, err := r.clients.Kube.CoreV1().Secrets(r.saved.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector.String()})
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
			return fmt.Errorf("revision %d of the %s does not describe %s in a way that this command can take out", newest.Number, r, object)
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
	rest, _, _, err := r.divide(newest.Manifest)
	if err != nil {
		return nil, err
	}
	return helm.Objects(rest)
}

// divide divides the manifest of a revision: adopted has those of the saved objects that are in it, rest what else is.
func (r *release) divide(manifest string) (rest, adopted string, saved []helm.Object, err error) {
	if saved, err = helm.Objects(r.saved.Manifest); err != nil {
		return "", "", nil, err
	}
	rest, adopted, err = helm.Take(manifest, r.saved.Namespace, r.namespace, saved)
	return rest, adopted, saved, err
}

func (r *release) mustBeDeployed(newest *helm.Revision) error {
	if newest.Status == helm.Deployed {
		return nil
	}
	if whose, is := strings.CutPrefix(newest.Description, ourRevision); newest.Status == helm.Pending && is {
		other, _, _ := strings.Cut(whose, ":")
		return fmt.Errorf("an adoption of %s has changed the %s, and is not finished: run kubectl fairlead adopt %s again, or with --abort", other, r, other)
	}
	return fmt.Errorf("revision %d of the %s is %s: finish that first, with helm upgrade or helm rollback", newest.Number, r, newest.Status)
}

// mayChange reports why the release cannot be changed; helm.ErrNoRelease if it is gone.
func (r *release) mayChange(ctx context.Context) error {
	newest, err := r.newest(ctx)
	if err != nil || newest.Status == helm.Pending && strings.HasPrefix(newest.Description, r.ours()) {
		return err
	}
	return r.mustBeDeployed(newest)
}

// takeOut begins a revision without the objects.
func (r *release) takeOut(ctx context.Context) error {
	newest, err := r.newest(ctx)
	if err != nil {
		return err
	}
	rest, adopted, saved, err := r.divide(newest.Manifest)
	if err != nil || adopted == "" {
		return err
	}
	if err := r.mustBeDeployed(newest); err != nil {
		return err
	}
	if adopted != r.saved.Manifest {
		return fmt.Errorf("the %s was upgraded after the objects were saved: delete Secret %s, and run the command again", r, adopt.BackupName(r.name))
	}
	return r.begin(ctx, newest, rest, "without "+list(saved))
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
	lacking, err := r.lacking(newest)
	if err != nil || len(lacking) == 0 {
		return err
	}
	if err := r.mustBeDeployed(newest); err != nil {
		return err
	}
	_, missing, err := helm.Take(r.saved.Manifest, r.saved.Namespace, r.namespace, lacking)
	if err != nil {
		return err
	}
	return r.begin(ctx, newest, helm.Join(newest.Manifest, missing), "with "+list(lacking))
}

// lacking are the saved objects that a revision does not have.
func (r *release) lacking(revision *helm.Revision) ([]helm.Object, error) {
	_, adopted, saved, err := r.divide(revision.Manifest)
	if err != nil {
		return nil, err
	}
	there, err := helm.Objects(adopted)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(saved, func(object helm.Object) bool { return slices.Contains(there, object) }), nil
}

// hasAll reports whether the release has the objects: it never gave them up, or has them again.
func (r *release) hasAll(ctx context.Context) (bool, error) {
	newest, err := r.newest(ctx)
	if err != nil || newest.Status != helm.Deployed {
		return false, err
	}
	lacking, err := r.lacking(newest)
	return len(lacking) == 0, err
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
	secret, err := newest.Next(manifest, r.ours()+description, r.now())
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
	if newest.Status != helm.Pending || !strings.HasPrefix(newest.Description, r.ours()) {
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

// findRelease finds the Helm release that has the objects, or had them before an earlier run, which may have ended anywhere.
func (a *adopting) findRelease(ctx context.Context) (err error) {
	owner, marked := helm.ReleaseOf(a.deployment)
	if a.release, err = a.savedRelease(ctx); err != nil {
		return err
	}
	if a.release != nil {
		if err := a.release.mayChange(ctx); !errors.Is(err, helm.ErrNoRelease) || marked {
			return err
		}
		a.release = nil // It was uninstalled meanwhile.
		return nil
	}
	switch {
	case !marked && a.fromHelm:
		return errors.New("the annotations of the Deployment name no Helm release: leave out --from-helm")
	case !marked:
		return nil
	case !a.fromHelm:
		return fmt.Errorf("the Helm release %s has the Deployment: pass --from-helm, and it gives the Deployment up", owner)
	case owner.Namespace != a.namespace:
		return fmt.Errorf("the Helm release %s is of another namespace: --from-helm is for releases of this one", owner)
	}
	a.release = &release{clients: a.clients, now: a.tool.now, namespace: a.namespace, name: a.name, saved: &adopt.Release{Namespace: owner.Namespace, Name: owner.Name}}
	objects := a.release.adoptable()
	if a.service == nil {
		objects = objects[:1]
	} else if of, marked := helm.ReleaseOf(a.service); !marked || of != owner {
		objects = objects[:1]
	}
	return a.release.find(ctx, objects)
}

// savedRelease is the release that the backup of an earlier run names. It is nil if there is none.
func (a *adopting) savedRelease(ctx context.Context) (*release, error) {
	secret, err := a.clients.Kube.CoreV1().Secrets(a.namespace).Get(ctx, adopt.BackupName(a.name), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	saved, err := adopt.Read(secret)
	if err != nil || saved.Release == nil || saved.Deployment.UID != a.deployment.UID {
		return nil, err
	}
	return useSaved(a.clients, a.tool.now, saved)
}
