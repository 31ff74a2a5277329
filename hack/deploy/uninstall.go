// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/hack/internal/objects"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

var errDeclined = errors.New("nothing was deleted")

// uninstallCRDsAlone is for a user who runs the controller outside of the cluster.
func uninstallCRDsAlone(ctx context.Context, c *cluster, o options) error {
	if err := c.printWhatIsDeployed(ctx); err != nil {
		return err
	}
	if err := uninstallCRDs(ctx, c, o); err != nil {
		return err
	}
	return c.printLeftWebhooks(ctx)
}

// uninstallCRDs says what goes and what stays, and asks, before it deletes anything.
func uninstallCRDs(ctx context.Context, c *cluster, o options) error {
	if err := c.announceDeletion(ctx, o); err != nil {
		return err
	}
	var crds []*unstructured.Unstructured
	err := forEachCRD(o, func(crd *unstructured.Unstructured) error {
		crds = append(crds, crd)
		return nil
	})
	if err != nil {
		return err
	}
	if err := c.secureAll(ctx, crds); err != nil {
		return err
	}
	// Applications first: a controller that removes their finalizer does not start without ApplicationClasses.
	slices.Reverse(crds)
	for i, crd := range crds {
		if err := c.removeCRD(ctx, crd); err != nil {
			c.printUnfinished(ctx, crds[i:])
			return err
		}
	}
	return nil
}

// printUnfinished says what stays of an uninstall that ended early.
func (c *cluster) printUnfinished(ctx context.Context, crds []*unstructured.Unstructured) {
	// The time of the command itself may be over.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastReport)
	defer cancel()
	for _, crd := range crds {
		live, err := c.objects.Resource(objects.CRDs).Get(ctx, crd.GetName(), metav1.GetOptions{})
		switch {
		case err != nil: // It is gone, or the command ends with the error of the deletion anyway.
		case live.GetDeletionTimestamp() != nil:
			fmt.Fprintf(c.out, "stays: %s, until nothing holds its objects any more; the API server deletes it then\n", crd.GetName())
		default:
			fmt.Fprintf(c.out, "stays: %s, until you run the command again\n", crd.GetName())
		}
	}
	_ = c.printLeftWebhooks(ctx)
}

func (c *cluster) announceDeletion(ctx context.Context, o options) error {
	var all []unstructured.Unstructured
	var deletes []string
	err := forEachCRD(o, func(crd *unstructured.Unstructured) error {
		found, err := c.objectsOf(ctx, crd)
		if len(found) > 0 {
			deletes = append(deletes, deletion(found))
		}
		all = append(all, found...)
		return err
	})
	if err != nil || len(all) == 0 {
		return err
	}
	// What the question says of children must be true.
	for i := range all {
		if err := c.secure(ctx, &all[i], []string{metav1.DryRunAll}); err != nil {
			return err
		}
	}
	for _, line := range deletes {
		fmt.Fprintln(c.out, "deletes:", line)
	}
	needsController := false
	for i := range all {
		object := &all[i]
		if leavesChildren(object) {
			fmt.Fprintf(c.out, "stays: the children of %s, because its deletionPolicy is Orphan\n", nameOf(object))
		}
		ours, others := finalizersOf(object)
		if ours || leavesChildren(object) && object.GetDeletionTimestamp() == nil {
			fmt.Fprintf(c.out, "needs a running controller: %s, to remove the finalizer %s\n", nameOf(object), v1.FinalizerOrphan)
			needsController = true
		}
		if others != "" {
			fmt.Fprintf(c.out, "needs its other tools: %s, to remove the finalizer %s\n", nameOf(object), others)
		}
	}
	if needsController {
		if err := c.printNoController(ctx); err != nil {
			return err
		}
	}
	if o.confirm == nil {
		return nil
	}
	return o.confirm(ctx, c.out)
}

// deletion counts and names objects of one kind.
func deletion(all []unstructured.Unstructured) string {
	kind := all[0].GetKind()
	counted := "1 " + kind
	switch {
	case len(all) > 1 && kind == v1.ApplicationClassKind:
		counted = fmt.Sprintf("%d %ses", len(all), kind)
	case len(all) > 1:
		counted = fmt.Sprintf("%d %ss", len(all), kind)
	}
	text := fmt.Sprintf("%s (%s)", counted, someNames(all))
	if kind == v1.ApplicationKind {
		stay := 0
		for i := range all {
			if leavesChildren(&all[i]) {
				stay++
			}
		}
		switch stay {
		case 0:
			text += ", with all children"
		case len(all): // The lines below say it of each.
		default:
			text += ", with all children, except where a line below says that they stay"
		}
	}
	return text
}

// question asks at the terminal. Without one, as in a script or in CI, nothing of the user's is deleted.
func question(input io.Reader, isTerminal, undeploys bool) func(context.Context, io.Writer) error {
	if isTerminal {
		return func(ctx context.Context, out io.Writer) error { return confirm(ctx, out, input) }
	}
	command := "make uninstall ARGS=-yes"
	if undeploys {
		command = "make undeploy DELETE_CRDS=1 ARGS=-yes"
	}
	return func(context.Context, io.Writer) error {
		return fmt.Errorf("%w: there is no terminal to ask at; to delete without a question, pass -yes: %s", errDeclined, command)
	}
}

// confirm asks the user. Only a clear yes counts; Ctrl-C, which ends ctx, is a no.
func confirm(ctx context.Context, out io.Writer, input io.Reader) error {
	fmt.Fprint(out, "Delete them? Type yes: ")
	answered := make(chan error, 1)
	go func() { // Nothing can interrupt a read from a terminal, so it may go on until the process ends.
		answer, err := bufio.NewReader(input).ReadString('\n')
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			answered <- fmt.Errorf("read the answer: %w", err)
		case strings.TrimSpace(answer) != "yes":
			answered <- errDeclined
		default:
			answered <- nil
		}
	}()
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		fmt.Fprintln(out)
		return fmt.Errorf("%w: %w", errDeclined, context.Cause(ctx))
	}
}

// reportWaiting prints which objects hold up the deletion of a CRD, each time that changes, until stop is called.
func (c *cluster) reportWaiting(ctx context.Context, crd *unstructured.Unstructured) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		timer := time.NewTimer(firstReport)
		defer timer.Stop()
		var printed string
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
				if waiting := c.waiting(ctx, crd); waiting != printed {
					fmt.Fprint(c.out, waiting)
					printed = waiting
				}
				timer.Reset(reportPeriod)
			}
		}
	}()
	return func() { cancel(); <-done }
}

// waiting has a line for each object that holds up the deletion of a CRD.
func (c *cluster) waiting(ctx context.Context, crd *unstructured.Unstructured) string {
	all, err := c.objectsOf(ctx, crd)
	if err != nil {
		return "" // The deletion itself reports errors.
	}
	var lines strings.Builder
	for i := range all {
		object := &all[i]
		ours, others := finalizersOf(object)
		if ours {
			fmt.Fprintf(&lines, "waiting: the controller has to remove the finalizer %s of %s; if none runs, start one: make run, or make deploy\n", v1.FinalizerOrphan, nameOf(object))
		}
		if others != "" {
			fmt.Fprintf(&lines, "waiting: the tool that set the finalizer %s of %s has to remove it; if that tool is gone for good: kubectl edit %s %s\n",
				others, nameOf(object), crd.GetName(), editArguments(object))
		}
	}
	return lines.String()
}

// finalizersOf tells the finalizer that Fairlead's controller removes from those of others, which only their tools remove.
func finalizersOf(object *unstructured.Unstructured) (ours bool, others string) {
	isOurs := func(finalizer string) bool { return finalizer == v1.FinalizerOrphan }
	finalizers := object.GetFinalizers()
	foreign := slices.DeleteFunc(slices.Clone(finalizers), isOurs)
	return slices.ContainsFunc(finalizers, isOurs), strings.Join(foreign, ", ")
}

// editArguments name an object for kubectl.
func editArguments(object *unstructured.Unstructured) string {
	if object.GetNamespace() == "" {
		return object.GetName()
	}
	return object.GetName() + " -n " + object.GetNamespace()
}

func nameOf(object *unstructured.Unstructured) string {
	if object.GetNamespace() == "" {
		return object.GetName()
	}
	return object.GetNamespace() + "/" + object.GetName()
}

// counted is a number of objects in words.
func counted(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}

// someNames are those of all objects, or of the first of many.
func someNames(all []unstructured.Unstructured) string {
	const most = 10
	var names []string
	for i := range all[:min(len(all), most)] {
		names = append(names, nameOf(&all[i]))
	}
	text := strings.Join(names, ", ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
