// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ext stands in for a module that Traefik has not published: what others may add to its configuration, here nothing.
package ext

// HTTP is added to the configuration of HTTP.
type HTTP struct{}

// Router is added to the configuration of a router.
type Router struct{}
