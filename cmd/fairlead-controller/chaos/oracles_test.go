// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
)

// violation is an invariant that does not hold.
type violation struct {
	invariant string
	what      string
}

func (v *violation) Error() string { return v.invariant + ": " + v.what }

func violated(invariant, format string, args ...any) error {
	return &violation{invariant, fmt.Sprintf(format, args...)}
}

const (
	// calm is how long nothing is written before a namespace counts as calm for now. It is more than a status waits, and a
	// burst of changed ConfigMaps.
	calm = 2500 * time.Millisecond
	// convergence is how long a controller may take once nothing disturbs it any more. It is several times the longest
	// backoff, because the machine may be busy.
	convergence = 10 * time.Minute
)

// lastWrite is when the controller wrote last, and how often it has written.
func (n *network) lastWrite() (last time.Time, count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.writes) > 0 {
		last = n.writes[len(n.writes)-1].at
	}
	return last, len(n.writes)
}

// waitCalm waits until the controller has observed every Application and written nothing for a while, and notes which
// Applications are what they ought to be. It gives up after a time: a controller that is cut off may never get there.
func (w *world) waitCalm(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, 3*period, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		if last, _ := w.network.lastWrite(); time.Since(last) <= calm {
			return false, w.health()
		}
		list, err := w.fairlead.AppsV1().Applications(w.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		return !slices.ContainsFunc(list.Items, isUnobserved), w.health()
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && !wait.Interrupted(err):
		return err
	case w.isDisturbed():
		return nil
	}
	before := time.Now()
	list, err := w.fairlead.AppsV1().Applications(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		application := &list.Items[i]
		if !isUnobserved(*application) && meta.IsStatusConditionTrue(application.Status.Conditions, v1.ConditionReady) {
			w.past.settle(application.Name, before)
		}
	}
	return nil
}

// isUnobserved reports whether the controller has something to say about the Application that it has not said.
func isUnobserved(application v1.Application) bool {
	return application.Status.ObservedGeneration != application.Generation && application.DeletionTimestamp == nil &&
		application.Spec.ReconcilePolicy != v1.ReconcileSuspend
}

// foreignStay checks that what is not Fairlead's is as it was made (I5, I8), and that no child is gone that was to be
// left behind.
func (w *world) foreignStay(ctx context.Context) error {
	uids := map[string]bool{}
	for _, kind := range namedKinds() {
		list, err := w.children(kind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			object := &list.Items[i]
			uids[string(object.GetUID())] = true
			if wrote := writtenByFairlead(object); isForeign(object) && wrote != "" {
				return violated("I5", "%s %s belongs to another client, and the controller wrote to it: %s", kind, object.GetName(), wrote)
			}
		}
	}
	for uid, foreigner := range w.past.foreigners {
		if !uids[uid] {
			return violated("I8", "%s %s belonged to another client, and is gone", foreigner.kind, foreigner.object.GetName())
		}
	}
	for uid, what := range w.past.mustStay {
		if !uids[uid] && !w.past.hands[uid] {
			return violated("I8", "%s was to be left behind, and is gone", what)
		}
	}
	return nil
}

// writtenByFairlead returns the fields of which the controller is a manager; "" if there are none.
func writtenByFairlead(object metav1.Object) string {
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == apply.FieldManager || entry.Manager == apply.HandOverManager {
			return fmt.Sprintf("%s %s", entry.Operation, entry.FieldsV1)
		}
	}
	return ""
}

// terms checks that the controller that wrote last at any moment is the one that may (I4): once another run has written, an
// earlier one sends nothing any more. What it sent before may arrive later.
func terms(writes []write) error {
	writes = slices.SortedFunc(slices.Values(writes), func(a, b write) int { return a.sent.Compare(b.sent) })
	ended := map[string]write{} // by identity: the first write of the next one
	for i, next := range writes {
		if successor, found := ended[next.identity]; found {
			return violated("I4", "%s sent %s %s %s, %s after %s had sent %s %s %s", next.identity, next.verb, next.resource, next.name,
				next.sent.Sub(successor.sent), successor.identity, successor.verb, successor.resource, successor.name)
		}
		if i > 0 && writes[i-1].identity != next.identity {
			ended[writes[i-1].identity] = next
		}
	}
	return nil
}

// explained checks in the audit log that no desired child was deleted, and that no object was written more often than the steps
// explain (I3). And it checks that one replica wrote at a time (I4).
func (w *world) explained(ctx context.Context, steps int) error {
	writes, err := w.audited(ctx)
	if err != nil {
		return err
	}
	if err := terms(writes); err != nil {
		return err
	}
	counts := map[string]int{}
	for _, write := range writes {
		if write.verb == "delete" && write.ok {
			if wrong := w.past.wrongDelete(write); wrong != "" {
				return violated("I3", "%s", wrong)
			}
		}
		if write.ok && write.subresource == "" && write.verb != "create" {
			counts[write.resource+" "+write.name]++
		}
	}
	steps += len(w.common.since(w.began))
	for _, object := range slices.Sorted(maps.Keys(counts)) {
		if most := 6 + 4*steps; counts[object] > most {
			return violated("I3", "%d writes to %s; %d steps explain %d at most", counts[object], object, steps, most)
		}
	}
	return nil
}

// converge waits until the world equals that of a fresh controller over the same inputs (I1, I2).
func (w *world) converge(ctx context.Context, fresh *world) error {
	var diff string
	err := wait.PollUntilContextTimeout(ctx, 5*period, convergence, true, func(ctx context.Context) (bool, error) {
		if err := errors.Join(w.health(), fresh.health()); err != nil {
			return false, err
		}
		want, err := fresh.state(ctx)
		if err != nil {
			return false, err
		}
		got, err := w.state(ctx)
		if err != nil {
			return false, err
		}
		diff = changes(cmp.Diff(want, got))
		return diff == "" && isFinal(want), nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		if diff == "" {
			return violated("I1", "the Applications are not observed after %s, neither here nor in the fresh namespace", convergence)
		}
		return violated("I2", "the end differs from that of a fresh controller (-fresh +this):\n%s", diff)
	}
	return err
}

// changes are the lines of a difference that differ.
func changes(diff string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// isFinal reports whether every Application is observed, and stands as it will.
func isFinal(s state) bool {
	for name, value := range s {
		application, ok := value.(map[string]any)
		if !ok || !strings.HasPrefix(name, "Application ") {
			continue
		}
		if application["observed"] != true || application["ready"] == v1.ReasonRollingOut || application["ready"] == "unknown" {
			return false
		}
	}
	return true
}

// quiet waits for a time of this length without a write (I1). A controller that is still catching up may take as long as
// converging may; one that does not stop writing fails.
func (w *world) quiet(ctx context.Context, length time.Duration) error {
	begin := time.Now()
	_, before := w.network.lastWrite()
	err := wait.PollUntilContextTimeout(ctx, period, length+convergence, true, func(context.Context) (bool, error) {
		since := begin
		if last, _ := w.network.lastWrite(); last.After(begin) {
			since = last
		}
		return time.Since(since) >= length, w.health()
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return w.disturbance(before)
	}
	return err
}

// disturbance is a violation that tells of the writes after the first ones, or nil if there are none.
func (w *world) disturbance(before int) error {
	w.network.mu.Lock()
	defer w.network.mu.Unlock()
	count := len(w.network.writes)
	if count == before {
		return nil
	}
	last := w.network.writes[count-1]
	return violated("I1", "%d writes although nothing happens; the last is %s %s/%s %s", count-before, last.verb, last.resource, last.subresource, last.name)
}

// nothingLeft deletes all Applications, and checks that everything goes with them that nothing told to stay (I8).
func (w *world) nothingLeft(ctx context.Context) error {
	client := w.fairlead.AppsV1().Applications(w.namespace)
	collected, err := w.willBeCollected(ctx)
	if err != nil {
		return err
	}
	if err := client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return err
	}
	var left []string // When it was last seen in full.
	err = wait.PollUntilContextTimeout(ctx, 5*period, convergence, true, func(ctx context.Context) (bool, error) {
		var found []string
		list, err := client.List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for i := range list.Items {
			found = append(found, "Application "+list.Items[i].Name)
		}
		for _, kind := range child.AllKinds() {
			objects, err := w.list(ctx, kind, metav1.ListOptions{LabelSelector: v1.LabelApplication})
			if err != nil {
				return false, err
			}
			for i := range objects.Items {
				object := &objects.Items[i]
				if orphaned := w.past.orphans[object.GetLabels()[v1.LabelApplication]] && len(object.GetOwnerReferences()) == 0; !orphaned && collected(object) {
					found = append(found, kind.Kind+" "+object.GetName())
				}
			}
		}
		left = found
		return len(left) == 0, w.health()
	})
	if wait.Interrupted(err) && len(left) > 0 && ctx.Err() == nil {
		return violated("I8", "left behind after all Applications were deleted: %q", left)
	}
	return err
}

// willBeCollected returns whether the garbage collector will delete an object, or Fairlead has to. If an Application is deleted and created
// again while the garbage collector cannot watch, its next list shows it one object of that name. It takes the new one for the old one, and
// what the old one owned stays for ever. That was seen after an outage, and the controller has no part in it.
func (w *world) willBeCollected(ctx context.Context) (func(metav1.Object) bool, error) {
	list, err := w.fairlead.AppsV1().Applications(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	outage := slices.ContainsFunc(w.common.since(w.began), func(h happening) bool { return h.step[0] == "outage" })
	return func(object metav1.Object) bool {
		owner := metav1.GetControllerOfNoCopy(object)
		return !outage || owner == nil || slices.ContainsFunc(list.Items, func(application v1.Application) bool { return application.UID == owner.UID })
	}, nil
}
