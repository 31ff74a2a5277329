// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package revision keeps the history of the pods, and decides when a rollback restores a former state. It is pure.
//
// A revision is the part of the effective spec that the pods are rendered from, and the hashes of the ConfigMaps and
// Secrets that they use. It is stored as a ControllerRevision <application>-<hash of the spec>[-<hash of the
// references>]. Its number grows with each change of the pods. A return to a former state gives its object a new number.
// A sync calls the package twice: Select decides whether the pods are those of the spec or of a former revision, before
// the sync knows what they refer to. Record then names the revision.
//
// All state is in the API. The Deployment carries the names of its revision and of the failed one, in the same write as
// the pod template. The status has the number of the last healthy revision. It repeats the other numbers, in case
// another client deletes the Deployment or strips its annotations.
package revision
