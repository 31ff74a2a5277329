// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Cause describes an error without values that it quotes. The message of an API server repeats refused values, and a
// panic may repeat anything. So of an error, Cause uses only the fields with reason, status code and paths.
func Cause(err error) string {
	if err == nil {
		return ""
	}
	var causes []string
	each(err, func(single error) {
		if cause := causeOf(single); !slices.Contains(causes, cause) {
			causes = append(causes, cause)
		}
	})
	const limit = 5
	if len(causes) > limit {
		causes = append(causes[:limit], "…")
	}
	return strings.Join(causes, "; ")
}

// each visits the parts of joined errors, wrapped ones included.
func each(err error, visit func(error)) {
	for wrapped := err; wrapped != nil; wrapped = errors.Unwrap(wrapped) {
		if joined, ok := wrapped.(interface{ Unwrap() []error }); ok {
			for _, single := range joined.Unwrap() {
				each(single, visit)
			}
			return
		}
	}
	visit(err)
}

// SafeError is implemented by errors whose messages quote no values.
type SafeError interface {
	error
	SafeMessage() string
}

func causeOf(err error) string {
	var status apierrors.APIStatus
	var invalid *field.Error
	var safe SafeError
	var errno syscall.Errno
	var network net.Error
	switch {
	case errors.As(err, &safe):
		return safe.SafeMessage()
	case errors.As(err, &status):
		return statusCause(status.Status())
	case errors.As(err, &invalid):
		return fmt.Sprintf("%s: %s", invalid.Field, invalid.Type)
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.As(err, &errno):
		return errno.Error()
	case errors.As(err, &network) && network.Timeout():
		return "timeout"
	case errors.As(err, &network):
		return "network error"
	default:
		return "error; see the log"
	}
}

// statusCause describes a response of the API server.
func statusCause(status metav1.Status) string {
	var text strings.Builder
	reason := status.Reason
	if reason == metav1.StatusReasonUnknown {
		reason = "Error"
	}
	fmt.Fprintf(&text, "%s (%d)", reason, status.Code)
	if status.Details == nil {
		return text.String()
	}
	if status.Details.Kind != "" {
		fmt.Fprintf(&text, " of %s", strings.TrimSuffix(status.Details.Kind+"."+status.Details.Group, "."))
	}
	for _, cause := range status.Details.Causes {
		if cause.Field != "" {
			fmt.Fprintf(&text, ", %s: %s", withoutValue(cause.Field), cause.Type)
		}
	}
	return text.String()
}

func statusCode(err error) int {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}

// resultOf returns the result of a request, in one word.
func resultOf(err error) string {
	if err == nil {
		return "Success"
	}
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return string(reason)
	}
	return "Failed"
}
