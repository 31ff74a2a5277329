// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// A user set deletionPolicy to Orphan while no controller ran, so nothing holds the Application yet.
const staysAnnounced = "stays: the children of default/stays, because its deletionPolicy is Orphan\n" +
	"needs a running controller: default/stays, to remove the finalizer apps.fairlead.dev/orphan\n"

// TestUninstallKeepsChildrenWithoutAController: the garbage collector takes the children of the one Application, and those of
// the other stay, as the command said.
func TestUninstallKeepsChildrenWithoutAController(t *testing.T) {
	l := newLab(t, controlplane.WithComponents(controlplane.Etcd, controlplane.KubeAPIServer, controlplane.KubeControllerManager))
	l.waitCollector()
	l.create("stays", v1.DeletionOrphan)
	l.create("goes", v1.DeletionDelete)

	silent := l.options
	silent.confirm = question(strings.NewReader(""), false, false)
	var output bytes.Buffer
	if err := run(t.Context(), []string{"uninstall-crds"}, silent, &output); err == nil || !strings.Contains(output.String(), staysAnnounced) {
		t.Errorf("%v: the output lacks %q:\n%s", err, staysAnnounced, &output)
	}
	if live := l.get("stays"); len(live.GetFinalizers()) > 0 || live.GetDeletionTimestamp() != nil {
		t.Errorf("a refusal changes the Application: %v", live.Object["metadata"])
	}

	registerWebhooks(t, l.config) // Of a controller that was killed.
	ctx, cancel := context.WithCancel(t.Context())
	waiting := &until{text: "waiting: the controller has to remove the finalizer apps.fairlead.dev/orphan of default/stays; ", stop: cancel}
	err := run(ctx, []string{"uninstall-crds"}, l.options, waiting)
	for _, want := range []string{
		staysAnnounced,
		"set: the finalizer apps.fairlead.dev/orphan of default/stays\n",
		waiting.text,
		"stays: applications.apps.fairlead.dev, until nothing holds its objects any more; the API server deletes it then\n" +
			"stays: applicationclasses.apps.fairlead.dev, until you run the command again\n" +
			"stays: MutatingWebhookConfiguration fairlead-out-of-cluster, of a controller outside of the cluster",
	} {
		if err == nil || !strings.Contains(waiting.String(), want) {
			t.Errorf("%v: the output lacks %q:\n%s", err, want, waiting)
		}
	}
	l.waitCollected("goes")
	if live := l.get("stays"); live.GetDeletionTimestamp() == nil || !slices.Equal(live.GetFinalizers(), []string{v1.FinalizerOrphan}) {
		t.Errorf("nothing holds the Application: %v", live.Object["metadata"])
	}
	if _, err := l.deployment("stays"); err != nil {
		t.Error(err)
	}

	// What a controller does then.
	l.release("stays")
	l.patch("stays", `{"metadata":{"finalizers":null}}`)
	if output := mustRun(t, "uninstall-crds", l.options); strings.Contains(output, "0 objects") {
		t.Errorf("it counts what is not there:\n%s", output)
	}
	if _, err := l.deployment("stays"); err != nil {
		t.Error(err)
	}
}

// TestUninstallRefusesToLoseChildren, all of them or none: nothing is deleted where the finalizer cannot be set.
func TestUninstallRefusesToLoseChildren(t *testing.T) {
	l := newLab(t, controlplane.APIOnly())
	l.create("stays", v1.DeletionOrphan)
	const problem = "nothing was deleted: the children of default/stays would go, although its deletionPolicy is Orphan: "

	t.Run("it may not set the finalizer", func(t *testing.T) {
		l := l.in(t)
		err := l.uninstall(l.notAllowedToPatch())
		if want := problem + "set the finalizer apps.fairlead.dev/orphan: "; err == nil || !strings.HasPrefix(err.Error(), want) || !apierrors.IsForbidden(err) {
			t.Errorf("got %v, want %q …", err, want)
		}
		l.wantUntouched("stays")
	})
	t.Run("another client was faster", func(t *testing.T) {
		l := l.in(t)
		old := l.get("stays")
		l.patch("stays", `{"metadata":{"finalizers":["example.com/hold"]}}`)
		if err := l.cluster(l.config).secure(t.Context(), old, nil); err != nil {
			t.Fatal(err)
		}
		if got, want := l.get("stays").GetFinalizers(), []string{"example.com/hold", v1.FinalizerOrphan}; !slices.Equal(got, want) {
			t.Errorf("the finalizers are %q, want %q", got, want)
		}
		l.patch("stays", `{"spec":{"deletionPolicy":"Delete"},"metadata":{"finalizers":["example.com/hold"]}}`)
		if err := l.cluster(l.config).secure(t.Context(), old, nil); err != nil || len(l.get("stays").GetFinalizers()) != 1 {
			t.Errorf("%v: the policy is not Orphan any more, and the Application gets the finalizer", err)
		}
		l.patch("stays", `{"spec":{"deletionPolicy":"Orphan"}}`)
	})
	t.Run("it is being deleted", func(t *testing.T) {
		l := l.in(t)
		old := l.get("stays")
		l.delete("stays") // Another tool's finalizer holds it.
		want := problem + "it is being deleted without the finalizer apps.fairlead.dev/orphan, and owns Deployment stays; " +
			"to keep them, remove their ownerReferences; to let them go, set deletionPolicy to Delete"
		if err := l.cluster(l.config).secure(t.Context(), old, nil); err == nil || !strings.HasSuffix(want, err.Error()) {
			t.Errorf("got %v, want %q", err, want)
		}
		if err := l.uninstall(l.config); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
		l.release("stays")
		if err := l.cluster(l.config).secure(t.Context(), l.get("stays"), nil); err != nil {
			t.Errorf("its children have no owner, so they stay: %v", err)
		}
		l.patch("stays", `{"metadata":{"finalizers":null}}`)
		if err := l.cluster(l.config).secure(t.Context(), old, nil); err != nil {
			t.Errorf("it is gone: %v", err)
		}
	})
}
