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

// decider decides one request. An error means that no decision was possible, and refuses it.
type decider func(context.Context, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error)

// errBusy refuses a request before it is decoded.
var errBusy = errors.New("too many concurrent admission requests")

// serve is the HTTP around an answer: one review in, one review out.
//
// A request takes a slot only once its body has arrived. Until then a client, which may be any pod, has
// only opened a connection.
func (h *Handler) serve(webhook Webhook, decide decider) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		source := sourceOf(r)
		body := &accounted{ReadCloser: r.Body, bytes: h.bytes, source: source}
		defer body.release()
		r.Body = body
		content, problem := h.receive(w, r, source)
		if problem == nil && !h.slots.take(source, 1) {
			problem = busy()
		}
		if problem != nil {
			h.refuse(w, webhook, problem)
			return
		}
		defer h.slots.give(source, 1)
		h.work(w, r, webhook, content, decide)
	})
}

// work decodes and answers a review, in the slot of its request.
func (h *Handler) work(w http.ResponseWriter, r *http.Request, webhook Webhook, content []byte, decide decider) {
	start, operation, outcome := time.Now(), operationLabel(""), failed
	defer func() { h.config.Metrics.observe(webhook, operation, outcome, time.Since(start)) }()
	ctx, cancel := context.WithTimeout(r.Context(), timeoutOf(r))
	defer cancel()
	defer func() {
		if panicked := recover(); panicked != nil {
			h.recoverPanic(ctx, w, webhook, panicked)
		}
	}()
	review, err := h.codec.review(content)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	operation = operationLabel(review.Request.Operation)
	response, err := decide(ctx, review.Request)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Admission request failed", "webhook", webhook, "operation", operation,
			"application", klog.KRef(review.Request.Namespace, review.Request.Name), "requestUID", review.Request.UID)
		response = undecided(err)
	} else {
		outcome = decisionOf(response)
	}
	response.UID = review.Request.UID
	if err := write(w, response); err != nil {
		outcome = failed
		klog.FromContext(ctx).Error(err, "Cannot send the admission response", "webhook", webhook, "requestUID", response.UID)
	}
}

// recoverPanic turns a panic into 500: one request fails, all others continue. Nothing has been written
// yet, because the response is written at once at the end.
func (h *Handler) recoverPanic(ctx context.Context, w http.ResponseWriter, webhook Webhook, panicked any) {
	if err, ok := panicked.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(panicked) // net/http's own way to drop a connection
	}
	h.config.Metrics.panics.WithLabelValues(string(webhook)).Inc()
	klog.FromContext(ctx).Error(nil, "Panic in the admission webhook", "webhook", webhook,
		"panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
	http.Error(w, "panic in the admission webhook; see the log of the controller", http.StatusInternalServerError)
}

// timeoutOf returns the API server's timeout, less a tenth for the way back, and at most Timeout.
func timeoutOf(r *http.Request) time.Duration {
	asked, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || asked <= 0 {
		return Timeout
	}
	return min(asked-asked/10, Timeout)
}

// problem is why a request is not reviewed, with its HTTP status.
type problem struct {
	status int
	error
}

// busy asks the client to retry.
func busy() *problem { return &problem{http.StatusTooManyRequests, errBusy} }

// refuse responds to a request that is not reviewed. The API server repeats a 429 after Retry-After, within
// the webhook's timeout.
func (h *Handler) refuse(w http.ResponseWriter, webhook Webhook, problem *problem) {
	if problem.status == http.StatusTooManyRequests {
		h.config.Metrics.rejected.WithLabelValues(string(webhook)).Inc()
		w.Header().Set("Retry-After", "1")
	} else {
		h.config.Metrics.observe(webhook, operationLabel(""), failed, 0)
	}
	// Of a body that has not been read, the server would read the rest before it lets the connection go.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now())
	http.Error(w, problem.Error(), problem.status)
}

// receive reads the body of a request.
func (h *Handler) receive(w http.ResponseWriter, r *http.Request, source string) ([]byte, *problem) {
	if !h.bodies.take(source, 1) {
		return nil, busy()
	}
	defer h.bodies.give(source, 1)
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != contentType {
		return nil, &problem{http.StatusUnsupportedMediaType, fmt.Errorf("Content-Type is %q and must be %s", r.Header.Get("Content-Type"), contentType)}
	}
	body, err := readBody(w, r)
	if errors.Is(err, errBusy) {
		return nil, busy()
	}
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, &problem{http.StatusRequestEntityTooLarge, fmt.Errorf("the review is larger than %d bytes", tooLarge.Limit)}
	}
	if err != nil {
		return nil, &problem{http.StatusBadRequest, fmt.Errorf("read the review: %w", err)}
	}
	if len(body) == 0 {
		return nil, &problem{http.StatusBadRequest, errors.New("the review is empty")}
	}
	return body, nil
}

// readBody reads with a deadline of its own. Afterwards the server itself reads, to notice that the client is
// gone; a body that failed keeps its deadline, because the server would wait for the rest of it.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	controller := http.NewResponseController(w)
	deadline := controller.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil && deadline == nil {
		_ = controller.SetReadDeadline(time.Time{})
	}
	return body, err
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
