// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"net/http"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// The seeds are in testdata/fuzz: `go test -fuzz=FuzzMutate ./pkg/admission` goes on from them.

// FuzzReview sends any body: the answer is a review or says what is wrong, and nothing panics.
func FuzzReview(f *testing.F) {
	h := (&cluster{}).handler(f)
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{MutatePath, ValidatePath} {
			switch got := post(t, h, path, body); got.Code {
			case http.StatusOK:
				var answer admissionv1.AdmissionReview
				if err := json.Unmarshal(got.Body.Bytes(), &answer); err != nil || answer.Response == nil || answer.Response.UID == "" {
					t.Errorf("the answer is %s (%v)", got.Body, err)
				}
			case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
			default:
				t.Errorf("%d: %s", got.Code, got.Body)
			}
		}
	})
}

// FuzzMutate sends any JSON as an Application: the patch can be applied, and there is none for what
// comes out.
func FuzzMutate(f *testing.F) {
	h := (&cluster{}).handler(f)
	f.Fuzz(func(t *testing.T, object string) {
		if !json.Valid([]byte(object)) {
			t.Skip("the API server sends JSON")
		}
		question := review(t, application(nil), nil).Request
		question.Object = runtime.RawExtension{Raw: []byte(object)}
		response, err := h.mutate(t.Context(), question)
		if err != nil || len(response.Patch) == 0 {
			return
		}
		var operations []operation
		if err := json.Unmarshal(response.Patch, &operations); err != nil {
			t.Fatal(err)
		}
		subject, err := subjectOf(question)
		if err != nil {
			t.Fatal(err)
		}
		question.Object.Raw, err = json.Marshal(map[string]any{"spec": applied(t, subject.new.Spec, operations)})
		if err != nil {
			t.Fatal(err)
		}
		if response, err = h.mutate(t.Context(), question); err != nil || len(response.Patch) > 0 {
			t.Errorf("asked again, the patch is %s (%v)", response.Patch, err)
		}
	})
}

// FuzzValidate sends any JSON as an Application, new and as a change of any other: nothing panics,
// what is refused says why, and a change of nothing is never refused.
func FuzzValidate(f *testing.F) {
	front := application(func(a *v1.Application) { a.Namespace, a.Name = "other", "front"; withRoute("web.example.com")(a) })
	h := (&cluster{stored: []*v1.Application{front}}).handler(f)
	f.Fuzz(func(t *testing.T, updated, old string) {
		if !json.Valid([]byte(updated)) || !json.Valid([]byte(old)) {
			t.Skip("the API server sends JSON")
		}
		question := review(t, application(nil), nil).Request
		question.Object = runtime.RawExtension{Raw: []byte(updated)}
		response, err := h.validate(t.Context(), question)
		if err != nil {
			return
		}
		if !response.Allowed && response.Result.Message == "" {
			t.Error("it is refused for no reason")
		}
		question.Operation, question.OldObject = admissionv1.Update, question.Object
		if response, err = h.validate(t.Context(), question); err != nil || !response.Allowed {
			t.Errorf("a change of nothing: %v, %s", err, messageOf(response))
		}
		question.OldObject = runtime.RawExtension{Raw: []byte(old)}
		if _, err = h.validate(t.Context(), question); err != nil && json.Unmarshal([]byte(old), new(object)) == nil {
			t.Errorf("a change of another: %v", err)
		}
	})
}
