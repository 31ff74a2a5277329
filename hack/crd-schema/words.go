// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// words say what a pattern wants. The API server quotes a violated pattern, and few users read regular expressions.
var words = map[string]string{
	`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`:                                                         "must be lower-case letters, digits and '-', starting and ending with a letter or digit, such as my-name",
	`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`:                                                      "must be empty, or lower-case letters, digits and '-', starting and ending with a letter or digit, such as my-name",
	`^[a-z]([-a-z0-9]*[a-z0-9])?$`:                                                            "must be lower-case letters, digits and '-', starting with a letter and ending with a letter or digit, such as my-name",
	`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`:                       "must be lower-case letters, digits, '-' and '.', starting and ending with a letter or digit, such as my-name",
	`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`:                    "must be empty, or lower-case letters, digits, '-' and '.', starting and ending with a letter or digit, such as my-name",
	`^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`:                "must be a host name of lower-case letters, digits, '-' and '.', without scheme, port or path, such as web.example.com or *.example.com",
	`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`:           "must be a registry or a part of one, in lower case, without scheme, tag or *, such as ghcr.io/acme for all repositories below it",
	`^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$`:                                                   "must be letters, digits and '-', starting with a letter, such as Gateway",
	`^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`:                 "must be a kind, with its group behind a dot if it has one, such as Service",
	`^[a-zA-Z0-9][-a-zA-Z0-9_./]*\*?$`:                                                        "must be the key of an annotation, or its beginning and a *, such as example.com/*",
	`^(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?$`: "must be a duration such as 30s or 1m",
	quantityPattern: "must be a quantity, such as 500m for half a CPU, or 64Mi or 64M of memory",
	`^\S+$`:         "must be an image without spaces, such as registry.example.com/web:1.2",
	`^/`:            "must start with /",
	`^/[^:]+$`:      "must be an absolute path below /, without ':', such as /etc/web",
}

// instead says what to write instead of a value that a pattern refuses and that users are tempted to write, by the end of a path.
var instead = map[string]struct{ of, message string }{
	".limits.allowedRegistries.[items]":  {"*", "must not be *: leave allowedRegistries out to allow all images"},
	".limits.allowedHostnames.[items]":   {"*", "must not be *: leave allowedHostnames out to allow all names, or add a domain, as in *.example.com"},
	".limits.allowedAnnotations.[items]": {"*", "must not be *: leave allowedAnnotations out to allow all that need no full name, or write a prefix before it, such as example.com/*"},
	"spec.className":                     {"", "must not be empty: leave className out to get the default class of the namespace, if it has one"},
}

// explain replaces each pattern of a string or quantity by a rule that enforces the same and fails with words.
func explain(path string, schema node) error {
	for name, property := range children(schema) {
		if err := explain(path+"."+name, property); err != nil {
			return err
		}
	}
	pattern, has := schema["pattern"].(string)
	if !has {
		return nil
	}
	message, known := words[pattern]
	if !known || schema["maxLength"] == nil {
		return fmt.Errorf("%s: the pattern %s needs words, and a maxLength that bounds its cost", path, pattern)
	}
	rule := "self.matches(r'" + pattern + "')"
	if schema["x-kubernetes-int-or-string"] == true {
		rule = "type(self) != string || " + rule
	}
	rules, _ := schema["x-kubernetes-validations"].([]any)
	for end, value := range instead {
		if strings.HasSuffix(path, end) {
			rule = "self == '" + value.of + "' || " + rule
			rules = append(rules, node{"rule": "self != '" + value.of + "'", "message": value.message})
		}
	}
	delete(schema, "pattern")
	schema["x-kubernetes-validations"] = append([]any{node{"rule": rule, "message": message}}, rules...)
	return nil
}

// children are the schemas below one, by name.
func children(schema node) map[string]node {
	below := map[string]node{}
	properties, _ := schema["properties"].(node)
	for name, property := range properties {
		if property, ok := property.(node); ok {
			below[name] = property
		}
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if values, ok := schema[keyword].(node); ok {
			below["["+keyword+"]"] = values
		}
	}
	return below
}
