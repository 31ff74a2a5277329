// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
	"fairlead.dev/fairlead/pkg/preview"
)

func savedDeployment() *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", UID: "before", ResourceVersion: "7", Generation: 3, Labels: map[string]string{"app": "shop"},
			Annotations:     map[string]string{"team": "a", "deployment.kubernetes.io/revision": "4", adopt.AnnotationBackup: "sha256:0"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "Application", Name: "web"}},
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "helm", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:selector":{}}}`),
			}},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "shop"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "shop", Image: "shop:1"}}}},
		},
		Status: appsv1.DeploymentStatus{Replicas: 2},
	}
}

func ejectingOf(t *testing.T, objects ...runtime.Object) (*ejecting, *kubefake.Clientset) {
	t.Helper()
	backup, err := adopt.Backup(adopt.Saved{Deployment: savedDeployment()})
	if err != nil {
		t.Fatal(err)
	}
	kube := kubefake.NewClientset(append(objects, backup)...)
	return &ejecting{
		tool: toolWith(*clientcmdapi.NewConfig(), "shop"), clients: &cluster.Clients{Kube: kube}, restore: true, namespace: "shop", name: "web", backup: backup,
	}, kube
}

// TestCreateLostDeployment: the Deployment is created as it was, and its managers have their fields again. What was about the old object
// alone is left out. A run that ended before the fields were given back is ended by the next one, whatever a webhook has added.
func TestCreateLostDeployment(t *testing.T) {
	e, kube := ejectingOf(t)
	fails := true
	kube.PrependReactor("patch", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		return fails, nil, errors.New("the connection was lost")
	})
	before, err := adopt.Read(e.backup)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.readDeployment(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	const want = "the Deployment web is created again, but its fields are not given back to the clients that managed them: the connection was lost. Run the command again"
	if err := e.bringBack(t.Context(), before); err == nil || err.Error() != want {
		t.Fatalf("%v, want %s", err, want)
	}
	fails = false
	injected, err := kube.AppsV1().Deployments("shop").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	injected.Spec.Template.Spec.Containers = append(injected.Spec.Template.Spec.Containers, corev1.Container{Name: "proxy", Image: "proxy:1"})
	if _, err := kube.AppsV1().Deployments("shop").Update(t.Context(), injected, metav1.UpdateOptions{FieldManager: fieldManager}); err != nil {
		t.Fatal(err)
	}
	if err := e.readDeployment(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	const said = "The Deployment web was created again by an earlier run, and stays as it is now. Its fields are given back to the clients that managed them."
	if got := e.describeRestored(); got != said {
		t.Errorf("%q, want %q", got, said)
	}
	if err := e.checkRestored(before); err != nil {
		t.Error(err)
	}
	if err := e.bringBack(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	live, err := kube.AppsV1().Deployments("shop").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wanted := savedDeployment()
	if diff := cmp.Diff(injected.Spec, live.Spec); diff != "" {
		t.Errorf("the spec (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"team": "a"}, live.Annotations); diff != "" || len(live.OwnerReferences) > 0 || live.Status.Replicas != 0 {
		t.Errorf("owners %v, status %v, annotations (-want +got):\n%s", live.OwnerReferences, live.Status, diff)
	}
	if diff := cmp.Diff(wanted.ManagedFields, live.ManagedFields); diff != "" {
		t.Errorf("the managers (-want +got):\n%s", diff)
	}
	if before.Deployment.UID != live.UID {
		t.Error("what the command restored counts as made by the Application")
	}
}

// TestKeepLostDeployment: where the Deployment cannot come back, the user learns why, and what to do.
func TestKeepLostDeployment(t *testing.T) {
	exists := apierrors.NewAlreadyExists(schema.GroupResource{Group: "apps", Resource: "deployments"}, "web")
	for _, test := range []struct {
		err  error
		want string
	}{
		{exists, "the Deployment web was gone, but another client created one meanwhile, so it is not created again. Run the command again"},
		{errors.New("the quota is used up"), "create the Deployment web again: the quota is used up. " +
			"The Secret web-before-adoption still has it: correct that, and run the command again"},
	} {
		e, kube := ejectingOf(t)
		kube.PrependReactor("create", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, test.err })
		if err := e.bringDeploymentBack(t.Context(), adopt.Saved{Deployment: savedDeployment()}); err == nil || err.Error() != test.want {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
	another := savedDeployment()
	another.UID, another.Spec.Template.Spec.Containers[0].Image = "another", "shop:2"
	e, _ := ejectingOf(t, another)
	const (
		want = "the Deployment web is neither the adopted one nor as the Secret web-before-adoption says, so it cannot be restored: leave out --restore. " +
			"The Secret still has the earlier one. To read it: "
		restored = ". If an earlier run created this Deployment again, then it is restored: delete the Secret: kubectl -n shop delete secret web-before-adoption"
	)
	if err := e.readDeployment(t.Context(), adopt.Saved{Deployment: savedDeployment()}); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), restored) {
		t.Errorf("%v, want %s…%s", err, want, restored)
	}
}

// TestBackupCannotBeDeleted: everything is restored then, and the user learns how to delete the Secret.
func TestBackupCannotBeDeleted(t *testing.T) {
	e, kube := ejectingOf(t, savedDeployment())
	kube.PrependReactor("delete", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("the connection was lost")
	})
	before := adopt.Saved{Deployment: savedDeployment()}
	if err := e.readDeployment(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	const want = "the objects are restored, but the Secret web-before-adoption, which is no longer needed, cannot be deleted: the connection was lost. " +
		"To delete it: kubectl -n shop delete secret web-before-adoption"
	if err := e.bringBack(t.Context(), before); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestReplacedDeploymentStays: what was printed and accepted was about another Deployment.
func TestReplacedDeploymentStays(t *testing.T) {
	e, kube := ejectingOf(t, savedDeployment())
	before := adopt.Saved{Deployment: savedDeployment()}
	if err := e.readDeployment(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	other := savedDeployment()
	other.UID, other.Spec.Template.Spec.Containers[0].Image = "other", "other:1"
	if _, err := kube.AppsV1().Deployments("shop").Update(t.Context(), other, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	const want = "restore the Deployment: it was replaced meanwhile: run the command again"
	if err := e.bringDeploymentBack(t.Context(), before); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	live, err := kube.AppsV1().Deployments("shop").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(other.Spec, live.Spec); diff != "" {
		t.Errorf("the spec (-want +got):\n%s", diff)
	}
}

// TestLostDeploymentNamesTheApplication: the command that brings the Deployment back deletes the Application, if there still is one.
func TestLostDeploymentNamesTheApplication(t *testing.T) {
	e, _ := ejectingOf(t)
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	const want = "the Deployment web is gone. The Secret web-before-adoption has it as it was before its adoption. " +
		"To create it again, as a plain one, run kubectl fairlead -n shop eject web --restore"
	for _, test := range []struct {
		fairlead *fake.Clientset
		want     string
	}{{fake.NewClientset(), want}, {fake.NewClientset(application), want + ", which also deletes the Application"}} {
		e.clients.Fairlead = test.fairlead
		a := &adopting{tool: e.tool, clients: e.clients, namespace: "shop", name: "web"}
		if err := a.lostDeployment(t.Context()); err == nil || err.Error() != test.want {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}

// TestPrintRestoredWhole: what a user accepts as printed is printed to its end.
func TestPrintRestoredWhole(t *testing.T) {
	script := "echo " + strings.Repeat("a", 300) + "; curl example.com"
	var printed strings.Builder
	printRestored(screen.Fixed(&printed, 0, false), []preview.Change{{Path: ".args[1]", After: script}, {Path: ".args", Before: []any{"a"}, After: []any{"-c", script}}})
	want := "  ~ .args[1]: added \"" + script + "\"\n  ~ .args: [\"a\"] → [\"-c\",\"" + script + "\"]\n"
	if diff := cmp.Diff(want, printed.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestCreatedDeploymentStays: what a webhook or a user changed since an earlier run created the Deployment stays. The difference is
// printed, because the Secret, which alone has it, is deleted.
func TestCreatedDeploymentStays(t *testing.T) {
	const (
		differs = "  The Deployment is not as the Secret web-before-adoption says. This is not restored:\n" +
			"  ~ Deployment/web: .spec.template.spec.containers[shop].image: \"shop:2\" → \"shop:1\"\n" +
			"  The Secret web-before-adoption is deleted at the end.\n"
		same = "  The Secret web-before-adoption is deleted at the end: the objects are then what it says.\n"
	)
	for image, want := range map[string]string{"shop:1": same, "shop:2": differs} {
		_, kube := ejectingOf(t)
		backup, err := kube.CoreV1().Secrets("shop").Get(t.Context(), "web-before-adoption", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		created := adopt.RecreatedDeployment(adopt.Saved{Deployment: savedDeployment()})
		created.UID, created.Spec.Template.Spec.Containers[0].Image = "again", image
		metav1.SetMetaDataAnnotation(&created.ObjectMeta, adopt.AnnotationBackup, adopt.Digest(backup))
		created.ManagedFields = savedDeployment().ManagedFields
		created.ManagedFields[0].Manager = fieldManager
		e, _ := ejectingOf(t, created)
		before, err := e.saved(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var printed strings.Builder
		e.announceBackup(t.Context(), screen.Fixed(&printed, 0, false), before)
		if diff := cmp.Diff(want, printed.String()); diff != "" || !e.created {
			t.Errorf("created %t, with %s (-want +got):\n%s", e.created, image, diff)
		}
	}
}

// TestCreatedDeploymentIsKnownUntilTheReleaseHasIt: if the revision of the Helm release cannot be ended, the next run knows the Deployment
// that this one created, whatever a webhook changed in it.
func TestCreatedDeploymentIsKnownUntilTheReleaseHasIt(t *testing.T) {
	e, kube := ejectingOf(t)
	before, err := adopt.Read(e.backup)
	if err != nil {
		t.Fatal(err)
	}
	const manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
	var stored bytes.Buffer
	writer := gzip.NewWriter(&stored)
	content, err := json.Marshal(map[string]any{"version": 1, "manifest": manifest, "info": map[string]any{"status": "deployed"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	revision := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "sh.helm.release.v1.web.v1",
			Labels: map[string]string{"owner": "helm", "name": "web", "version": "1", "status": "deployed"},
		},
		Type: "helm.sh/release.v1", Data: map[string][]byte{"release": []byte(base64.StdEncoding.EncodeToString(stored.Bytes()))},
	}
	if _, err := kube.CoreV1().Secrets("shop").Create(t.Context(), revision, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.release = &release{clients: e.clients, namespace: "shop", name: "web", saved: &adopt.Release{Namespace: "shop", Name: "web", Manifest: manifest}}
	created := false
	kube.PrependReactor("create", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		created = true
		return false, nil, nil
	})
	kube.PrependReactor("list", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return created, nil, errors.New("the connection was lost")
	})
	const want = "read the Helm release shop/web: the connection was lost"
	if err := e.bringBack(t.Context(), before); err == nil || err.Error() != want {
		t.Fatalf("%v, want %s", err, want)
	}
	live, err := kube.AppsV1().Deployments("shop").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if live.Annotations[adopt.AnnotationBackup] != adopt.Digest(e.backup) {
		t.Errorf("nothing says that a run created the Deployment: it has the annotations %v", live.Annotations)
	}
}
