// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// lostService is a Service that only the backup of an adoption still has: a client deleted it meanwhile.
type lostService struct {
	clients *cluster.Clients
	saved   *corev1.Service
	before  *corev1.Service // as it is created
	own     *corev1.Service // that the Application created instead; nil if there is none
	created *corev1.Service // by an earlier run that ended before its managers had their fields again; nil if there is none
	stays   string          // why the Service is not created again; "" if it is
	moved   bool            // Another Service has its cluster IP, or a port of the nodes.
}

// findLost compares the Service of a backup with the live one, which is nil if there is none. It returns nil if the live one is that
// Service, or is as it was, with Helm's marks if it had them. vouched says that the backup may be trusted.
func findLost(clients *cluster.Clients, application *v1.Application, before adopt.Saved, live *corev1.Service, vouched bool) *lostService {
	if before.Service == nil || live != nil && live.UID == before.Service.UID {
		return nil
	}
	lost := &lostService{clients: clients, saved: before.Service, before: adopt.Recreated(before)}
	switch {
	case live != nil && (before.IsService(live) || adopt.IsRecreated(live, before)): // An earlier run created it, maybe with other addresses.
		if !vouched || !isCreator(live) || isCreator(before.Service) {
			return nil
		}
		lost.created = live
		return lost
	case live == nil:
	case application != nil && child.OwnedBy(live, application) || wasLeft(live):
		lost.own = live
	default:
		lost.stays = "is another one than before the adoption, and stays as it is."
		return lost
	}
	if !vouched {
		lost.stays = "was deleted meanwhile, and is not created again, because nothing confirms what the Secret says about it."
	}
	return lost
}

// wasLeft reports whether an earlier Application left the Service behind. An earlier run may have deleted it already: a load balancer may hold
// it longer than that run waited.
func wasLeft(live *corev1.Service) bool {
	staying := live.DeepCopy()
	staying.DeletionTimestamp = nil
	return plan.IsLeftover(staying)
}

// isCreator reports whether this client has a field of the Service that only the client that created it has.
func isCreator(service *corev1.Service) bool {
	return isManager(service, fieldpath.MakePathOrDie("spec", "type"))
}

// restores reports whether the Service is created again, or an earlier run has done so, and this one ends that.
func (l *lostService) restores() bool { return l != nil && l.stays == "" }

// recreates reports whether the Service is created again.
func (l *lostService) recreates() bool { return l.restores() && l.created == nil }

// keepsBackup reports whether the backup alone has the Service at the end, too.
func (l *lostService) keepsBackup() bool { return l != nil && l.stays != "" }

// describe says what becomes of the Service.
func (l *lostService) describe(t *tool, dryRun bool) string {
	said := "The Service " + l.before.Name + " "
	if l.stays != "" {
		secret := adopt.BackupName(l.before.Name)
		return said + l.stays + " The Secret " + secret + " stays, and has the earlier one. To read it: " + t.readBackup(l.before.Namespace, l.before.Name, adopt.ServiceKey) +
			". Once you do not need it: " + t.withNamespace(l.before.Namespace, "kubectl delete secret "+secret)
	}
	is, are := "is", "are"
	if dryRun {
		is, are = "would be", "would be"
	}
	if l.created != nil {
		return said + "was created again by an earlier run. Its fields " + are + " given back to the clients that managed them."
	}
	said += "was deleted meanwhile, and " + is + " created again as it was"
	if l.own != nil {
		said += ", in place of the one that the Application created"
	}
	return said + "."
}

// announceMoved says that the Service has other addresses than before.
func (l *lostService) announceMoved(to *screen.Screen) {
	if l.moved {
		to.Hanging("  ", "The cluster IP or a node port of the Service "+l.before.Name+" was taken, so it has another one.")
	}
}

// restore creates the Service as it was, and gives its fields back to the clients that managed them. Both together take two requests: the
// API server gives every field to the client that creates an object.
func (l *lostService) restore(ctx context.Context) (*corev1.Service, error) {
	created := l.created
	if created == nil {
		var err error
		if created, err = l.create(ctx); err != nil {
			return nil, fmt.Errorf("create the Service %s again, which was deleted meanwhile: %w. The Secret %s still has it: correct that, and run the command again",
				l.before.Name, err, adopt.BackupName(l.before.Name))
		}
	}
	patch, err := adopt.Ownership(created, l.saved)
	if err != nil {
		return nil, err
	}
	created, err = l.clients.Kube.CoreV1().Services(created.Namespace).Patch(ctx, created.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	if err != nil {
		return nil, fmt.Errorf("the Service %s is created again, but its fields are not given back to the clients that managed them: %w. Run the command again", l.before.Name, err)
	}
	return created, nil
}

// create creates the Service as it was. It deletes the Application's own one first.
func (l *lostService) create(ctx context.Context) (*corev1.Service, error) {
	services := l.clients.Kube.CoreV1().Services(l.before.Namespace)
	if l.own != nil {
		err := services.Delete(ctx, l.own.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &l.own.UID}})
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("delete the one that the Application created: %w", err)
		}
		if err := l.awaitEnd(ctx); err != nil {
			return nil, err
		}
	}
	options := metav1.CreateOptions{FieldManager: fieldManager}
	created, err := services.Create(ctx, l.before, options)
	if apierrors.IsInvalid(err) {
		l.moved = true
		created, err = services.Create(ctx, adopt.WithoutAddresses(l.before), options)
	}
	return created, err
}

// awaitEnd waits until the Application's own Service is gone: a load balancer may hold it by a finalizer.
func (l *lostService) awaitEnd(ctx context.Context) error {
	const interval = 200 * time.Millisecond
	err := wait.PollUntilContextTimeout(ctx, interval, controllerTimeout, true, func(ctx context.Context) (bool, error) {
		live, err := l.clients.Kube.CoreV1().Services(l.own.Namespace).Get(ctx, l.own.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && live.UID != l.own.UID {
			return true, nil
		}
		return false, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return errors.New("the one that the Application created does not end: see its finalizers")
	}
	return err
}

// readBackup is the command that prints a part of a backup.
func (t *tool) readBackup(namespace, name, key string) string {
	return t.withNamespace(namespace, "kubectl get secret "+adopt.BackupName(name)+" -o jsonpath='{.data."+strings.ReplaceAll(key, ".", `\.`)+"}' | base64 -d")
}
