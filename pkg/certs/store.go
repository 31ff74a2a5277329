// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"errors"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// Store keeps the bundle. A server also serves from it: the Store provides the newest valid leaf that it knows, and
// notifies its listeners of a new one. It keeps the last valid leaf when the stored bundle is deleted or damaged.
// Before the first one it provides nothing, and [Healthy] returns an error.
type Store interface {
	dynamiccertificates.CertKeyContentProvider
	// CABundle returns the CAs of the served bundle, PEM encoded, for a client or a webhook configuration. It is nil
	// before there are any.
	CABundle() []byte

	// load returns the stored bundle, which may be empty.
	load(ctx context.Context) (stored, error)
	// save replaces the bundle that load returned. It returns errConflict if the stored bundle has changed since.
	save(ctx context.Context, loaded stored, data map[string][]byte) error
	// serve serves a bundle at once, without waiting for the watch.
	serve(bundle Bundle, now time.Time) error
	// last returns the last good bundle that was served.
	last() Bundle
}

// stored is an encoded bundle (see encode.go), and the version of the object that has it.
type stored struct {
	data    map[string][]byte
	version any
}

// errConflict means that another rotator wrote in between. The caller loads again.
var errConflict = errors.New("the stored certificates have changed")
