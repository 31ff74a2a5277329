// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

func TestUnseen(t *testing.T) {
	f := newFixture(t)
	f.do(f.create(child.ConfigMap, owned+"data: {a: '1'}"))
	f.do(f.create(child.ServiceAccount, owned))
	applytest.Put(f.server, child.Service, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})
	for _, kind := range []child.Kind{child.ConfigMap, child.ServiceAccount, child.Service, child.Ingress, {Kind: "Unheard"}} {
		f.application.Status.Resources = append(f.application.Status.Resources, v1.ResourceStatus{Group: kind.Group, Kind: kind.Kind, Name: "web"})
	}
	before := len(f.requests())
	got, err := f.writer.Unseen(t.Context(), child.Snapshot{
		Application: f.application,
		Children:    map[child.Ref]child.Object{ref(child.ServiceAccount): f.cached(child.ServiceAccount)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[ref(child.ConfigMap)] == nil {
		t.Errorf("unseen are %v, want the ConfigMap: the ServiceAccount is seen, the Service foreign, the Ingress gone", got)
	}
	if requests := f.requests()[before:]; !slices.Equal(requests, []string{"get", "get", "get"}) {
		t.Errorf("the requests were %q, want one for each that is not seen and of a known kind", requests)
	}
}

func TestUnseenThatCannotBeRead(t *testing.T) {
	f := newFixture(t)
	f.application.Status.Resources = []v1.ResourceStatus{{Kind: child.ConfigMap.Kind, Name: "web"}}
	f.on("get", func() error { return errBroken })
	if got, err := f.writer.Unseen(t.Context(), child.Snapshot{Application: f.application}, nil); err == nil {
		t.Errorf("without an answer, unseen are %v", got)
	}
}
