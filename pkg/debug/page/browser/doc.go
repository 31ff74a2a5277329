// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package browser has the tests that open the live pipeline view in a real browser: Chromium, without a window. Some of
// them ask a server that makes its events up, since it can be told what to say; the others ask a real controller, which
// works on a real control plane.
//
// What the tests saw is written as images to the directory that PAGE_SCREENSHOTS names, if it is set.
package browser
