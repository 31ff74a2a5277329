// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reference knows which ConfigMaps and Secrets the pods of an Application use, and turns
// their content into a hash. It is pure: it reads specs and objects that others have got.
package reference
