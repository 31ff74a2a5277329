// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/eject"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/preview"
)

// ejecting is one ejection.
type ejecting struct {
	tool            *tool
	clients         *cluster.Clients
	editing         editing
	directory       string
	restore         bool
	toHelm          bool
	release         *release // nil without --to-helm
	backup          *corev1.Secret
	pods            podsThen           // with --restore: what that does to the pods
	deployment      *appsv1.Deployment // that --restore changes; nil if it creates it again
	created         bool               // The deployment was created from the backup, and its managers do not have their fields yet.
	unrestored      []preview.Change   // What a restoration would change in the created deployment.
	service         *corev1.Service    // that --restore changes; nil if there is none
	changesMarks    bool               // The service was created by an earlier run, and gains or loses Helm's marks.
	lost            *lostService       // that --restore creates again; nil if the Service is still there
	acceptBackup    string
	namespace, name string
}

func (t *tool) eject() *cobra.Command {
	e := &ejecting{tool: t, editing: editing{tool: t}}
	cmd := &cobra.Command{
		Use:   "eject NAME [flags]",
		Short: "Delete an Application, and leave its objects running as plain ones",
		Long: long(`
			Delete the Application NAME alone. Its Deployment, its Service and its other objects stay as they are, without
			Fairlead's marks. That replaces no pod; a rollout that has begun goes on. Some labels stay: the Service keeps the one
			by which a ServiceMonitor finds it, and the pod template keeps its own, because any change of it would replace the
			pods. With --output-dir you also get the objects as manifests for your repository or chart. A new Application can take
			the objects back, with the manifest of this one, so save that: see docs/guides/take-back.md.

			Of an adopted Deployment, --restore brings back what it was before the adoption. That replaces the pods, unless they
			are still those of before. With --to-helm the Helm release that gave the objects up has them again, too. Both write
			what the Secret NAME-before-adoption says, with your rights, and first print what of it is about code, privileges
			and data. If the Secret is not as the adoption saved it, every field is printed, and nothing is written without
			--accept-backup. A Deployment that was deleted meanwhile is created again. Nothing confirms what the Secret says about
			it, so that needs --accept-backup, too.

			A run that was interrupted goes on when you run the command again.`),
		Example: examples(`
			# Say what would stay
			kubectl fairlead eject web --dry-run=client

			# Save the manifests of web in the directory web, and delete the Application alone
			kubectl fairlead eject web --output-dir=web`),
		Args: oneName("Application"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if e.directory != "" && (e.restore || e.toHelm) {
				return usageError(cmd.CommandPath(), "pass --output-dir, or --restore or --to-helm, but not both: it saves the objects as the Application has them, "+
					"and not as they are restored. Restore them first, then save them with %s", t.withChosenNamespace("kubectl get deployment,service "+args[0]+" -o yaml"))
			}
			if err := e.start(cmd, args[0]); err != nil {
				return err
			}
			programs := e.editing.out.divert(t)
			stay, err := e.run(cmd.Context())
			if err != nil {
				return err
			}
			return printStaying(programs, e.editing.out, stay)
		},
	}
	e.editing.out.addTo(cmd, formatName)
	cmd.Flags().StringVar(&e.directory, "output-dir", "", "Directory for the manifests of the objects, one file for each. It is created. Other contents of these files are not overwritten.")
	cmd.Flags().BoolVar(&e.restore, "restore", false, "Bring the adopted Deployment and Service back to what they were, from the Secret NAME-before-adoption.")
	cmd.Flags().BoolVar(&e.toHelm, "to-helm", false, "Like --restore, and give the objects back to the Helm release that had them.")
	cmd.Flags().StringVar(&e.acceptBackup, "accept-backup", "", "Restore from a Secret with this digest, although it is not as the adoption saved it, or although the Deployment is gone.")
	e.editing.addTo(cmd)
	return cmd
}

func (e *ejecting) start(cmd *cobra.Command, name string) (err error) {
	if e.editing.dryRun, err = cmdutil.GetDryRunStrategy(cmd); err != nil {
		return err
	}
	if e.clients, err = e.tool.clients(); err != nil {
		return err
	}
	if e.name, err = nameOf(name); err != nil {
		return err
	}
	e.restore = e.restore || e.toHelm
	e.namespace, _, err = e.tool.factory.ToRawKubeConfigLoader().Namespace()
	return err
}

// run ejects, and returns what stays.
func (e *ejecting) run(ctx context.Context) ([]left, error) {
	application, err := e.clients.Fairlead.AppsV1().Applications(e.namespace).Get(ctx, e.name, metav1.GetOptions{})
	gone := apierrors.IsNotFound(err)
	if gone {
		// An earlier run may have ended between the deletion and the end.
		application = &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: e.name}}
	} else if err != nil {
		return nil, err
	}
	if application.DeletionTimestamp != nil && application.Spec.DeletionPolicy != v1.DeletionOrphan {
		return nil, errEnding
	}
	objects, err := leftBehind(ctx, e.clients, application)
	if err != nil {
		return nil, err
	}
	if objects, err = e.checkStaying(e.tool.screen(), application, objects); err != nil {
		return nil, err
	}
	var before adopt.Saved
	if e.restore {
		before, err = e.saved(ctx, application)
		if gone && errors.Is(err, errBackWithHelm) {
			e.tool.screen().Printf("%s: %v.", e.id(), err)
			return objects, nil
		}
		if gone && len(objects) == 0 && errors.Is(err, errNotAdopted) {
			e.tool.screen().Printf("%s: there is nothing to restore: the Deployment is not adopted, or is restored already.", e.id())
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
	} else if gone && len(objects) == 0 {
		return e.endedBefore(ctx)
	}
	if err := e.checkRestorable(); err != nil {
		return nil, err
	}
	if e.lost.recreates() && e.lost.own != nil {
		objects = slices.DeleteFunc(objects, func(object left) bool { return object.GetUID() == e.lost.own.UID })
	}
	e.announce(e.tool.screen(), objects, gone)
	if !e.restore {
		e.announceBefore(e.tool.screen(), e.yoursAlready(ctx, objects))
	}
	e.announceBackup(ctx, e.tool.screen(), before)
	if err := e.checkRestored(before); err != nil {
		return nil, err
	}
	if err := e.tryClean(ctx, objects); err != nil {
		return nil, err
	}
	if e.editing.dryRun != cmdutil.DryRunNone {
		if !gone && !e.restore && len(objects) > 0 {
			e.tool.screen().Hanging("  ", "To take the objects back later, save the manifest of the Application first: "+
				e.tool.withNamespace(e.namespace, "kubectl get applications.apps.fairlead.dev "+e.name+" -o yaml"))
		}
		e.tool.screen().Line("  not written (dry run)")
		return objects, nil
	}
	if err := e.save(objects); err != nil {
		return nil, err
	}
	if !gone {
		if err := e.delete(ctx, application, objects); err != nil {
			return nil, err
		}
	}
	for _, object := range objects {
		if err := e.clean(ctx, object); err != nil {
			return nil, err
		}
	}
	if e.restore {
		if err := e.bringBack(ctx, before); err != nil {
			return nil, err
		}
		if objects, err = e.present(ctx, objects); err != nil {
			return nil, err
		}
	}
	if len(objects) == 0 {
		e.tool.screen().Printf("%s: deleted.", e.id())
		return nil, nil
	}
	deletion := ""
	var serving []string
	if e.restore { // An earlier run without --restore may have left what the Application had made.
		var unneeded []string
		if unneeded, serving = madeByApplication(slices.Concat(objects, e.ejectedBefore(ctx, objects)), before); len(unneeded) > 0 {
			deletion = e.tool.withNamespace(e.namespace, "kubectl delete "+strings.Join(unneeded, " "))
		}
	}
	printEjected(e.tool.screen(), e.id(), deletion, serving, e.pods)
	if !e.restore {
		e.tool.screen().Hanging("  ", "To take them back later, apply the manifest of the Application again: see docs/guides/take-back.md, also if you do not have it.")
	}
	return objects, nil
}

// present reads the objects again, as they are now, and those that were restored, which may have lost Fairlead's marks in an earlier run.
func (e *ejecting) present(ctx context.Context, objects []left) (present []left, err error) {
	refs := []child.Ref{{Kind: child.Deployment, Name: e.name}}
	if e.service != nil {
		refs = append(refs, child.Ref{Kind: child.Service, Name: e.name})
	}
	for _, object := range objects {
		if ref := (child.Ref{Kind: object.kind, Name: object.GetName()}); !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	for _, ref := range refs {
		live, err := e.clients.Dynamic.Resource(ref.Kind.GroupVersionResource()).Namespace(e.namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err == nil {
			present = append(present, left{live, ref.Kind})
		} else if !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("read what was restored: %w", err)
		}
	}
	return present, nil
}

// printStaying writes what stays for programs: as the manifests of --output-dir, or by name.
func printStaying(to io.Writer, out output, objects []left) error {
	if out.format == "" {
		return nil
	}
	plain := make([]map[string]any, 0, len(objects))
	for _, object := range objects {
		plain = append(plain, eject.Plain(object.Unstructured, isAutoscaled(object, objects)).Object)
		if out.format == formatName {
			fmt.Fprintln(to, resourceName(object.kind.Group, object.GetKind(), object.GetName()))
		}
	}
	if out.format == formatName {
		return nil
	}
	return encode(to, out.format, plain, true)
}

// printEjected says that all is done. deletion is the command that deletes what is not needed any more; "" if nothing is. serving are the
// names of what still acts on the restored objects.
func printEjected(to *screen.Screen, id, deletion string, serving []string, pods podsThen) {
	to.Printf("%s: ejected. The objects are yours.", id)
	switch {
	case deletion == "":
	case pods.other > 0 && pods.stay > 0 && !pods.paused:
		to.Hanging("  ", "The Application had made these for itself. Once the newer pods are gone, delete them: "+deletion)
	case pods.other > 0:
		to.Hanging("  ", "The Application had made these for itself. Once the pods are replaced, delete them: "+deletion)
	default:
		to.Hanging("  ", "The Application had made these for itself. Delete them: "+deletion)
	}
	if len(serving) > 0 {
		to.Hanging("  ", "Not restored, and still at work for the restored objects: "+strings.Join(serving, ", ")+". Keep what you need.")
	}
}

// madeByApplication are the objects that there were not before the adoption: those that nothing needs, and those that act on what was
// restored, such as an autoscaler of the Deployment.
func madeByApplication(objects []left, before adopt.Saved) (unneeded, serving []string) {
	for _, object := range objects {
		restored := before.Deployment != nil && object.GetUID() == before.Deployment.UID || before.Service != nil && object.GetUID() == before.Service.UID
		name := strings.ToLower(object.GetKind()) + "/" + object.GetName()
		if restored || slices.Contains(unneeded, name) || slices.Contains(serving, name) {
			continue
		}
		switch object.kind {
		case child.HorizontalPodAutoscaler:
			serving = append(serving, name)
		case child.Ingress, child.HTTPRoute:
			if before.Service != nil {
				serving = append(serving, name)
				continue
			}
			unneeded = append(unneeded, name)
		default:
			unneeded = append(unneeded, name)
		}
	}
	return unneeded, serving
}

func (e *ejecting) id() string { return e.namespace + "/" + e.name }

// left is an object that stays.
type left struct {
	*unstructured.Unstructured
	kind child.Kind
}

// leftBehind returns what stays, or stayed, when the Application ends. It is read without types of ours, so that a manifest
// lacks nothing. An Application that is gone has a name only.
func leftBehind(ctx context.Context, clients *cluster.Clients, application *v1.Application) ([]left, error) {
	var objects []left
	for _, kind := range child.AllKinds() {
		if !kind.OutlivesApplication() {
			continue
		}
		client := clients.Dynamic.Resource(kind.GroupVersionResource()).Namespace(application.Namespace)
		list, err := client.List(ctx, metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + application.Name})
		if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) && !cluster.HasKind(application, kind) {
			continue // The cluster does not serve an optional kind, or the Application has none.
		}
		if err != nil {
			return nil, fmt.Errorf("read what the Application leaves behind: %w", err)
		}
		items := list.Items
		for _, resource := range application.Status.Resources {
			ref, known := child.RefOf(application, resource)
			named := func(item unstructured.Unstructured) bool { return item.GetName() == ref.Name }
			if !known || ref.Kind != kind || slices.ContainsFunc(items, named) {
				continue
			}
			live, err := client.Get(ctx, ref.Name, metav1.GetOptions{}) // It may have lost the label.
			if err == nil {
				items = append(items, *live)
			} else if !apierrors.IsNotFound(err) {
				return nil, fmt.Errorf("read what the Application leaves behind: %w", err)
			}
		}
		for i := range items {
			object := &items[i]
			if application.UID != "" && child.OwnedBy(object, application) || plan.LeftBehind(object) || awaitsAdoption(kind, object, application) {
				objects = append(objects, left{object, kind})
			}
		}
	}
	return objects, nil
}

// awaitsAdoption reports whether a user consented to the adoption of the object by the Application, which has not come to that: a Service
// belongs to it only after the rollout. With the Application, the consent means nothing.
func awaitsAdoption(kind child.Kind, object metav1.Object, application *v1.Application) bool {
	by := object.GetAnnotations()[v1.AnnotationAdoptableBy]
	return (kind == child.Deployment || kind == child.Service) && by != "" && (application.UID == "" || by == string(application.UID))
}

// isAutoscaled reports whether the object is a Deployment that one of the autoscalers scales.
func isAutoscaled(object left, among []left) bool {
	return object.kind == child.Deployment && slices.ContainsFunc(among, func(other left) bool {
		name, _, _ := unstructured.NestedString(other.Object, "spec", "scaleTargetRef", "name")
		return other.kind == child.HorizontalPodAutoscaler && name == object.GetName()
	})
}

// save writes the manifests. It overwrites nothing; those that an earlier run wrote may stay.
func (e *ejecting) save(objects []left) error {
	if e.directory == "" {
		return nil
	}
	const readableByOwner, searchableByOwner = 0o600, 0o700
	if err := os.MkdirAll(e.directory, searchableByOwner); err != nil {
		return err
	}
	for _, object := range objects {
		text, err := eject.Manifest(object.Unstructured, isAutoscaled(object, objects))
		if err != nil {
			return err
		}
		path := filepath.Join(e.directory, strings.ToLower(object.GetKind())+"-"+object.GetName()+".yaml")
		if written, err := os.ReadFile(path); err == nil && bytes.Equal(written, text) {
			continue
		}
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, readableByOwner)
		if err != nil {
			return fmt.Errorf("%w: choose another --output-dir", err)
		}
		_, err = file.Write(text)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
		e.tool.screen().Printf("  saved %s", path)
	}
	return nil
}
