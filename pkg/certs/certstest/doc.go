// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certstest tests package certs on a real API server that calls a real webhook.
package certstest
