// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation/corpus"
	appsclient "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/apps/v1"
)

// refuseAll lets a tenant try each case, and wants the webhook to refuse it with the recorded errors.
func (f *fixture) refuseAll(tenant appsclient.ApplicationInterface, cases []corpus.Case) {
	f.Helper()
	if len(cases) == 0 {
		f.Fatal("there is no case")
	}
	for _, c := range cases {
		application := &v1.Application{}
		if err := yaml.UnmarshalStrict([]byte(c.Object), application); err != nil {
			f.Fatalf("%s: %v", c.Name, err)
		}
		_, err := tenant.Create(f.Context(), application, metav1.CreateOptions{})
		if err == nil {
			f.Errorf("%s is accepted", c.Name)
			_ = tenant.Delete(f.Context(), application.Name, metav1.DeleteOptions{})
			continue
		}
		if !apierrors.IsInvalid(err) {
			f.Errorf("%s: %v", c.Name, err)
		}
		f.wantRefused(err, append([]string{"validate.applications.apps.fairlead.dev"}, c.Errors...)...)
	}
}

// hostile returns the cases of the corpus about a subject that only the webhook can refuse.
func (f *fixture) hostile(subject string) []corpus.Case {
	f.Helper()
	all, err := corpus.Cases()
	if err != nil {
		f.Fatal(err)
	}
	var chosen []corpus.Case
	for _, c := range all {
		if strings.HasPrefix(c.Name, subject) && c.Layer == corpus.Admission {
			chosen = append(chosen, c)
		}
	}
	return chosen
}

// S3: who somebody is, the API server says. What an object or a header claims changes nothing.
func TestS3ClaimedIdentity(t *testing.T) {
	f := serve(t)
	f.register()
	mallory := f.tenant("mallory")
	jane := f.tenant("jane", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{"powerful"}, Verbs: []string{"impersonate"}})
	claim := func(user string) func(*v1.Application) {
		return func(a *v1.Application) {
			a.Labels = map[string]string{"user": user, "example.com/owner": user}
			a.Annotations = map[string]string{}
			for _, key := range []string{
				"apps.fairlead.dev/requested-by", "apps.fairlead.dev/user", "kubernetes.io/created-by", "authentication.kubernetes.io/user",
				"impersonate-user", "kubectl.kubernetes.io/last-applied-by", "iam.amazonaws.com/role",
			} {
				a.Annotations[key] = user
			}
			a.ManagedFields = nil
			a.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ServiceAccount", Name: user, UID: "00000000-0000-0000-0000-000000000001"}}
		}
	}
	_, err := mallory.Create(t.Context(), f.application("web", account("powerful"), claim("jane")), metav1.CreateOptions{FieldManager: "jane"})
	f.wantRefused(err, "spec.serviceAccount.name", "mallory", "impersonate")
	if _, err := jane.Create(t.Context(), f.application("web", account("powerful"), claim("mallory")), dryRun); err != nil {
		t.Errorf("a claim to be less took a right away: %v", err)
	}
	// A header of the request names somebody else: that is Kubernetes' impersonation, for which the
	// tenant lacks the right. It needs a token of its own, since the other clients impersonate.
	token := f.token("intruder")
	config := f.cp.Config()
	config.TLSClientConfig.CertData, config.TLSClientConfig.KeyData, config.TLSClientConfig.CertFile, config.TLSClientConfig.KeyFile = nil, nil, "", ""
	config.BearerToken = token
	config.Impersonate.UserName = "jane"
	_, err = f.fairlead(config).Applications(f.namespace).Create(t.Context(), f.application("web", account("powerful")), metav1.CreateOptions{})
	if code := apierrors.ReasonForError(err); code != metav1.StatusReasonForbidden {
		t.Errorf("an impersonating request gets %v, want %d", err, http.StatusForbidden)
	}
}

// S4: with the webhooks, nothing privileged is stored: in no kind of container.
func TestS4PrivilegesAtTheRequest(t *testing.T) {
	f := serve(t)
	f.register()
	mallory := f.tenant("mallory")
	f.refuseAll(mallory, corpus.Forbidden())
	f.refuseAll(mallory, f.hostile("security/"))
	f.refuseAll(mallory, f.hostile("mounts/"))
}

// S9: neither an annotation of any child nor a path carries configuration, or host names of others, into a controller.
func TestS9RouteInjectionAtTheRequest(t *testing.T) {
	f := serve(t)
	f.register()
	mallory := f.tenant("mallory")
	f.refuseAll(mallory, f.hostile("routes/"))
	f.refuseAll(mallory, f.hostile("annotations/"))
}

// S10: no pod gets a label by which another Application selects.
func TestS10PodLabelsAtTheRequest(t *testing.T) {
	f := serve(t)
	f.register()
	f.refuseAll(f.tenant("mallory"), f.hostile("metadata/pod-"))
}

// S20: huge numbers and control characters are refused, by the schema or by the webhook.
func TestS20HugeNumbersAtTheRequest(t *testing.T) {
	f := serve(t)
	f.register()
	f.tenant("mallory")
	client := f.fairlead(f.cp.ConfigFor("mallory")).RESTClient()
	for _, spec := range []string{
		`"replicas":9223372036854775807`, `"replicas":1e99`, `"replicas":99999999999999999999999999`, `"replicas":-1`,
		`"minReadySeconds":2147483648`, `"terminationGracePeriodSeconds":9223372036854775807`, `"terminationGracePeriodSeconds":9223372036854775808`,
		`"ports":[{"name":"http","containerPort":4294967376}]`, `"ports":[{"name":"http","containerPort":65536}]`,
		`"securityContext":{"runAsUser":9223372036854775807}`, `"autoscaling":{"maxReplicas":2147483647}`,
		`"workingDir":"/a\nb"`, `"command":["a\u0000b"]`, `"env":[{"name":"A\nB","value":"x"}]`,
		`"livenessProbe":{"tcpSocket":{},"periodSeconds":2147483648}`,
		`"routes":[{"name":"a","hostnames":["a\r\nb.example.com"]}],"ports":[{"name":"http","containerPort":80}]`,
	} {
		body := `{"apiVersion":"apps.fairlead.dev/v1","kind":"Application","metadata":{"name":"web"},"spec":{"image":"registry.example.com/web:1",` + spec + `}}`
		err := client.Post().Namespace(f.namespace).Resource(v1.ApplicationResource).Body([]byte(body)).SetHeader("Content-Type", "application/json").Do(t.Context()).Error()
		if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
			t.Errorf("%s: %v; want it refused", spec, err)
		}
	}
	if _, err := f.apps().Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("something is stored: %v", err)
	}
}

// token makes a ServiceAccount that may write Applications, and returns a token of it.
func (f *fixture) token(name string) string {
	f.Helper()
	accounts := f.kube.CoreV1().ServiceAccounts(f.namespace)
	if _, err := accounts.Create(f.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
	f.tenant("system:serviceaccount:" + f.namespace + ":" + name)
	request, err := accounts.CreateToken(f.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		f.Fatal(err)
	}
	return request.Status.Token
}
