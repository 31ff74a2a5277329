// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package applytest

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/pkg/child"
)

// Request is a request of a client. Verb is the RBAC verb.
type Request struct {
	Verb        string
	Kind        child.Kind
	Subresource string
	Namespace   string
	Name        string
	PatchType   types.PatchType
	Manager     string
	Body        []byte
}

// Writes reports whether the request may change an object.
func (r Request) Writes() bool {
	switch r.Verb {
	case "create", "update", "patch", "delete":
		return true
	default:
		return false
	}
}

// OnStatus reports whether the request is for the status subresource.
func (r Request) OnStatus() bool { return r.Subresource == "status" }

// Hook is called before the server carries out a request. If it returns an error, the server does nothing and returns
// the error, unless it is an AnswerLostError.
type Hook func(ctx context.Context, r Request) error

type hook struct{ call Hook }

// AnswerLostError makes the server carry out the request and then return Err, as if the connection broke after the
// write.
type AnswerLostError struct{ Err error }

func (e AnswerLostError) Error() string { return e.Err.Error() }
func (e AnswerLostError) Unwrap() error { return e.Err }

// Intercept calls the hook for each request until the returned function is called. The hook may block requests of
// Client, but not those of Kube and Fairlead: client-go's fake clientsets hold a lock meanwhile.
func (s *Server) Intercept(call Hook) (remove func()) {
	h := &hook{call}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks = append(s.hooks, h)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hooks = slices.DeleteFunc(slices.Clone(s.hooks), func(other *hook) bool { return other == h })
	}
}

// Requests returns the requests so far that the filter accepts, in order.
func (s *Server) Requests(accept func(Request) bool) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var accepted []Request
	for _, r := range s.requests {
		if accept(r) {
			accepted = append(accepted, r)
		}
	}
	return accepted
}

// serve records the request, calls the hooks and carries the request out.
func (s *Server) serve(ctx context.Context, r Request, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	s.requests = append(s.requests, r)
	hooks := s.hooks
	s.mu.Unlock()
	var lost error
	for _, h := range hooks {
		err := h.call(ctx, r)
		var answerLost AnswerLostError
		switch {
		case errors.As(err, &answerLost):
			lost = answerLost.Err
		case err != nil:
			return err
		}
	}
	s.mu.Lock()
	err := do()
	s.mu.Unlock()
	if lost != nil {
		return lost
	}
	return err
}
