// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission has the webhooks that the API server asks before it stores an Application: one
// writes what must be stored into the spec, the other one refuses what cannot work or is not allowed.
//
// It owns no rule of its own about the spec: those are in pkg/apis/apps/v1/validation, and the sync
// applies them again, because webhooks can be switched off, and race. What it adds is what only the
// moment of the request knows: who asks, and what the object was before.
//
// Reading order: admission.go has the way of a request; serve.go the HTTP around it, review.go the
// decoding; mutate.go and validate.go the two answers; references.go what the warnings are about.
// configuration.go is how the API server is told to ask, and register.go does the telling for a
// controller outside of the cluster.
//
// Nothing here writes an object, so a dry run needs no care.
package admission
