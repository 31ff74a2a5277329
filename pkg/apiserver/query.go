// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/conversion"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// convertLogOptions reads the query of a request for logs.
func convertLogOptions(from, into any, _ conversion.Scope) error {
	query, okFrom := from.(*url.Values)
	options, okInto := into.(*v1alpha1.ApplicationLogOptions)
	if !okFrom || !okInto {
		return fmt.Errorf("cannot convert %T to %T", from, into)
	}
	options.Container = query.Get("container")
	for name, field := range map[string]**int64{"sinceSeconds": &options.SinceSeconds, "tailLines": &options.TailLines} {
		if value := query.Get(name); value != "" {
			parsed, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return fmt.Errorf("%s=%q is not a number", name, value)
			}
			*field = &parsed
		}
	}
	return parseBools(query, map[string]*bool{"follow": &options.Follow, "previous": &options.Previous, "timestamps": &options.Timestamps})
}

// convertExecOptions reads the query of an exec.
func convertExecOptions(from, into any, _ conversion.Scope) error {
	query, okFrom := from.(*url.Values)
	options, okInto := into.(*v1alpha1.ApplicationExecOptions)
	if !okFrom || !okInto {
		return fmt.Errorf("cannot convert %T to %T", from, into)
	}
	options.Container, options.Command = query.Get("container"), (*query)["command"]
	return parseBools(query, map[string]*bool{"stdin": &options.Stdin, "stdout": &options.Stdout, "stderr": &options.Stderr, "tty": &options.TTY})
}

// convertPortForwardOptions reads the query of a port-forward.
func convertPortForwardOptions(from, into any, _ conversion.Scope) error {
	query, okFrom := from.(*url.Values)
	options, okInto := into.(*v1alpha1.ApplicationPortForwardOptions)
	if !okFrom || !okInto {
		return fmt.Errorf("cannot convert %T to %T", from, into)
	}
	for _, value := range (*query)["ports"] {
		port, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return fmt.Errorf("ports=%q is not a number", value)
		}
		options.Ports = append(options.Ports, int32(port))
	}
	return nil
}

func parseBools(query *url.Values, fields map[string]*bool) error {
	for name, field := range fields {
		value := query.Get(name)
		if value == "" {
			continue
		}
		parsed, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%s=%q is not true or false", name, value)
		}
		*field = parsed
	}
	return nil
}
