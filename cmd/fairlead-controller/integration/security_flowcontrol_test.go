// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
)

// TestS18UsersQueueByNamespace installs the flow-control component: what users write to Applications has a queue for each
// namespace and few requests at once, and neither the controller nor what users read waits in it.
func TestS18UsersQueueByNamespace(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	e.applyAnywhere(e.manifest("components/flow-control/flow-control.yaml"))
	const name = "fairlead-applications"
	level, err := e.kube.FlowcontrolV1().PriorityLevelConfigurations().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := e.kube.FlowcontrolV1().FlowSchemas().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if method := schema.Spec.DistinguisherMethod; method == nil || method.Type != flowcontrolv1.FlowDistinguisherMethodByNamespaceType {
		t.Errorf("flows are distinguished by %+v, want the namespace", method)
	}
	controller := "system:serviceaccount:" + operatorNamespace + ":" + shippedAccount
	for _, test := range []struct {
		what, user string
		request    func(c versioned.Interface) error
		queued     bool
	}{
		{"a user changes an Application", "tenant", e.patchApplication, true},
		{"a user's ServiceAccount changes an Application", "system:serviceaccount:" + e.namespace + ":ci", e.patchApplication, true},
		{"a user scales an Application, which the API server stores as a whole", "tenant", e.scaleApplication, true},
		{"a user lists Applications", "tenant", e.listApplications, false},
		{"the controller changes an Application", controller, e.patchApplication, false},
	} {
		e.eventually(test.what, func() (bool, string) {
			classified := e.priorityLevelOf(test.user, test.request)
			return classified != "" && (classified == level.UID) == test.queued, fmt.Sprintf("priority level %s, that of %s is %s", classified, name, level.UID)
		})
	}
}

// priorityLevelOf returns the priority level that the API server gave a request, which it may have forbidden after that.
func (e *env) priorityLevelOf(user string, request func(versioned.Interface) error) (level types.UID) {
	e.Helper()
	config := e.cluster.ConfigFor(user)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if err == nil {
				level = types.UID(response.Header.Get(flowcontrolv1.ResponseHeaderMatchedPriorityLevelConfigurationUID))
			}
			return response, err
		})
	})
	_ = request(versioned.NewForConfigOrDie(config)) // Forbidden or not found: it was classified first.
	return level
}

func (e *env) patchApplication(c versioned.Interface) error {
	_, err := c.AppsV1().Applications(e.namespace).Patch(e.Context(), "web", types.MergePatchType, []byte(`{"spec":{"paused":true}}`), metav1.PatchOptions{})
	return err
}

func (e *env) scaleApplication(c versioned.Interface) error {
	return c.AppsV1().RESTClient().Patch(types.MergePatchType).Namespace(e.namespace).Resource(v1.ApplicationResource).Name("web").SubResource("scale").
		Body([]byte(`{"spec":{"replicas":2}}`)).Do(e.Context()).Error()
}

func (e *env) listApplications(c versioned.Interface) error {
	_, err := c.AppsV1().Applications(e.namespace).List(e.Context(), metav1.ListOptions{})
	return err
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
