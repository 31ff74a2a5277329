// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
	"fairlead.dev/fairlead/pkg/plan"
)

// TestEjectAgain: the objects of an ejected Application have no marks any more. Who lost the list gets it again, also once the next
// Application of the name waits for them.
func TestEjectAgain(t *testing.T) {
	const (
		already = "shop/web: ejected already. The Application is gone, and these objects are yours:\n"
		takes   = "  An Application of this name can take them back: see docs/guides/take-back.md\n"
		none    = "error: there is no Application web in namespace shop, and none left objects behind"
	)
	named := map[string]string{v1.LabelName: "web"}
	entry := metav1.ManagedFieldsEntry{Manager: plan.PluginFieldManager, Operation: metav1.ManagedFieldsOperationUpdate}
	ejected := func(labels map[string]string, more ...func(*metav1.ObjectMeta)) metav1.ObjectMeta {
		object := metav1.ObjectMeta{Namespace: "shop", Name: "web", Labels: labels, ManagedFields: []metav1.ManagedFieldsEntry{entry}}
		for _, change := range more {
			change(&object)
		}
		return object
	}
	service := func(meta metav1.ObjectMeta) runtime.Object {
		return &corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: meta}
	}
	account := &corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: ejected(named)}
	handedOver := &networkingv1.Ingress{TypeMeta: metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"}, ObjectMeta: ejected(nil)}
	for name, test := range map[string]struct {
		exists  bool
		objects []runtime.Object
		dryRun  cmdutil.DryRunStrategy
		want    string
		stay    int
	}{
		"dry run":                  {objects: []runtime.Object{account, service(ejected(named))}, dryRun: cmdutil.DryRunClient, want: already + "  ServiceAccount web\n  Service web\n" + takes, stay: 2},
		"for real":                 {objects: []runtime.Object{service(ejected(named))}, want: already + "  Service web\n" + takes, stay: 1},
		"an Ingress of the user's": {objects: []runtime.Object{handedOver}, want: already + "  Ingress web\n" + takes, stay: 1},
		"another owner": {objects: []runtime.Object{service(ejected(named, func(m *metav1.ObjectMeta) {
			m.OwnerReferences = []metav1.OwnerReference{{Kind: "Shop", Name: "front", UID: "2", Controller: new(true)}}
		}))}, want: none},
		"never ejected": {objects: []runtime.Object{service(ejected(named, func(m *metav1.ObjectMeta) {
			m.ManagedFields[0].Time = &metav1.Time{Time: time.Unix(1, 0)}
		}))}, want: none},
		"of another Application": {objects: []runtime.Object{service(ejected(map[string]string{v1.LabelName: "shop"}))}, want: none},
		"the next Application waits": {exists: true, objects: []runtime.Object{service(ejected(named)), account}, dryRun: cmdutil.DryRunClient, want: "shop/web: the Application is deleted. It has no objects that could stay.\n" +
			"  Ejected before, and not the Application's any more: ServiceAccount web, Service web. An Application of this name can take them back: see docs/guides/take-back.md\n  not written (dry run)\n"},
		"the next Application has some back": {exists: true, objects: []runtime.Object{ejectable(), account}, dryRun: cmdutil.DryRunClient, stay: 1, want: "shop/web: the Application is deleted, and these objects stay:\n  Deployment web\n" +
			"  No pod is replaced.\n  Ejected before, and not the Application's any more: ServiceAccount web. An Application of this name can take them back: see docs/guides/take-back.md\n" +
			"  To take the objects back later, save the manifest of the Application first: kubectl -n shop get applications.apps.fairlead.dev web -o yaml\n  not written (dry run)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			applications := fake.NewClientset()
			if test.exists {
				applications = fake.NewClientset(policyStored())
			}
			var out bytes.Buffer
			objects := make([]runtime.Object, 0, len(test.objects))
			for _, object := range test.objects {
				objects = append(objects, object.DeepCopyObject())
			}
			stay, err := ejectingAmong(t, &out, applications, test.dryRun, objects...).run(t.Context())
			got := out.String()
			if err != nil {
				got += "error: " + err.Error()
			}
			if got != test.want || len(stay) != test.stay {
				t.Errorf("%d stay, and it says\n%s\nwant %d and\n%s", len(stay), got, test.stay, test.want)
			}
		})
	}
}
