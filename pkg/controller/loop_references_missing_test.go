// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// Without its Secret an Application does not start; its other children are there, and it says what
// it waits for. It goes on by the event.
func TestMissingSecret(t *testing.T) {
	inWorld(t, setup{begin: withApplications(using("web", "db"))}, func(w *world) {
		pass(time.Minute)
		if w.deployment("web") != nil {
			w.Error("there is a Deployment without its Secret")
		}
		if applytest.Get[*corev1.Service](w.server, child.Service, namespace, "web") == nil {
			w.Error("there is no Service")
		}
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConfigMissing)
		w.wantMessage("web", "Secret db does not exist; no pod starts without it.")
		if got, want := w.told(), []string{"Warning ConfigMissing Secret db does not exist; no pod starts without it."}; !slices.Equal(got, want) {
			w.Errorf("Events %q, want %q", got, want)
		}
		applytest.Put(w.server, applytest.Secrets, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "db"}})
		pass(time.Second)
		w.wantMessage("web", `Secret db has no key "password"; no pod starts without it.`)
		w.setPasswordOf("db")
		pass(debounceAfter)
		if w.deployment("web") == nil || w.hash("web") == "" {
			w.Fatal("there is no Deployment, or none with a hash")
		}
		w.pods("web", 1)
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
		if got := w.rollouts("web"); got != 1 {
			w.Errorf("generation %d, want 1", got)
		}
		syncs := len(w.log.find("Synced"))
		pass(time.Hour)
		if got := len(w.log.find("Synced")); got != syncs {
			w.Errorf("%d syncs while nothing happened", got-syncs)
		}
	})
}

func (w *world) setPasswordOf(name string) {
	w.Helper()
	applytest.Edit(w.server, applytest.Secrets, namespace, name, func(s *corev1.Secret) { s.Data = map[string][]byte{"password": []byte("x")} })
}

func (w *world) wantMessage(name, part string) {
	w.Helper()
	got := meta.FindStatusCondition(w.application(name).Status.Conditions, v1.ConditionReady)
	if got == nil || !strings.Contains(got.Message, part) {
		w.Errorf("%s: Ready is %+v, want a message with %q", name, got, part)
	}
}

// A Secret that goes away stops no pod, and one that a new spec asks for lets the old pods run.
func TestSecretGoesMissing(t *testing.T) {
	inWorld(t, setup{begin: withSecrets([]*corev1.Secret{secret("db", "one")}, using("web", "db"))}, func(w *world) {
		pass(time.Minute)
		w.pods("web", 1)
		pass(time.Minute)
		// Replaced, as some tools do: nobody hears of it.
		w.told()
		w.server.Delete(applytest.Secrets, namespace, "db")
		pass(time.Second)
		applytest.Put(w.server, applytest.Secrets, secret("db", "one"))
		pass(time.Minute)
		if got := w.told(); len(got) > 0 || w.rollouts("web") != 1 {
			w.Errorf("the same content under another UID: %v, generation %d", got, w.rollouts("web"))
		}
		w.server.Delete(applytest.Secrets, namespace, "db")
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConfigMissing)
		const gone = "Secret db does not exist; running pods stay as they are, and new ones that need it wait."
		w.wantMessage("web", gone)
		if got, want := w.told(), []string{"Warning ConfigMissing " + gone}; !slices.Equal(got, want) {
			w.Errorf("Events %q, want %q", got, want)
		}
		w.edit("web", func(a *v1.Application) { a.Spec.Replicas = new(int32(3)) })
		pass(time.Minute)
		if got := *w.deployment("web").Spec.Replicas; got != 3 {
			w.Errorf("%d replicas, want 3: scaling starts no other pods", got)
		}
		applytest.Put(w.server, applytest.Secrets, secret("db", "one"))
		pass(time.Minute)
		w.pods("web", 3)
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)

		w.edit("web", func(a *v1.Application) { a.Spec.Image = "web:2"; a.Spec.Env = using("web", "db", "new").Spec.Env })
		pass(time.Minute)
		w.wantMessage("web", "Secret new does not exist")
		if got := w.image("web"); got == "web:2" {
			w.Error("the pods were replaced although a Secret is missing")
		}
		applytest.Put(w.server, applytest.Secrets, secret("new", "one"))
		pass(time.Minute)
		if got := w.image("web"); got != "web:2" {
			w.Errorf("the pods run %s, want web:2", got)
		}
	})
}

// A restart that waited for a Secret replaces the pods once, with the new content.
func TestRolloutThatWaitedHasTheNewContent(t *testing.T) {
	inWorld(t, setup{begin: withSecrets([]*corev1.Secret{secret("db", "one")}, using("web", "db"))}, func(w *world) {
		pass(time.Minute)
		w.pods("web", 1)
		pass(time.Minute)
		before := w.hash("web")
		w.server.Delete(applytest.Secrets, namespace, "db")
		pass(time.Minute)
		w.edit("web", func(a *v1.Application) {
			a.Spec.PodMetadata = &v1.PodMetadata{Annotations: map[string]string{v1.AnnotationRestartedAt: "now"}}
		})
		pass(time.Minute)
		w.wantMessage("web", "Secret db does not exist")
		w.told()
		other := secret("db", "two")
		delete(other.Data, "password")
		applytest.Put(w.server, applytest.Secrets, other)
		pass(time.Minute)
		w.wantMessage("web", `Secret db has no key "password"`)
		if got := w.rollouts("web"); got != 1 {
			w.Errorf("generation %d, want 1: the pods were replaced although a key is missing", got)
		}
		w.server.Delete(applytest.Secrets, namespace, "db")
		pass(time.Minute)
		applytest.Put(w.server, applytest.Secrets, secret("db", "two"))
		pass(time.Minute)
		if got := w.rollouts("web"); got != 2 || w.hash("web") == before {
			w.Errorf("generation %d with hash %s, want 2 and another than %s", got, w.hash("web"), before)
		}
	})
}

// An optional Secret need not be there, and rolls the pods when it comes.
func TestOptionalSecret(t *testing.T) {
	web := using("web", "db")
	web.Spec.Env[0].ValueFrom.SecretKeyRef.Optional = new(true)
	inWorld(t, setup{begin: withApplications(web)}, func(w *world) {
		pass(time.Minute)
		if w.rollouts("web") != 1 {
			w.Fatal("there is no Deployment")
		}
		applytest.Put(w.server, applytest.Secrets, secret("db", "one"))
		pass(time.Minute)
		if got := w.rollouts("web"); got != 2 {
			w.Errorf("generation %d, want 2", got)
		}
	})
}

// Without the permission for Secrets all else works, nothing is tried again and again, and a
// condition says what does not work.
func TestSecretsNotPermitted(t *testing.T) {
	asked := 0
	access := func(_ context.Context, resource schema.GroupResource, _ string) (bool, error) {
		asked++
		if asked < 3 {
			return false, fmt.Errorf("not yet")
		}
		return resource.Resource != "secrets", nil
	}
	inWorld(t, setup{access: access, begin: withSecrets([]*corev1.Secret{secret("db", "one")}, using("web", "db"))}, func(w *world) {
		pass(time.Hour)
		if w.deployment("web") == nil || w.hash("web") != "" {
			w.Fatal("there is no Deployment, or it has a hash")
		}
		w.wantCondition("web", v1.ConditionConfigWatched, metav1.ConditionFalse, v1.ReasonConfigNotReadable)
		if got := w.count(func(r applytest.Request) bool { return r.Kind == applytest.Secrets }); got != 0 || asked != 3 {
			w.Errorf("%d requests about Secrets, want none; asked %d times for the permission, want 3", got, asked)
		}
	})
}

// The same where the answer was yes, and the payload is refused all the same: the pods stay.
func TestPayloadNotPermitted(t *testing.T) {
	inWorld(t, setup{begin: withSecrets([]*corev1.Secret{secret("db", "one")}, using("web", "db"))}, func(w *world) {
		pass(time.Minute)
		before := w.hash("web")
		w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			if payloadReads(r) {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, r.Name, fmt.Errorf("no"))
			}
			return nil
		})
		w.setPassword("db", "two")
		pass(time.Minute)
		if w.rollouts("web") != 1 || w.hash("web") != before {
			w.Error("the pods were replaced")
		}
		w.wantCondition("web", v1.ConditionConfigWatched, metav1.ConditionFalse, v1.ReasonConfigNotReadable)
	})
}
