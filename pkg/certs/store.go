// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"errors"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// Store has the bundle. A server also serves from it: it provides the newest valid leaf that it knows, notifies its
// listeners of a new one, and keeps the last valid one when the stored bundle is deleted or damaged. Before there is one it
// provides nothing, and [Healthy] returns an error.
type Store interface {
	dynamiccertificates.CertKeyContentProvider
	// CABundle returns the CAs that belong to what is served, PEM encoded, as a client or a webhook
	// configuration wants them. Nil before there are any.
	CABundle() []byte

	// load returns what is stored now, which may be nothing.
	load(ctx context.Context) (stored, error)
	// save replaces what was loaded. It returns errConflict if that is no longer what is stored.
	save(ctx context.Context, loaded stored, data map[string][]byte) error
	// serve serves a bundle, without waiting for it to be seen in what is stored.
	serve(bundle Bundle, now time.Time) error
	// last is the last good bundle that was served.
	last() Bundle
}

// stored is what a Store has, encoded (see encode.go).
type stored struct {
	data    map[string][]byte
	version any
}

// errConflict means that another rotator has written in between; load again.
var errConflict = errors.New("the stored certificates have changed")
