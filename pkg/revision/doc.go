// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package revision keeps the history of what the pods were, and decides when a former state is put
// back. It is pure: values in, values out.
//
// A revision is what the effective spec says about the pods, and the hashes of the ConfigMaps and
// Secrets that they use. It is stored as a ControllerRevision <application>-<hash of the
// spec>[-<hash of the references>], whose number grows with each change of the pods; going back to a
// former state gives its object a new number. A sync asks twice: Choose says whether the pods are as
// the spec says or as the last healthy revision was, before it is known what they refer to; Record
// says which revision that is.
//
// Nothing is remembered but in the API: what runs and what was given up is written on the Deployment
// together with the pod template, and the number of the last healthy revision is in the status. The status
// repeats the numbers of the others, for a Deployment that another client deletes or strips of its annotations.
package revision
