// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certs creates and rotates the serving certificate of the webhooks and the metrics.
//
// A [Bundle] holds a CA, the leaf that it signed and that every replica serves, and the other CAs that clients
// must trust during a rotation. [Decide] returns the next action and when to decide again. It is pure; start
// reading there (decide.go).
//
// # The parts
//
//   - A [Store] keeps the bundle and provides the server with its certificate: it implements
//     dynamiccertificates.CertKeyContentProvider. A [SecretStore] keeps the bundle in a Secret that every
//     replica watches. An [InMemoryStore] keeps it in this process, for a controller outside the cluster.
//   - The [Rotator] runs in the leader. Only the Rotator writes the bundle. It also keeps the caBundle of the
//     webhook configurations equal to the CAs of the bundle.
//   - [Healthy] and [RegisterMetrics] work on the served certificate, from any source.
//
// If another component issues the certificates (cert-manager mounts files and injects the caBundle itself),
// there is neither store nor rotator: the server uses dynamiccertificates.NewDynamicServingContentFromFiles,
// and passes it to [Healthy] and [RegisterMetrics] too.
//
// # The order of a rotation
//
// A request is lost if a replica serves a leaf whose CA the API server does not trust yet, or no longer trusts.
// So the caBundle always has more CAs than the leaves in use need:
//
//  1. The rotator creates and stores the next CA, which signs nothing yet.
//  2. The caBundle of every webhook configuration gets both CAs.
//  3. After [Policy].Overlap, in which every API server observes this, the next CA becomes the current one and
//     signs a new leaf. Replicas serve it as soon as they observe it.
//  4. The previous CA stays in the caBundle until it expires. A leaf never outlives its CA, so by then
//     every leaf that it signed has expired too, even in a replica that missed the new one.
//
// A new leaf of the same CA needs none of these steps.
//
// An API server keeps one client, with its connections, for each pair of URL or Service and caBundle. After step
// 2 it therefore uses a new client, whose first request starts with a handshake that is verified against both
// CAs. A connection that is already open is not verified again. So a rotation closes no connection; the leaf
// matters only in handshakes.
//
// # Damage
//
// The rotator repairs a Secret that was deleted or damaged. It keeps what is valid, in the Secret or in the
// memory of the leader, so that clients trust the served leaf until its replacement is served. If the key of a CA
// has leaked, revoke the CA at once: stop all replicas, delete the Secret, and start the replicas again. Then none
// of them remembers the CA.
package certs
