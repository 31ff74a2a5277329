// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package payload is the only place that reads the content of ConfigMaps and Secrets. It returns a
// hash and the names of the keys; the content is dropped at once. It is never logged, however high
// the level of logging is, and no error names any of it.
package payload
