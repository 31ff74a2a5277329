// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"errors"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// Store has the bundle. It is also what a server serves from: it gives the newest good leaf that it
// knows, tells its listeners about a new one, and keeps the last good one when what is stored is
// deleted or damaged. Before there is any it gives nothing, and [Healthy] says so.
type Store interface {
	dynamiccertificates.CertKeyContentProvider
	// CABundle returns the CAs that belong to what is served, PEM encoded, as a client or a webhook
	// configuration wants them. Nil before there are any.
	CABundle() []byte

	// load returns what is stored now, which may be nothing.
	load(ctx context.Context) (stored, error)
	// save replaces what was loaded. It returns errConflict if that is no longer what is stored.
	save(ctx context.Context, loaded stored, data map[string][]byte) error
	// take serves a bundle, without waiting for it to be seen in what is stored.
	take(bundle Bundle, now time.Time) error
	// last is the last good bundle that was served.
	last() Bundle
}

// stored is what a Store has, encoded (see encode.go).
type stored struct {
	data    map[string][]byte
	version any
}

// errConflict tells that somebody else has written in between. Load again.
var errConflict = errors.New("the stored certificates have changed in between")
