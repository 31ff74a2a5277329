// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/fairlead/pkg/aggregation"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	subresources "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/subresources/v1alpha1"
)

const (
	serviceNamespace = metav1.NamespaceDefault
	group            = v1alpha1.GroupName
	version          = "v1alpha1"
	apiServiceName   = version + "." + group
)

// register makes the Service of a server, and keeps its APIService until the returned function is called. Without
// aggregator routing, kube-apiserver resolves the Service by name, so an ExternalName leads to this machine.
func register(ctx context.Context, to *server) (stop func(), err error) {
	kube, err := kubernetes.NewForConfig(cluster.Config())
	if err != nil {
		return nil, err
	}
	if _, err := kube.CoreV1().Services(serviceNamespace).Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: service},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}, metav1.CreateOptions{}); err != nil {
		return nil, fmt.Errorf("create Service: %w", err)
	}
	client, err := dynamic.NewForConfig(cluster.Config())
	if err != nil {
		return nil, err
	}
	target := aggregation.Service{Namespace: serviceNamespace, Name: service, Port: int32(to.port)}
	caBundle := func() []byte { return *to.caBundle.Load() }
	keeping, err := dynamic.NewForConfig(cluster.ConfigFor(controllerAccount))
	if err != nil {
		return nil, err
	}
	keeper := aggregation.New(aggregation.Config{
		Client:  keeping.Resource(aggregation.APIServices),
		Owner:   aggregation.OwnedByClusterRole(keeping.Resource(aggregation.ClusterRoles), serverRole),
		Version: v1alpha1.SchemeGroupVersion, Service: target, CABundle: caBundle,
		Probe:  aggregation.ProbeReadyz(fmt.Sprintf("127.0.0.1:%d", to.port), target, caBundle),
		Period: period, MaxDowntime: downtime, RetryAfter: downtime,
	})
	stop = inBackground(ctx, func(ctx context.Context) error {
		keeper.Run(ctx)
		return nil
	})
	return stop, waitAvailable(ctx, client)
}

// waitAvailable waits until kube-apiserver reaches the server.
func waitAvailable(ctx context.Context, client dynamic.Interface) error {
	return wait.PollUntilContextTimeout(ctx, period, soon, true, func(ctx context.Context) (bool, error) {
		object, err := client.Resource(aggregation.APIServices).Get(ctx, apiServiceName, metav1.GetOptions{})
		return err == nil && isAvailable(object), nil
	})
}

func isAvailable(apiService *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(apiService.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Available" {
			return c["status"] == "True"
		}
	}
	return false
}

// fixture is a namespace, with the clients of an administrator.
type fixture struct {
	*testing.T
	namespace string
	kube      kubernetes.Interface
	fairlead  versioned.Interface
}

func start(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	return startAlone(t)
}

// startAlone is start for a test that changes what others use.
func startAlone(t *testing.T) *fixture {
	t.Helper()
	return &fixture{
		T: t, namespace: cluster.Namespace(t),
		kube: kubernetes.NewForConfigOrDie(cluster.Config()), fairlead: versioned.NewForConfigOrDie(cluster.Config()),
	}
}

// apply creates an Application with so many pods.
func (f *fixture) apply(name string, replicas int32, mutate ...func(*v1.Application)) *v1.Application {
	f.Helper()
	application := &v1.Application{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": name}},
		Spec:       v1.ApplicationSpec{Image: "example.com/" + name + ":1", Replicas: &replicas},
	}
	for _, m := range mutate {
		m(application)
	}
	created, err := f.fairlead.AppsV1().Applications(f.namespace).Create(f.Context(), application, metav1.CreateOptions{})
	if err != nil {
		f.Fatal(err)
	}
	return created
}

// eventually waits until the condition holds.
func (f *fixture) eventually(what string, holds func() error) {
	f.Helper()
	var last error
	err := wait.PollUntilContextTimeout(f.Context(), period, soon, true, func(context.Context) (bool, error) {
		last = holds()
		return last == nil, nil
	})
	if err != nil {
		f.Fatalf("%s: %v", what, last)
	}
}

// view waits until the view of an Application is as wanted.
func (f *fixture) view(name string, wanted func(*v1alpha1.ApplicationRuntime) bool) *v1alpha1.ApplicationRuntime {
	f.Helper()
	var view *v1alpha1.ApplicationRuntime
	f.eventually("view of "+name, func() (err error) {
		if view, err = f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace).Get(f.Context(), name, metav1.GetOptions{}); err != nil {
			return err
		}
		if !wanted(view) {
			return fmt.Errorf("it is %+v", view)
		}
		return nil
	})
	return view
}

// running reports whether all of so many pods are ready.
func running(replicas int32) func(*v1alpha1.ApplicationRuntime) bool {
	return func(view *v1alpha1.ApplicationRuntime) bool {
		return view.Ready == metav1.ConditionTrue && view.Pods == v1alpha1.PodCounts{Desired: replicas, Ready: replicas}
	}
}

// client is that of a user with a role of these rules in the namespace.
func (f *fixture) client(user string, rules ...rbacv1.PolicyRule) subresources.SubresourcesV1alpha1Interface {
	f.Helper()
	meta := metav1.ObjectMeta{Name: user}
	if _, err := f.kube.RbacV1().Roles(f.namespace).Create(f.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
	if _, err := f.kube.RbacV1().RoleBindings(f.namespace).Create(f.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: f.namespace + ":" + user}},
	}, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
	for _, granted := range rules {
		f.eventually("the role of "+user, func() error { return f.review(f.namespace+":"+user, granted) })
	}
	return versioned.NewForConfigOrDie(cluster.ConfigFor(f.namespace + ":" + user)).SubresourcesV1alpha1()
}

// review returns an error until kube-apiserver's authorizer knows that a user has a permission.
func (f *fixture) review(user string, granted rbacv1.PolicyRule) error {
	resource, subresource, _ := strings.Cut(granted.Resources[0], "/")
	review, err := f.kube.AuthorizationV1().SubjectAccessReviews().Create(f.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: f.namespace, Verb: granted.Verbs[0], Group: granted.APIGroups[0], Resource: resource, Subresource: subresource,
		}},
	}, metav1.CreateOptions{})
	if err == nil && !review.Status.Allowed {
		err = fmt.Errorf("%v is not allowed yet", granted)
	}
	return err
}

// rule is a rule of a Role.
func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// code is the HTTP status of a request, by its error.
func code(err error) int {
	if err == nil {
		return 200
	}
	if status, ok := err.(apierrors.APIStatus); ok {
		return int(status.Status().Code)
	}
	return 0
}
