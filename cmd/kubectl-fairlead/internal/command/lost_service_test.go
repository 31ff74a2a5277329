// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
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
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/helm"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/plan"
)

func savedService() adopt.Saved {
	return adopt.Saved{
		Deployment: &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}},
		Service: &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "elsewhere", Name: "other", UID: "before", ResourceVersion: "7", Labels: map[string]string{"app": "shop"},
				Annotations: map[string]string{"team": "a", adopt.AnnotationBackup: "sha256:0"}, Finalizers: []string{"service.kubernetes.io/load-balancer-cleanup"},
			},
			Spec: corev1.ServiceSpec{
				Type: corev1.ServiceTypeNodePort, ClusterIP: "10.0.0.7", ClusterIPs: []string{"10.0.0.7"}, Selector: map[string]string{"app": "shop"},
				Ports: []corev1.ServicePort{{Port: 80, NodePort: 30080}},
			},
		},
	}
}

// TestCreateLostService: the Service is created as it was, in the namespace and by the name of the Secret. What is taken by now does
// not stop that.
func TestCreateLostService(t *testing.T) {
	for _, taken := range []bool{false, true} {
		own := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "own", Annotations: map[string]string{v1.AnnotationOwnerUID: "uid"}}}
		kube := kubefake.NewClientset(own)
		kube.PrependReactor("create", "services", func(action clienttesting.Action) (bool, runtime.Object, error) {
			if service := action.(clienttesting.CreateAction).GetObject().(*corev1.Service); taken && service.Spec.Ports[0].NodePort != 0 {
				return true, nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "web", nil)
			}
			return false, nil, nil
		})
		saved := savedService()
		lost := findLost(&cluster.Clients{Kube: kube}, &v1.Application{ObjectMeta: metav1.ObjectMeta{UID: "uid"}}, saved, own, true)
		if !lost.recreates() {
			t.Fatalf("it is not created again: %+v", lost)
		}
		if _, err := lost.restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		live, err := kube.CoreV1().Services("shop").Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := *saved.Service.Spec.DeepCopy()
		if taken {
			want.ClusterIP, want.ClusterIPs, want.Ports[0].NodePort = "", nil, 0
		}
		if diff := cmp.Diff(want, live.Spec); diff != "" || lost.moved != taken {
			t.Errorf("moved %t (-want +got):\n%s", lost.moved, diff)
		}
		if diff := cmp.Diff(map[string]string{"team": "a"}, live.Annotations); diff != "" || len(live.Finalizers) > 0 {
			t.Errorf("finalizers %v, annotations (-want +got):\n%s", live.Finalizers, diff)
		}
	}
}

// TestLostServiceStillBeingDeleted: a load balancer holds the ejected Service longer than the first run waited. The next run goes on.
func TestLostServiceStillBeingDeleted(t *testing.T) {
	tool := toolWith(*clientcmdapi.NewConfig(), "shop")
	clients := &cluster.Clients{Kube: kubefake.NewClientset()}
	ejected := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web", UID: "own", DeletionTimestamp: new(metav1.Now()), Finalizers: []string{"service.kubernetes.io/load-balancer-cleanup"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: plan.PluginFieldManager, Operation: metav1.ManagedFieldsOperationUpdate}},
	}}
	const want = "The Service web was deleted meanwhile, and is created again as it was, in place of the one that the Application created."
	if got := findLost(clients, nil, savedService(), ejected, true).describe(tool, false); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestGiveFieldsOfLostServiceBack: a run that ended between its two requests has left the fields to this client. The next run ends that,
// whether the Service has its former addresses or others.
func TestGiveFieldsOfLostServiceBack(t *testing.T) {
	tool := toolWith(*clientcmdapi.NewConfig(), "shop")
	for _, taken := range []bool{false, true} {
		kube := kubefake.NewClientset()
		fails := true
		kube.PrependReactor("patch", "services", func(clienttesting.Action) (bool, runtime.Object, error) {
			return fails, nil, errors.New("the connection was lost")
		})
		kube.PrependReactor("create", "services", func(action clienttesting.Action) (bool, runtime.Object, error) {
			service := action.(clienttesting.CreateAction).GetObject().(*corev1.Service)
			return taken && service.Spec.ClusterIP != "", nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "web", nil)
		})
		services, clients, saved := kube.CoreV1().Services("shop"), &cluster.Clients{Kube: kube}, savedService()
		saved.Service.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: "helm", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:type":{}}}`),
		}}
		_, err := findLost(clients, nil, saved, nil, true).restore(t.Context())
		const want = "the Service web is created again, but its fields are not given back to the clients that managed them: the connection was lost. Run the command again"
		if err == nil || err.Error() != want {
			t.Fatalf("%v, want %s", err, want)
		}
		fails = false
		live, err := services.Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		lost := findLost(clients, nil, saved, live, true)
		if lost == nil || !lost.restores() || lost.recreates() || lost.keepsBackup() {
			t.Fatalf("the next run does not end it: %+v", lost)
		}
		const said = "The Service web was created again by an earlier run. Its fields are given back to the clients that managed them."
		if got := lost.describe(tool, false); got != said {
			t.Errorf("%q, want %q", got, said)
		}
		after, err := lost.restore(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if isCreator(after) || len(after.ManagedFields) != 1 || after.ManagedFields[0].Manager != "helm" {
			t.Errorf("the Service has other managers: %v", after.ManagedFields)
		}
		if lost := findLost(clients, nil, saved, after, true); lost != nil {
			t.Errorf("a third run writes it again: %+v", lost)
		}
	}
}

// TestKeepLostService: where the Service cannot come back, the user learns that the Secret still has it, and how to read it.
func TestKeepLostService(t *testing.T) {
	tool := toolWith(*clientcmdapi.NewConfig(), "shop")
	kube := kubefake.NewClientset()
	clients := &cluster.Clients{Kube: kube}
	const keeps = " The Secret web-before-adoption stays, and has the earlier one. To read it: kubectl -n shop get secret web-before-adoption " +
		`-o jsonpath='{.data.service\.json}' | base64 -d. Once you do not need it: kubectl -n shop delete secret web-before-adoption`
	mine := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "mine"}}
	for _, test := range []struct {
		live    *corev1.Service
		vouched bool
		want    string
	}{
		{nil, true, "The Service web was deleted meanwhile, and is created again as it was."},
		{nil, false, "The Service web was deleted meanwhile, and is not created again, because nothing confirms what the Secret says about it." + keeps},
		{mine, true, "The Service web is another one than before the adoption, and stays as it is." + keeps},
	} {
		lost := findLost(clients, nil, savedService(), test.live, test.vouched)
		if diff := cmp.Diff(test.want, lost.describe(tool, false)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if lost.keepsBackup() == lost.recreates() {
			t.Errorf("it is either created, or kept: %+v", lost)
		}
	}
	kube.PrependReactor("create", "services", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("the quota is used up")
	})
	_, err := findLost(clients, nil, savedService(), nil, true).restore(t.Context())
	const want = "create the Service web again, which was deleted meanwhile: the quota is used up. " +
		"The Secret web-before-adoption still has it: correct that, and run the command again"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	// An abort does not give Helm's marks to a Service, so it keeps the Secret.
	plain := adopt.Recreated(savedOfRelease())
	helm.Unmark(plain)
	const another = "The Service web is another one than before the adoption, and stays as it is." + keeps
	if lost := findLost(clients, nil, savedOfRelease(), plain, true); lost == nil || lost.describe(tool, false) != another {
		t.Errorf("of a Service without Helm's marks: %+v", lost)
	}
	same := savedService().Service
	if lost := findLost(clients, nil, savedService(), same, true); lost != nil {
		t.Errorf("a Service that is still there is lost: %+v", lost)
	}
}

// savedOfRelease are a Deployment and a Service with the marks of a Helm release.
func savedOfRelease() adopt.Saved {
	saved := adopt.Saved{Deployment: savedDeployment(), Service: savedService().Service, Release: &adopt.Release{Namespace: "shop", Name: "web", Manifest: "kind: Deployment\nspec:\n  replicas: 2\n"}}
	for _, object := range []metav1.Object{saved.Deployment, saved.Service} {
		object.SetLabels(map[string]string{"app": "shop", "app.kubernetes.io/managed-by": "Helm"})
		object.SetAnnotations(map[string]string{"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "shop"})
	}
	return saved
}

// TestPlainObjectsToHelm: an earlier eject --restore created the objects without Helm's marks. --to-helm says that, and gives both the marks.
func TestPlainObjectsToHelm(t *testing.T) {
	saved := savedOfRelease()
	backup, err := adopt.Backup(saved)
	if err != nil {
		t.Fatal(err)
	}
	deployment, service := adopt.RecreatedDeployment(saved), adopt.Recreated(saved)
	deployment.UID, service.UID = "again", "again"
	service.Spec.ClusterIP, service.Spec.ClusterIPs = "10.0.0.8", []string{"10.0.0.8"}
	helm.Unmark(deployment)
	helm.Unmark(service)
	kube := kubefake.NewClientset(deployment, service, backup)
	tool, out := toolWith(*clientcmdapi.NewConfig(), "shop"), strings.Builder{}
	tool.Out = &out
	e := &ejecting{
		tool: tool, clients: &cluster.Clients{Kube: kube}, restore: true, toHelm: true, namespace: "shop", name: "web", backup: backup,
		release: &release{saved: saved.Release},
	}
	before, err := adopt.Read(backup)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.readDeployment(t.Context(), before), e.readService(t.Context(), nil, before)); err != nil {
		t.Fatal(err)
	}
	want := "the objects are plain ones, so nothing confirms that the Helm release shop/web had them, as the Secret web-before-adoption says, and nothing was written. " +
		"If they belong to that release, pass --accept-backup=" + adopt.Digest(backup)
	if err := e.checkRestored(before); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	const mark = `  ~ Service/web: .metadata.annotations[meta.helm.sh/release-name]: added "web"` + "\n"
	const manifest = "  The Helm release shop/web gets this manifest from the Secret, for each of these objects that it lacks:\n" +
		"  | kind: Deployment\n  | spec:\n  |   replicas: 2\n"
	if !strings.Contains(out.String(), mark) || strings.Contains(out.String(), ".spec") || !strings.HasSuffix(out.String(), manifest) {
		t.Errorf("it prints other changes than Helm's marks and the manifest:\n%s", out.String())
	}
	if err := e.bringServiceBack(t.Context(), before.Service); err != nil {
		t.Fatal(err)
	}
	live, err := kube.CoreV1().Services("shop").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if release, _ := helm.ReleaseOf(live); release.Name != "web" || live.Spec.ClusterIP != "10.0.0.8" || live.Labels["app.kubernetes.io/managed-by"] != "Helm" {
		t.Errorf("of the release %s, with the labels %v and the address %s", release, live.Labels, live.Spec.ClusterIP)
	}
}

// TestServiceOfReleaseBecomesPlain: an earlier --to-helm ended after it had created the Service. --restore removes Helm's marks from it.
func TestServiceOfReleaseBecomesPlain(t *testing.T) {
	saved := savedOfRelease()
	backup, err := adopt.Backup(saved)
	if err != nil {
		t.Fatal(err)
	}
	deployment, service := savedDeployment(), adopt.Recreated(saved)
	deployment.Annotations = map[string]string{adopt.AnnotationBackup: adopt.Digest(backup)}
	service.UID, service.Spec.ClusterIP, service.Spec.ClusterIPs = "again", "10.0.0.8", []string{"10.0.0.8"}
	kube := kubefake.NewClientset(deployment, service, backup)
	tool, out := toolWith(*clientcmdapi.NewConfig(), "shop"), strings.Builder{}
	tool.Out = &out
	e := &ejecting{tool: tool, clients: &cluster.Clients{Kube: kube}, restore: true, namespace: "shop", name: "web"}
	before, err := e.saved(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if e.lost != nil || e.service == nil {
		t.Fatalf("the Service is not restored: %s", e.lost.describe(tool, false))
	}
	if err := e.checkRestored(before); err != nil {
		t.Error(err)
	}
	if err := e.bringServiceBack(t.Context(), before.Service); err != nil {
		t.Fatal(err)
	}
	live, err := kube.CoreV1().Services("shop").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"app": "shop"}, live.Labels); diff != "" || len(live.Annotations) > 0 || live.Spec.ClusterIP != "10.0.0.8" {
		t.Errorf("the annotations %v, the address %s, and the labels (-want +got):\n%s", live.Annotations, live.Spec.ClusterIP, diff)
	}
}

// TestServiceLostAfterRestoration: the Deployment is restored, so it has no digest, and the Service is deleted. The Secret is as the adoption
// saved it, but nothing confirms that.
func TestServiceLostAfterRestoration(t *testing.T) {
	saved := savedOfRelease()
	backup, err := adopt.Backup(saved)
	if err != nil {
		t.Fatal(err)
	}
	marked := savedDeployment()
	marked.Labels, marked.Annotations = saved.Deployment.Labels, saved.Deployment.Annotations
	plain := marked.DeepCopy()
	helm.Unmark(plain)
	edited := plain.DeepCopy()
	metav1.SetMetaDataAnnotation(&edited.ObjectMeta, adopt.AnnotationBackup, "sha256:0")
	accept := "If what it would change, as printed, is what you want, pass --accept-backup=" + adopt.Digest(backup)
	const nothing, and = "nothing confirms what the Secret web-before-adoption says about ", ", and nothing was written. "
	for name, test := range map[string]struct {
		live   *appsv1.Deployment
		toHelm bool
		want   string
	}{
		"restored":                  {plain, false, nothing + "the Service web" + and + accept},
		"given back to the release": {marked, true, nothing + "the Service web" + and + accept},
		"plain, to the release":     {plain, true, nothing + "the Service web and the Helm release shop/web" + and + accept},
		"another digest":            {edited, false, "the Secret web-before-adoption is not as the adoption saved it" + and + accept},
	} {
		t.Run(name, func(t *testing.T) {
			kube := kubefake.NewClientset(test.live, backup)
			tool, out := toolWith(*clientcmdapi.NewConfig(), "shop"), strings.Builder{}
			tool.Out = &out
			e := &ejecting{
				tool: tool, clients: &cluster.Clients{Kube: kube}, restore: true, toHelm: test.toHelm, namespace: "shop", name: "web", backup: backup,
				release: &release{saved: saved.Release},
			}
			before, err := adopt.Read(backup)
			if err != nil {
				t.Fatal(err)
			}
			if !test.toHelm {
				before.Unmark()
			}
			if err := errors.Join(e.readDeployment(t.Context(), before), e.readService(t.Context(), nil, before)); err != nil {
				t.Fatal(err)
			}
			if err := e.checkRestored(before); err == nil || err.Error() != test.want {
				t.Errorf("got\n%v\nwant\n%s", err, test.want)
			}
			if !strings.Contains(out.String(), "Service/web: .spec.type: added") {
				t.Errorf("it does not print the Service:\n%s", out.String())
			}
		})
	}
}
