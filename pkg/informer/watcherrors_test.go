// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// refuse makes the server answer every request for a kind with an error, by default that of a missing permission.
func refuse(s *applytest.Server, kind child.Kind, err error) (stop func()) {
	if err == nil {
		err = apierrors.NewForbidden(kind.GroupVersionResource().GroupResource(), "", nil)
	}
	return s.Intercept(func(_ context.Context, r applytest.Request) error {
		if r.Kind == kind {
			return err
		}
		return nil
	})
}

// A failed watch is logged with its cause and what to do, and retried.
func TestWatchErrors(t *testing.T) {
	for _, test := range []struct {
		name string
		kind child.Kind
		err  error
		want string
	}{
		{
			"forbidden", child.Ingress, apierrors.NewForbidden(schema.GroupResource{Resource: "ingresses"}, "", nil),
			`No permission to watch; grant list and watch on the resource err="failed to list *v1.Ingress: ingresses is forbidden: <nil>" resource="ingresses"`,
		},
		{
			"the CRD is missing", applytest.Applications, apierrors.NewNotFound(schema.GroupResource{Resource: "applications"}, ""),
			`API not found; run 'make install' in a checkout of Fairlead to install the CRDs err="failed to list *v1.Application: applications \"\" not found" resource="applications"`,
		},
		{
			"anything else", child.Service, apierrors.NewInternalError(context.DeadlineExceeded),
			`err="failed to list *v1.Service: Internal error occurred: context deadline exceeded"`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := applytest.NewServer(t)
				repair := refuse(server, test.kind, test.err)
				informers, err := New(server.Kube(), server.Fairlead(), Options{})
				if err != nil {
					t.Fatal(err)
				}
				synced, err := informers.Handle(&recorder{}, &recorder{})
				if err != nil {
					t.Fatal(err)
				}
				logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(0)))
				ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logger))
				informers.Start(ctx)
				<-time.After(time.Second)
				log := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
				if !strings.Contains(log, test.want) {
					t.Errorf("the log says\n%s\nwant in it\n%s", log, test.want)
				}
				if all := len(child.Kinds()) + 1; done(synced) != all-1 {
					t.Errorf("%d of %d handlers have synced, want all but one", done(synced), all)
				}
				repair()
				<-time.After(time.Minute)
				if all := len(child.Kinds()) + 1; done(synced) != all {
					t.Errorf("%d of %d handlers have synced after the repair", done(synced), all)
				}
				stop()
				informers.Shutdown()
			})
		})
	}
}
