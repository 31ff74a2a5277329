// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

const contentType = "application/json"

// answer decides one request. An error means that no decision was possible, and refuses it.
type answer func(context.Context, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error)

// serve is the HTTP around an answer: one review in, one review out.
func (h *Handler) serve(webhook Webhook, answer answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case h.slots <- struct{}{}:
			defer func() { <-h.slots }()
		default:
			// The API server asks again after Retry-After, within the webhook's timeout.
			h.config.Metrics.rejected.WithLabelValues(string(webhook)).Inc()
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many admission requests at once", http.StatusTooManyRequests)
			return
		}
		start, operation, outcome := time.Now(), operationLabel(""), failed
		defer func() { h.config.Metrics.observe(webhook, operation, outcome, time.Since(start)) }()
		ctx, cancel := context.WithTimeout(r.Context(), timeoutOf(r))
		defer cancel()
		defer func() {
			if panicked := recover(); panicked != nil {
				h.survive(ctx, w, webhook, panicked)
			}
		}()

		review, problem := h.read(w, r)
		if problem != nil {
			http.Error(w, problem.Error(), problem.status)
			return
		}
		operation = operationLabel(review.Request.Operation)
		response, err := answer(ctx, review.Request)
		if err != nil {
			klog.FromContext(ctx).Error(err, "Admission request without a decision", "webhook", webhook, "operation", operation,
				"application", klog.KRef(review.Request.Namespace, review.Request.Name), "requestUID", review.Request.UID)
			response = undecided(err)
		} else {
			outcome = decisionOf(response)
		}
		response.UID = review.Request.UID
		if err := write(w, response); err != nil {
			outcome = failed
			klog.FromContext(ctx).Error(err, "Admission response was not written", "webhook", webhook, "requestUID", response.UID)
		}
	})
}

// survive turns a panic into 500: one request fails, the server and all others go on. Nothing has been
// written then, because the response is written at once at the very end.
func (h *Handler) survive(ctx context.Context, w http.ResponseWriter, webhook Webhook, panicked any) {
	if err, ok := panicked.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(panicked) // net/http's own way to drop a connection
	}
	h.config.Metrics.panics.WithLabelValues(string(webhook)).Inc()
	klog.FromContext(ctx).Error(nil, "Panic while answering an admission request", "webhook", webhook,
		"panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
	http.Error(w, "panic while answering the admission request; the log of the controller tells where", http.StatusInternalServerError)
}

// timeoutOf is what the API server says it waits for, less a tenth for the way back, and at most
// Timeout.
func timeoutOf(r *http.Request) time.Duration {
	asked, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || asked <= 0 {
		return Timeout
	}
	return min(asked-asked/10, Timeout)
}

// problem is a request that is no review.
type problem struct {
	status int
	error
}

// read returns the review of a request, with everything that is needed to answer it.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) (*admissionv1.AdmissionReview, *problem) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != contentType {
		return nil, &problem{http.StatusUnsupportedMediaType, fmt.Errorf("Content-Type is %q and must be %s", r.Header.Get("Content-Type"), contentType)}
	}
	body, err := readBody(w, r)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, &problem{http.StatusRequestEntityTooLarge, fmt.Errorf("the review is larger than %d bytes", tooLarge.Limit)}
	}
	if err != nil {
		return nil, &problem{http.StatusBadRequest, fmt.Errorf("read the review: %w", err)}
	}
	if len(body) == 0 {
		return nil, &problem{http.StatusBadRequest, errors.New("the review is empty")}
	}
	review, err := h.codec.review(body)
	if err != nil {
		return nil, &problem{http.StatusBadRequest, err}
	}
	return review, nil
}

// readBody reads with a deadline of its own, so that a client that sends slowly does not keep a slot.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	controller := http.NewResponseController(w)
	if err := controller.SetReadDeadline(time.Now().Add(Timeout)); err == nil {
		// Afterwards the server itself reads, to notice that the client is gone.
		defer func() { _ = controller.SetReadDeadline(time.Time{}) }()
	}
	return io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
}

// undecided refuses a request because something else failed, which may work again soon.
func undecided(err error) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Result: &metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusServiceUnavailable,
		Reason:  metav1.StatusReasonServiceUnavailable,
		Message: err.Error(),
	}}
}

func decisionOf(response *admissionv1.AdmissionResponse) decision {
	if response.Allowed {
		return allowed
	}
	return denied
}

func write(w http.ResponseWriter, response *admissionv1.AdmissionResponse) error {
	review := admissionv1.AdmissionReview{Response: response}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	body, err := json.Marshal(review)
	if err != nil {
		http.Error(w, "encode the response", http.StatusInternalServerError)
		return fmt.Errorf("encode the response: %w", err)
	}
	w.Header().Set("Content-Type", contentType)
	if _, err := w.Write(body); err != nil {
		return fmt.Errorf("send the response: %w", err)
	}
	return nil
}
