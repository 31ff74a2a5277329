// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/pem"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"fairlead.dev/fairlead/pkg/admission"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	appsclient "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/apps/v1"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const (
	crds = "../../../artifacts/crds"
	// soon is the longest that anything here takes, on a busy machine.
	soon   = 30 * time.Second
	period = 50 * time.Millisecond
)

// fixture is a webhook server on loopback, with real caches behind it.
type fixture struct {
	*testing.T
	cp        *controlplane.ControlPlane
	namespace string
	kube      kubernetes.Interface
	server    *httptest.Server
	registrar *admission.Registrar
	caches    *informer.Informers
}

// serve starts the webhooks; nothing asks them yet.
func serve(t *testing.T) *fixture {
	t.Helper()
	cp := shared.Get(t)
	cp.InstallCRDs(t, crds)
	f := &fixture{T: t, cp: cp, namespace: cp.Namespace(t), kube: kubernetes.NewForConfigOrDie(cp.Config())}
	f.caches = f.informers()
	httpClient, err := rest.HTTPClientFor(cp.Config())
	if err != nil {
		t.Fatal(err)
	}
	children, err := apply.NewClient(cp.Config(), httpClient)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := admission.New(admission.Config{
		Validation:   validation.Options{ForeignServiceAccounts: true},
		Classes:      f.caches,
		Routes:       f.caches,
		Revisions:    f.caches,
		ReviewAccess: admission.ReviewAccessBy(f.kube.AuthorizationV1().SubjectAccessReviews()),
		Find:         admission.FindBy(metadata.NewForConfigOrDie(cp.Config())),
		WithSelection: func(ctx context.Context, deployment *metav1.PartialObjectMetadata) metav1.Object {
			return apply.WithSelection(ctx, children, deployment)
		},
		Unavailable: f.caches.Unavailable,
	})
	if err != nil {
		t.Fatal(err)
	}
	logger := ktesting.NewLogger(t, ktesting.NewConfig())
	f.server = httptest.NewUnstartedServer(handler)
	f.server.Config.BaseContext = func(net.Listener) context.Context { return klog.NewContext(context.WithoutCancel(t.Context()), logger) }
	f.server.StartTLS()
	t.Cleanup(f.server.Close)
	f.registrar = &admission.Registrar{
		Configurations:    f.kube.AdmissionregistrationV1(),
		Applications:      f.fairlead(cp.Config()),
		Handler:           handler,
		URL:               f.server.URL,
		CABundle:          pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.server.Certificate().Raw}),
		ProbeNamespace:    metav1.NamespaceDefault,
		OperatorNamespace: "fairlead-system",
	}
	return f
}

// informers are running caches of everything.
func (f *fixture) informers() *informer.Informers {
	f.Helper()
	config := f.cp.Config()
	informers, err := informer.New(kubernetes.NewForConfigOrDie(config), versioned.NewForConfigOrDie(config), informer.Options{})
	if err != nil {
		f.Fatal(err)
	}
	synced, err := informers.Handle(nobody{}, nobody{})
	if err != nil {
		f.Fatal(err)
	}
	classes, err := informers.HandleClasses(cache.TypedResourceEventHandlerFuncs[*v1.ApplicationClass]{})
	if err != nil {
		f.Fatal(err)
	}
	synced = append(synced, classes...)
	ctx, stop := context.WithCancel(context.WithoutCancel(f.Context()))
	f.Cleanup(func() { stop(); informers.Shutdown() })
	informers.Start(ctx)
	if !cache.WaitFor(f.Context(), "", synced...) {
		f.Fatal("the caches were not filled")
	}
	return informers
}

// nobody handles no events: only the index is wanted.
type nobody struct{}

func (nobody) OnAdd(*v1.Application, bool)                                   {}
func (nobody) OnUpdate(_, _ *v1.Application)                                 {}
func (nobody) OnDelete(cache.DeletedObject[*v1.Application])                 {}
func (nobody) ChildAdded(child.Kind, *informer.Encoded, bool)                {}
func (nobody) ChildUpdated(child.Kind, *informer.Encoded, *informer.Encoded) {}
func (nobody) ChildDeleted(child.Kind, *informer.Encoded)                    {}

// register registers the webhooks, and waits until the API server asks both.
func (f *fixture) register() {
	f.Helper()
	if err := f.registrar.Register(f.Context()); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(f.unregister)
	f.eventually("the API server asks the webhooks", func() (bool, error) {
		created, err := f.apps().Create(f.Context(), f.application("probe", route("Probe.example.com")), dryRun)
		if apierrors.IsInvalid(err) {
			return false, nil // It asks only the one that validates yet.
		}
		if err != nil || created.Spec.Routes[0].Hostnames[0] != "probe.example.com" {
			return false, err
		}
		_, err = f.apps().Create(f.Context(), f.application("probe", invalid), dryRun)
		return apierrors.IsInvalid(err), nil
	})
}

func (f *fixture) unregister() {
	f.Helper()
	if err := f.registrar.Unregister(context.WithoutCancel(f.Context())); err != nil {
		f.Error(err)
	}
	ctx := context.WithoutCancel(f.Context())
	f.eventually("the API server does not ask any more", func() (bool, error) {
		_, err := f.apps().Create(ctx, f.application("probe", invalid), dryRun)
		return err == nil, nil
	})
}

func (f *fixture) eventually(what string, condition func() (bool, error)) {
	f.Helper()
	err := wait.PollUntilContextTimeout(context.WithoutCancel(f.Context()), period, soon, true, func(context.Context) (bool, error) { return condition() })
	if err != nil {
		f.Fatalf("wait until %s: %v", what, err)
	}
}

var dryRun = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

func (f *fixture) fairlead(config *rest.Config) appsclient.AppsV1Interface {
	f.Helper()
	return versioned.NewForConfigOrDie(config).AppsV1()
}

// apps are the Applications of the test's namespace, as an administrator.
func (f *fixture) apps() appsclient.ApplicationInterface {
	return f.fairlead(f.cp.Config()).Applications(f.namespace)
}

// warned are the Applications of the test's namespace, and the warnings that requests bring.
func (f *fixture) warned() (appsclient.ApplicationInterface, *warnings) {
	config, heard := f.cp.Config(), &warnings{}
	config.WarningHandlerWithContext = heard
	return f.fairlead(config).Applications(f.namespace), heard
}

type warnings struct {
	mu   sync.Mutex
	text []string
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text)
}

// all are those since the last call.
func (w *warnings) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := strings.Join(w.text, "\n")
	w.text = nil
	return text
}

func (f *fixture) application(name string, changes ...func(*v1.Application)) *v1.Application {
	a := &v1.Application{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name},
		Spec:       v1.ApplicationSpec{Image: "registry.example.com/web:1", Ports: []v1.ApplicationPort{{Name: "http", ContainerPort: 8080}}},
	}
	for _, change := range changes {
		change(a)
	}
	return a
}

// invalid breaks a rule that the schema does not know.
func invalid(a *v1.Application) { a.Spec.ServiceAccount, a.Spec.WorkingDir = nil, "relative" }

func route(hostname string) func(*v1.Application) {
	return func(a *v1.Application) { a.Spec.Routes = []v1.Route{{Name: "public", Hostnames: []string{hostname}}} }
}

func account(name string) func(*v1.Application) {
	return func(a *v1.Application) { a.Spec.ServiceAccount = &v1.ServiceAccount{Name: name} }
}

// create creates an Application that nobody may object to.
func (f *fixture) create(name string, changes ...func(*v1.Application)) *v1.Application {
	f.Helper()
	created, err := f.apps().Create(f.Context(), f.application(name, changes...), metav1.CreateOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = f.apps().Delete(context.WithoutCancel(f.Context()), name, metav1.DeleteOptions{}) })
	return created
}

// tenant may write Applications in the namespace, and what the further rules say.
func (f *fixture) tenant(user string, rules ...rbacv1.PolicyRule) appsclient.ApplicationInterface {
	f.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: slices.Concat(rules, []rbacv1.PolicyRule{
		{APIGroups: []string{v1.GroupName}, Resources: []string{v1.ApplicationResource}, Verbs: []string{"get", "create", "update", "delete"}},
	})}
	if _, err := f.kube.RbacV1().Roles(f.namespace).Create(f.Context(), role, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if _, err := f.kube.RbacV1().RoleBindings(f.namespace).Create(f.Context(), binding, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
	applications := f.fairlead(f.cp.ConfigFor(user)).Applications(f.namespace)
	f.eventually("the API server knows the rights of "+user, func() (bool, error) {
		_, err := applications.Get(f.Context(), "none", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	return applications
}

// wantRefused checks that a request was refused, and why.
func (f *fixture) wantRefused(err error, parts ...string) {
	f.Helper()
	if err == nil {
		f.Errorf("it is accepted; want it refused because of %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			f.Errorf("%q lacks %q", err, part)
		}
	}
}
