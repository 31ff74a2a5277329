// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certs makes and rotates the serving certificate of the webhooks and of the metrics.
//
// What exists is a [Bundle]: a CA, the leaf that it signed and that every replica serves, and the
// other CAs that clients must trust during a rotation. [Decide] returns the next action and when to decide again;
// it is pure, and the file to read first (decide.go).
//
// # The parts
//
//   - A [Store] has the bundle, and is what a server serves from: it implements
//     dynamiccertificates.CertKeyContentProvider. A [SecretStore] has it in a Secret, which every
//     replica watches; an [InMemoryStore] has it in this process, for running out of the cluster.
//   - The [Rotator] runs in the leader. Only it writes the bundle, and it keeps the caBundle of the
//     webhook configurations equal to the CAs of the bundle.
//   - [Healthy] and [RegisterMetrics] work on the served certificate, from any source.
//
// With certificates from elsewhere (cert-manager, which mounts files and injects the caBundle
// itself) there is neither store nor rotator: the server takes
// dynamiccertificates.NewDynamicServingContentFromFiles, and gives it to [Healthy] and
// [RegisterMetrics] too.
//
// # The order of a rotation
//
// A request is lost if a replica serves a leaf whose CA the API server does not trust yet, or no
// longer. So the CAs in the caBundle are always more than those that are served:
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
// An API server keeps a client for each pair of URL or Service and caBundle, with its connections.
// A new caBundle is a new client, so the first request after step 2 has a new handshake, verified against
// both CAs. An open connection does not notice a new leaf: it was verified when it was opened. So a
// rotation closes no connection; the leaf matters only in handshakes.
//
// # Damage
//
// The rotator repairs a Secret that was deleted or damaged. It keeps what is valid, in the Secret or in the
// memory of the leader, so that the served leaf stays trusted until its replacement is served. To revoke a CA at
// once, because its key has leaked, stop all replicas, delete the Secret and start them again: then no replica
// remembers it.
package certs
