// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission implements the webhooks that the API server calls before it stores an Application.
// The mutating one writes defaults into the spec; the validating ones refuse what cannot work or is not
// allowed, and warn of what may be a mistake.
//
// The rules about the spec are in pkg/apis/apps/v1/validation. The sync applies them again, because
// webhooks can be off, and race. This package adds what only the request knows: the requester, and the
// object before the change.
//
// Reading order: admission.go has the path of a request, serve.go the HTTP around it, review.go the
// decoding, mutate.go and validate.go the two responses. scale.go and classvalidate.go are about the scale
// subresource and ApplicationClasses; warnings.go, existing.go and classimpact.go have the warnings.
// configuration.go is the webhook configuration, and register.go installs it for a controller outside the
// cluster.
//
// Nothing here writes an object, so a dry run needs no special case.
package admission
