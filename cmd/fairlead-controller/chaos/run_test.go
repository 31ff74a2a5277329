// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// runner runs programs in namespaces of one cluster.
type runner struct {
	cluster *controlplane.ControlPlane
	// busy bounds how many programs run at once. Those that only wait for the end of a quiet time do not count.
	busy chan struct{}
	// quiet is how long nothing may be written at the end.
	quiet time.Duration
	// idle is how many goroutines a controller has that has nothing to do.
	idle int
}

// run runs a program, and judges the end. The error is a *violation, or about the test itself. log is the end of the
// controller's log.
func (r *runner) run(ctx context.Context, p program) (log string, err error) {
	r.busy <- struct{}{}
	_, log, err = r.runNow(ctx, p)
	return log, err
}

// runNow is run for a caller that has waited for its turn. lived is the program with what others did to the cluster meanwhile.
func (r *runner) runNow(ctx context.Context, p program) (lived program, log string, err error) {
	release := func() { <-r.busy }
	defer release()
	w, err := newWorld(ctx, r.cluster)
	if err != nil {
		return p, "", err
	}
	var starts []time.Time
	defer func() {
		lived, log = w.lived(p, starts), w.log.tail(120)
		err = errors.Join(err, w.close(context.WithoutCancel(ctx)))
	}()
	for i, s := range p {
		starts = append(starts, time.Now())
		v, err := s.verb()
		if err != nil {
			return nil, "", err
		}
		if err := v.do(ctx, w, s[1:]); err != nil {
			return nil, "", fmt.Errorf("step %d, %s: %w", i+1, s, err)
		}
	}
	if err := r.judge(ctx, w, len(p)); err != nil {
		return nil, "", err
	}
	release()
	err = w.quiet(ctx, r.quiet)
	r.busy <- struct{}{}
	if err != nil {
		return nil, "", err
	}
	if err := w.nothingLeft(ctx); err != nil {
		return nil, "", err
	}
	return nil, "", w.forgotten(ctx, r.idle)
}

// judge ends a program, and compares where it has led with what a fresh controller makes of the same inputs.
func (r *runner) judge(ctx context.Context, w *world, steps int) error {
	if err := w.end(ctx); err != nil {
		return err
	}
	// A wrong write may be why the end differs, and says more.
	if err := w.explained(ctx, steps); err != nil {
		return err
	}
	if err := r.compare(ctx, w); err != nil {
		return err
	}
	return errors.Join(w.explained(ctx, steps), w.truthful(ctx, convergence))
}

// end ends all faults, checks what others own, and corrects what would make the end depend on the way: what may stay as it
// is because of an earlier spec, and objects in the way of children.
func (w *world) end(ctx context.Context) error {
	w.mend()
	if err := w.start(ctx); err != nil {
		return err
	}
	if err := w.mendAPIs(ctx); err != nil {
		return err
	}
	if err := errors.Join(quota(ctx, w, []string{"off"}), limits(ctx, w, []string{"off"}), deny(ctx, w, []string{"nothing"}), w.release(ctx), w.waitCalm(ctx), w.foreignStay(ctx)); err != nil {
		return err
	}
	for _, what := range []string{"settings", "credentials"} {
		if err := reference(ctx, w, []string{what, "one"}); err != nil {
			return err
		}
	}
	if err := class(ctx, w, []string{"one"}); err != nil {
		return err
	}
	if err := w.normalise(ctx); err != nil {
		return err
	}
	return w.clear(ctx)
}

// normalise lets every Application act, and its pods run.
func (w *world) normalise(ctx context.Context) error {
	list, err := w.fairlead.AppsV1().Applications(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		application := &list.Items[i]
		if err := hold(ctx, w, []string{application.Name, "off"}); err != nil {
			return err
		}
		if application.DeletionTimestamp != nil {
			continue
		}
		if err := w.patch(ctx, application.Name, `{"spec":{"reconcilePolicy":"Enforce"}}`); err != nil {
			return err
		}
		if application.Spec.ConfigChangePolicy == v1.ConfigChangeIgnore {
			continue // It was drawn, and stays paused.
		}
		if err := pods(ctx, w, []string{application.Name, "well"}); err != nil {
			return err
		}
		if err := w.patch(ctx, application.Name, `{"spec":{"paused":false}}`); err != nil {
			return err
		}
		if len(application.Spec.Routes) > 0 {
			route := "route"
			if len(application.Spec.Routes[0].ParentRefs) > 0 {
				route = "gateway"
			}
			if err := w.patch(ctx, application.Name, strings.ReplaceAll(`{"spec":`+edits()[route]+`}`, "NAME", application.Name)); err != nil {
				return err
			}
		}
	}
	return w.waitDeletions(ctx)
}

// waitDeletions waits until the Applications that are being deleted are gone.
func (w *world) waitDeletions(ctx context.Context) error {
	var left []string
	err := wait.PollUntilContextTimeout(ctx, 5*period, convergence, true, func(ctx context.Context) (bool, error) {
		left = nil
		list, err := w.fairlead.AppsV1().Applications(w.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for i := range list.Items {
			if list.Items[i].DeletionTimestamp != nil {
				left = append(left, fmt.Sprintf("%s with finalizers %q", list.Items[i].Name, list.Items[i].Finalizers))
			}
		}
		return len(left) == 0, w.health()
	})
	if wait.Interrupted(err) && len(left) > 0 && ctx.Err() == nil {
		return violated("I1", "Applications cannot be deleted: %s", strings.Join(left, ", "))
	}
	return err
}

// clear deletes what has the name of a child and is none, since it would be in the way of one.
func (w *world) clear(ctx context.Context) error {
	list, err := w.fairlead.AppsV1().Applications(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if err := w.waitCalm(ctx); err != nil {
		return err
	}
	for _, kind := range namedKinds() {
		objects, err := w.children(kind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range objects.Items {
			object := &objects.Items[i]
			for j := range list.Items {
				application := &list.Items[j]
				if childName(kind, application.Name) != object.GetName() || child.OwnedBy(object, application) ||
					child.IsOrphaned(application, child.Ref{Kind: kind, Namespace: w.namespace, Name: object.GetName()}, object) {
					continue
				}
				if err := tolerate(w.children(kind).Delete(ctx, object.GetName(), metav1.DeleteOptions{})); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// compare compares the world with that of a fresh controller. If they differ it tries once more, because the inputs may have
// changed after they were copied: a status or an Event is none, but an Application whose deletion was on its way is.
func (r *runner) compare(ctx context.Context, w *world) error {
	var err error
	for range 2 {
		if err := w.waitCalm(ctx); err != nil {
			return err
		}
		if err = r.compareOnce(ctx, w); !errors.As(err, new(*violation)) {
			return err
		}
	}
	return err
}

func (r *runner) compareOnce(ctx context.Context, w *world) (err error) {
	fresh, err := newNamespace(ctx, r.cluster)
	if err != nil {
		return err
	}
	fresh.mayEnd = w.mayEnd
	defer func() { err = errors.Join(err, fresh.close(context.WithoutCancel(ctx))) }()
	if err := fresh.start(ctx); err != nil {
		return err
	}
	if err := w.copyTo(ctx, fresh); err != nil {
		return err
	}
	if err := w.converge(ctx, fresh); err != nil {
		return err
	}
	return nil
}

// garbageCollected waits until the garbage collector knows Applications. It looks for new kinds twice a minute, and the
// end of every program needs it. And it counts the goroutines of a controller that has nothing to do any more.
func (r *runner) garbageCollected(ctx context.Context) error {
	w, err := newWorld(ctx, r.cluster)
	if err != nil {
		return err
	}
	defer func() { _ = w.close(context.WithoutCancel(ctx)) }()
	// The second one makes the controller watch ConfigMaps and Secrets.
	for name, preset := range map[string]string{"a": "small", "b": "references"} {
		if err := create(ctx, w, []string{name, preset}); err != nil {
			return err
		}
	}
	if err := w.waitCalm(ctx); err != nil {
		return err
	}
	_, err = w.fairlead.AppsV1().Applications(w.namespace).Patch(ctx, "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"chaos":"begin"}}}`), metav1.PatchOptions{})
	if err := errors.Join(err, w.nothingLeft(ctx)); err != nil {
		return err
	}
	r.idle, _, err = w.goroutines()
	return err
}
