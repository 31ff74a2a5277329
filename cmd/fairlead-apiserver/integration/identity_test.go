// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// TestS23ClaimedIdentities: no header makes a client another user, neither through kube-apiserver nor past it, and a token counts
// only if it is for the API.
func TestS23ClaimedIdentities(t *testing.T) {
	f := start(t)
	f.apply("asked", 0)
	f.view("asked", func(*v1alpha1.ApplicationRuntime) bool { return true })
	path := fmt.Sprintf("/apis/%s/%s/namespaces/%s/applications/asked", group, version, f.namespace)
	user := f.client("half", rule(group, "applications", "get"), rule(v1.GroupName, "applications", "get")) // no pods
	for name, headers := range map[string]map[string]string{
		"none":         {},
		"front proxy":  {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"},
		"another name": {"X-Remote-Uid": "1", "X-Remote-Extra-Scopes": "all", "X-Remote-Groups": "system:masters"},
	} {
		request := user.RESTClient().Get().AbsPath(path)
		for header, value := range headers {
			request = request.SetHeader(header, value)
		}
		if _, err := request.DoRaw(t.Context()); code(err) != http.StatusForbidden {
			t.Errorf("through kube-apiserver, with the headers of %s: %v, want 403", name, err)
		}
	}

	account, err := f.kube.CoreV1().ServiceAccounts(f.namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "caller"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	token := func(audiences ...string) string {
		t.Helper()
		request, err := f.kube.CoreV1().ServiceAccounts(f.namespace).CreateToken(t.Context(), account.Name, &authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{Audiences: audiences},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + request.Status.Token
	}
	//nolint:gosec // The test is about the client's identity, not the server's.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	for name, test := range map[string]struct {
		headers map[string]string
		want    int
	}{
		"a token":                      {map[string]string{"Authorization": token()}, 403},
		"a token for others":           {map[string]string{"Authorization": token("vault")}, 401},
		"a wrong token":                {map[string]string{"Authorization": "Bearer wrong"}, 401},
		"a token and impersonation":    {map[string]string{"Authorization": token(), "Impersonate-User": "admin", "Impersonate-Group": "system:masters"}, 403},
		"a token and the front proxy":  {map[string]string{"Authorization": token(), "X-Remote-User": "admin", "X-Remote-Group": "system:masters"}, 403},
		"nothing but impersonation":    {map[string]string{"Impersonate-User": "admin", "Impersonate-Group": "system:masters"}, 403},
		"nothing but a user in a name": {map[string]string{"X-Remote-User": "system:kube-aggregator"}, 403},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d%s", shared.port, path), nil)
		if err != nil {
			t.Fatal(err)
		}
		for header, value := range test.headers {
			request.Header.Set(header, value)
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if response.StatusCode != test.want {
			t.Errorf("past kube-apiserver, with %s: %s, want %d", name, response.Status, test.want)
		}
	}
}
