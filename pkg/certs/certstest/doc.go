// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certstest tries package certs on a real API server, which calls a real webhook.
package certstest
