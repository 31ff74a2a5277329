// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// undecryptable is a way to an API server that cannot decrypt one of its Secrets: it answers lists and watches of them with an
// error, until it is repaired.
type undecryptable struct {
	next     http.RoundTripper
	repaired *atomic.Bool
}

func (u undecryptable) RoundTrip(request *http.Request) (*http.Response, error) {
	if u.repaired.Load() || request.Method != http.MethodGet || !strings.HasSuffix(request.URL.Path, "/secrets") {
		return u.next.RoundTrip(request)
	}
	status := apierrors.NewInternalError(errors.New("unable to transform key /registry/secrets/other/broken")).Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	body, err := json.Marshal(status)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusInternalServerError, Request: request, Body: io.NopCloser(strings.NewReader(string(body))),
		Header: http.Header{"Content-Type": {"application/json"}},
	}, nil
}

// TestF25SecretsThatCannotBeListed restarts a controller while no Secret can be listed: an Application that uses one is still
// repaired and rolled out, a new one starts, and both say that changes of their Secret are not seen. When the list works
// again, what has changed meanwhile replaces the pods.
func TestF25SecretsThatCannotBeListed(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.create(db, using)
	e.waitReady("web")
	e.stop()
	before := get[appsv1.Deployment](e, "web").Spec.Template.Annotations[v1.AnnotationSecretsHash]
	repaired := &atomic.Bool{}
	e.run(func(s *setup) {
		s.Config = func(config *app.Config) {
			config.Client.Wrap(func(next http.RoundTripper) http.RoundTripper { return undecryptable{next, repaired} })
		}
	})
	e.create(named(using, "new"))
	e.waitCondition("web", v1.ConditionConfigWatched, metav1.ConditionFalse, v1.ReasonConfigNotReadable)
	e.waitReady("new")
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" })
	edit(e, "db", func(s *corev1.Secret) { s.Data["password"] = []byte("two") })
	e.eventually("the new image is rolled out with the hash of before", func() (bool, string) {
		template := get[appsv1.Deployment](e, "web").Spec.Template
		return template.Spec.Containers[0].Image == "registry.example.com/web:2" && template.Annotations[v1.AnnotationSecretsHash] == before, describe(e.application("web"))
	})

	repaired.Store(true)
	for _, name := range []string{"web", "new"} {
		e.eventually(name+" follows its Secret again", func() (bool, string) {
			deployment := get[appsv1.Deployment](e, name)
			return deployment.Generation > 1 && deployment.Spec.Template.Annotations[v1.AnnotationSecretsHash] != before, describe(e.application(name))
		})
		e.waitReady(name)
	}
}
