// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	fairleadfake "fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

func TestObserver(t *testing.T) {
	web := readyApplication("web")
	web.Namespace = "shop"
	// Not NewClientset: nothing is applied here, so the managed fields that it keeps would serve nobody.
	c := &clients{fairlead: fairleadfake.NewSimpleClientset(web), kube: kubefake.NewClientset()}
	ctx, cancel := context.WithCancel(t.Context())
	o, err := observe(ctx, c, "shop")
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	defer cancel()
	if list := o.list(); len(list) != 1 || list[0].Name != "web" {
		t.Fatalf("after the first list there are %d Applications, want web", len(list))
	}

	seen := make(chan string, 10)
	stop := o.listen(func(before, after *v1.Application) {
		if before == nil {
			seen <- "added " + after.Name
		} else {
			seen <- "changed " + after.Name
		}
	})
	defer stop()
	cart := startingApplication("cart")
	cart.Namespace = "shop"
	if _, err := c.fairlead.AppsV1().Applications("shop").Create(ctx, cart, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := o.wait(ctx, func() bool { return len(o.list("cart")) == 1 }); err != nil {
		t.Fatal(err)
	}
	if got := <-seen; got != "added cart" {
		t.Errorf("the listener was told %q, want added cart", got)
	}

	if err := c.fairlead.AppsV1().Applications("shop").Delete(ctx, "cart", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := o.wait(ctx, func() bool { return len(o.list("cart")) == 0 }); err != nil {
		t.Fatal(err)
	}

	enough := errors.New("enough")
	waitCtx, give := context.WithCancelCause(ctx)
	give(enough)
	if err := o.wait(waitCtx, func() bool { return false }); !errors.Is(err, enough) {
		t.Errorf("wait returned %v, want the reason for which its context ended", err)
	}
}
