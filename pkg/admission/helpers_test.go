// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/revision"
)

// cluster is what the webhooks can look at, in memory.
type cluster struct {
	stored []*v1.Application
	// serves are what live routes have, by the name of their Application.
	serves map[string][]v1.RouteKey
	// allowed are the ServiceAccounts that every requester may impersonate.
	allowed []string
	// exist are the objects, as Kind/name; absent is the answer for others.
	exist []string
	// owned are the objects that belong to the Application web.
	owned []string
	// leftBehind are those of an earlier Application.
	leftBehind []string
	// ejected are those without its marks.
	ejected []string
	// unreadable is a cluster in which no object may be read.
	unreadable bool
	// revisions are the numbers of the Application's revisions, with the pods of former, or those that need nothing.
	revisions []int64
	former    *v1.Application
	err       error
	asked     []authorizationv1.SubjectAccessReviewSpec
	config    func(*Config)
}

func (c *cluster) handler(tb testing.TB) *Handler {
	tb.Helper()
	config := Config{
		Validation: validation.Options{ForeignServiceAccounts: true},
		Routes:     c,
		Revisions:  c,
		ReviewAccess: func(_ context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
			c.asked = append(c.asked, spec)
			return authorizationv1.SubjectAccessReviewStatus{Allowed: slices.Contains(c.allowed, spec.ResourceAttributes.Name)}, c.err
		},
		Find: func(_ context.Context, reference Reference) (*metav1.PartialObjectMetadata, error) {
			found := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: reference.Namespace, Name: reference.Name}}
			switch {
			case c.unreadable:
				return nil, errors.New("forbidden")
			case slices.Contains(c.owned, reference.Kind+"/"+reference.Name):
				found.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.ApplicationKind, Name: "web", Controller: new(true)}}
			case slices.Contains(c.leftBehind, reference.Kind+"/"+reference.Name):
				found.Labels, found.Annotations = map[string]string{v1.LabelManagedBy: v1.ManagedBy}, map[string]string{v1.AnnotationOwnerUID: "earlier"}
			case slices.Contains(c.ejected, reference.Kind+"/"+reference.Name):
				found.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: plan.PluginFieldManager, Operation: metav1.ManagedFieldsOperationUpdate}}
			case !slices.Contains(c.exist, reference.Kind+"/"+reference.Name):
				found = nil
			}
			return found, c.err
		},
	}
	if c.config != nil {
		c.config(&config)
	}
	handler, err := New(config)
	if err != nil {
		tb.Fatal(err)
	}
	return handler
}

// Revisions are the same for each Application.
func (c *cluster) Revisions(*v1.Application) (revisions []*appsv1.ControllerRevision, known bool, err error) {
	former := c.former
	if former == nil {
		former = application(nil)
	}
	selected, err := revision.Select(revision.Input{Application: former})
	if err != nil {
		return nil, false, err
	}
	for _, number := range c.revisions {
		record, err := selected.Record(strconv.FormatInt(number, 16), "")
		if err != nil {
			return nil, false, err
		}
		object := &appsv1.ControllerRevision{Revision: number}
		object.Name, object.Data.Raw = record.Name, record.Data
		revisions = append(revisions, object)
	}
	return revisions, !c.unreadable, c.err
}

// HostClaims and RouteClaims are those of what is stored.
func (c *cluster) HostClaims(host string) ([]v1.RouteClaim, error) {
	return c.claims(func(_ *v1.Application, key v1.RouteKey) bool { return v1.HostsOverlap(key.Host, host) }), c.err
}

func (c *cluster) RouteClaims(namespace string, key v1.RouteKey) ([]v1.RouteClaim, error) {
	return c.claims(func(a *v1.Application, asked v1.RouteKey) bool { return a.Namespace == namespace && asked == key }), c.err
}

func (c *cluster) claims(matches func(*v1.Application, v1.RouteKey) bool) []v1.RouteClaim {
	var claims []v1.RouteClaim
	for _, application := range c.stored {
		for _, key := range application.RouteKeys() {
			if matches(application, key) {
				claims = append(claims, v1.RouteClaim{Application: application, Host: key.Host})
			}
		}
		for _, key := range c.serves[application.Name] {
			if matches(application, key) {
				claims = append(claims, v1.RouteClaim{Application: application, Host: key.Host, Serves: true})
			}
		}
	}
	return claims
}

// application is one that needs nothing.
func application(change func(*v1.Application)) *v1.Application {
	a := &v1.Application{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.ApplicationKind},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec:       v1.ApplicationSpec{Image: "registry.example.com/web:1", Ports: []v1.ApplicationPort{{Name: "http", ContainerPort: 8080}}},
	}
	if change != nil {
		change(a)
	}
	return a
}

func withRoute(hostnames ...string) func(*v1.Application) {
	return func(a *v1.Application) { a.Spec.Routes = []v1.Route{{Name: "public", Hostnames: hostnames}} }
}

func withAccount(name string) func(*v1.Application) {
	return func(a *v1.Application) { a.Spec.ServiceAccount = &v1.ServiceAccount{Name: name} }
}

// review is the question of the API server about an object; old is nil for a create.
func review(tb testing.TB, updated, old any) *admissionv1.AdmissionReview {
	tb.Helper()
	request := &admissionv1.AdmissionRequest{
		UID:       "5f0c4c4e-0000-4000-8000-000000000001",
		Kind:      metav1.GroupVersionKind{Group: v1.GroupName, Version: "v1", Kind: v1.ApplicationKind},
		Resource:  metav1.GroupVersionResource{Group: v1.GroupName, Version: "v1", Resource: v1.ApplicationResource},
		Namespace: "shop",
		Name:      "web",
		Operation: admissionv1.Create,
		UserInfo:  authenticationv1.UserInfo{Username: "jane", UID: "7", Groups: []string{"team"}, Extra: map[string]authenticationv1.ExtraValue{"scope": {"x"}}},
		Object:    raw(tb, updated),
	}
	if old != nil {
		request.Operation, request.OldObject = admissionv1.Update, raw(tb, old)
	}
	return &admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request}
}

// raw encodes an object; a string is one already.
func raw(tb testing.TB, object any) runtime.RawExtension {
	tb.Helper()
	if text, ok := object.(string); ok {
		return runtime.RawExtension{Raw: []byte(text)}
	}
	data, err := json.Marshal(object)
	if err != nil {
		tb.Fatal(err)
	}
	return runtime.RawExtension{Raw: data}
}

// post sends a body to the handler. What is logged is shown only if the test fails.
func post(tb testing.TB, handler http.Handler, path, body string) *httptest.ResponseRecorder {
	tb.Helper()
	logger := ktesting.NewLogger(tb, ktesting.NewConfig())
	request := httptest.NewRequestWithContext(klog.NewContext(tb.Context(), logger), http.MethodPost, path, strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder
}

// ask sends a review and returns the response, which must be one.
func ask(tb testing.TB, handler http.Handler, path string, question *admissionv1.AdmissionReview) *admissionv1.AdmissionResponse {
	tb.Helper()
	body, err := json.Marshal(question)
	if err != nil {
		tb.Fatal(err)
	}
	recorder := post(tb, handler, path, string(body))
	if recorder.Code != http.StatusOK {
		tb.Fatalf("status is %d: %s", recorder.Code, recorder.Body)
	}
	var answer admissionv1.AdmissionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
		tb.Fatal(err)
	}
	if answer.Kind != "AdmissionReview" || answer.APIVersion != "admission.k8s.io/v1" || answer.Response == nil || answer.Request != nil {
		tb.Fatalf("the answer is %s", recorder.Body)
	}
	if answer.Response.UID != question.Request.UID {
		tb.Errorf("the UID is %q, want %q", answer.Response.UID, question.Request.UID)
	}
	return answer.Response
}

// messageOf is what a refusal says.
func messageOf(response *admissionv1.AdmissionResponse) string {
	if response.Result == nil {
		return ""
	}
	return response.Result.Message
}
