// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reference finds the ConfigMaps and Secrets that the pods of an Application use, and hashes their content. It
// is pure: callers pass it specs and objects.
package reference
