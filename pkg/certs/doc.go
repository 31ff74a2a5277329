// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certs makes and rotates the serving certificate of the webhooks and of the metrics.
//
// What exists is a [Bundle]: a CA, the leaf that it signed and that every replica serves, and the
// other CAs that clients have to trust while one follows the other. [Decide] says what is to be
// done next, and when to look again; it is pure, and the file to read first (decide.go).
//
// # The parts
//
//   - A [Store] has the bundle, and is what a server serves from: it implements
//     dynamiccertificates.CertKeyContentProvider. A [SecretStore] has it in a Secret, which every
//     replica watches; an [InMemoryStore] has it in this process, for running out of the cluster.
//   - The [Rotator] runs in the leader. It alone writes the bundle, and keeps the caBundle of the
//     webhook configurations equal to the CAs of the bundle.
//   - [Healthy] and [RegisterMetrics] work on what is served now, wherever it comes from.
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
//  1. The next CA is made and stored. Nothing is signed by it.
//  2. The caBundle of every webhook configuration gets both CAs.
//  3. When that has been so for [Policy].Overlap, which is time for every API server to notice, the
//     next CA becomes the CA, and signs a new leaf. Replicas serve it as soon as they see it.
//  4. The CA before stays in the caBundle until it expires. A leaf never outlives its CA, so by then
//     every leaf that it signed has expired too, even in a replica that missed the new one.
//
// A new leaf of the same CA needs none of that.
//
// An API server keeps a client for each pair of URL or Service and caBundle, with its connections.
// A new caBundle is a new client, so the first request after step 2 shakes hands anew and is verified
// against both CAs. A new leaf is not noticed by a connection that is already open: it was
// verified when it was opened, and goes on. So no connection has to be closed at a rotation, and
// what a server presents matters at handshakes alone.
//
// # Damage
//
// A Secret that was deleted, or of which some part cannot be used, is repaired. What is still good,
// there or in the memory of the leader, is kept, so that the leaf which is being served stays
// trusted until another one has replaced it. To get rid of a CA at once, because its key has leaked,
// stop all replicas, delete the Secret and start them again: then nobody remembers it.
package certs
