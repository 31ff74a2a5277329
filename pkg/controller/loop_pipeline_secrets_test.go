// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/debug/live"
)

// Whatever is served, what is secret is not in it: environment, content, annotations, messages.
func TestS19ViewTellsNoSecrets(t *testing.T) {
	const planted = "pl4nted"
	secretive := application("web")
	secretive.Annotations = map[string]string{"example.com/note": planted}
	secretive.Spec.Env = []corev1.EnvVar{{Name: "PASSWORD", Value: planted}, {Name: "KEY", ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "web-key"}, Key: "key"},
	}}}
	secretive.Spec.Args = []string{"--password=" + planted}
	secretive.Spec.Command = []string{planted}
	secretive.Spec.Config = &v1.Config{MountPath: "/etc/app", Data: map[string]string{"app.yaml": planted}}
	secretive.Spec.PodMetadata = &v1.PodMetadata{Annotations: map[string]string{"example.com/pod": planted}}
	secretive.Spec.LivenessProbe = &v1.Probe{HTTPGet: &v1.HTTPGetAction{
		Path: "/live", HTTPHeaders: []corev1.HTTPHeader{{Name: "Authorization", Value: planted}},
	}}
	inWorld(t, setup{pipeline: debug.New(), workers: 2}, func(w *world) {
		defer w.setup.pipeline.Viewing()()
		applytest.Put(w.server, applytest.Secrets, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-key", Annotations: map[string]string{"example.com/note": planted}},
			Data:       map[string][]byte{"key": []byte(planted)},
		})
		applytest.Put(w.server, child.ServiceAccount, &corev1.ServiceAccount{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web", Annotations: map[string]string{"example.com/note": planted}},
		})
		applytest.Put(w.server, applytest.Applications, secretive)
		pass(time.Minute)
		if failing := w.setup.pipeline.Snapshot().Failing; len(failing) != 1 || !strings.HasPrefix(failing[0].Error, "ServiceAccount web exists ") {
			t.Errorf("failing is %+v", failing)
		}
		w.server.Delete(child.ServiceAccount, namespace, "web")
		pass(time.Minute)
		// A refusal that quotes what it refuses.
		w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			if r.Verb == "patch" && r.Kind == child.Deployment {
				path := field.NewPath("spec", "template", "spec", "containers").Index(0).Child("env").Index(0)
				return apierrors.NewInvalid(r.Kind.GroupVersionKind().GroupKind(), r.Name, field.ErrorList{field.Invalid(path, planted, "it is "+planted)})
			}
			return nil
		})
		w.edit("web", func(a *v1.Application) {
			a.Annotations["example.com/note"] += "2"
			a.Spec.Env[0].Value += "2"
			a.Spec.Config.Data["app.yaml"] += "2"
		})
		applytest.Edit(w.server, applytest.Secrets, namespace, "web-key", func(s *corev1.Secret) { s.Data["key"] = []byte(planted + "2") })
		pass(time.Minute)
		refused := slices.ContainsFunc(w.timeline("web").Events, func(e debug.Event) bool {
			return e.Type == debug.TypeWrote && strings.Contains(e.Error, ".env[0]")
		})
		if !refused {
			t.Error("the refusal is not told")
		}

		handler := live.New(w.setup.pipeline, live.Options{})
		paths := []string{"snapshot", "events?limit=5000", "keys", "keys/shop/web", "queue", "cache"}
		for _, resource := range w.setup.pipeline.Caches().Resources {
			paths = append(paths, "cache/"+resource.Resource)
			if page, err := w.setup.pipeline.Cache(resource.Resource, debug.Lookup{}); err == nil {
				for _, object := range page.Objects {
					paths = append(paths, "cache/"+resource.Resource+"/"+object.Namespace+"/"+object.Name.Name)
				}
			}
		}
		for _, path := range paths {
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, live.Root+"v1/"+path, nil))
			body := answer.Body.String()
			if strings.Contains(body, planted) || strings.Contains(body, "managedFields") {
				t.Errorf("%s tells %s", path, body)
			}
			if answer.Code != http.StatusOK && !strings.Contains(path, "cache/secrets") {
				t.Errorf("%s: %d", path, answer.Code)
			}
		}
		if len(paths) < 20 {
			t.Errorf("only %q are looked at", paths)
		}
	})
}
