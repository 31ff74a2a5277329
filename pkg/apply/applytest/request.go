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

// Request is something that a client asked for. Verb is the one of RBAC.
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

// Writes reports whether the request is meant to change something.
func (r Request) Writes() bool {
	switch r.Verb {
	case "create", "update", "patch", "delete":
		return true
	default:
		return false
	}
}

// OnStatus reports whether the request is about the status subresource.
func (r Request) OnStatus() bool { return r.Subresource == "status" }

// Hook sees a request before it is carried out. An error is the answer, and nothing is done, unless
// it is an AnswerLostError.
type Hook func(ctx context.Context, r Request) error

type hook struct{ call Hook }

// AnswerLostError makes the server carry out the request and then answer with Err: the connection
// broke after the write.
type AnswerLostError struct{ Err error }

func (e AnswerLostError) Error() string { return e.Err.Error() }
func (e AnswerLostError) Unwrap() error { return e.Err }

// Intercept calls the hook for each request from now on, until the returned function is called.
// For requests of Client the hook may block. For those of Kube and Fairlead it must not: the fake
// clientsets of client-go hold a lock meanwhile.
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

// Requests returns the requests so far that the filter accepts, in their order.
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

// serve records the request, asks the hooks and carries it out.
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
