// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// breath is the pause between two changes of the metadata.
const breath = 10 * time.Millisecond

// TestF11BusyMetadata lets another client change the metadata of the Application all the time, as a
// badly behaved controller does. Each change makes the version obsolete that a status write
// begins with; the Application must become Ready in spite of that, and follow its spec.
func TestF11BusyMetadata(t *testing.T) {
	t.Parallel()
	e := start(t)
	h := e.record()
	cursor := e.cluster.AuditCursor(t)
	applySpec("ports: [{name: http, containerPort: 8080}]")(e, "web")
	changes := e.annotate("web")

	h.follow(e, "web", step{nil, oneReady})
	before := changes()
	h.follow(e, "web", step{scaleToZero, standing{
		ready: "True/ScaledToZero", kstatus: oneReady.kstatus, others: serving,
	}})
	if after := changes(); after == before {
		t.Errorf("nobody changed the metadata meanwhile: %d changes before and after", before)
	}
	conflicts := 0
	for _, event := range e.written(cursor, controlplane.OnResource("applications/status")) {
		if event.Code == http.StatusConflict {
			conflicts++
		}
	}
	t.Logf("the metadata changed %d times, and %d writes of status met a newer version", changes(), conflicts)
}

// scaleToZero needs no version to begin with, as kubectl patch does not.
func scaleToZero(e *env, name string) {
	e.Helper()
	client := e.resource(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))
	if _, err := client.Patch(e.Context(), name, types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), metav1.PatchOptions{FieldManager: person}); err != nil {
		e.Fatal(err)
	}
}

// annotate changes an annotation of the Application until the test ends. The function that it
// returns tells how often it did.
func (e *env) annotate(name string) (changes func() int64) {
	e.Helper()
	applications := e.resource(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))
	var count atomic.Int64
	ctx, cancel := context.WithCancel(e.Context())
	var client sync.WaitGroup
	client.Go(func() {
		wait.UntilWithContext(ctx, func(ctx context.Context) {
			body := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/heartbeat":"%d"}}}`, count.Load())
			if _, err := applications.Patch(ctx, name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: person}); err == nil {
				count.Add(1)
			}
		}, breath)
	})
	e.Cleanup(func() {
		cancel()
		client.Wait()
	})
	return count.Load
}
