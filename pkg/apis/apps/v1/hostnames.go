// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "strings"

// CanonicalHost is a host name in the one form in which two of them are compared: in lower case, and
// without the dot at its end. Names with other characters than ASCII's are punycode in this API.
func CanonicalHost(hostname string) string {
	return strings.TrimSuffix(strings.ToLower(hostname), ".")
}

// HostCovers reports whether every name that the second host name stands for belongs to the first. A
// wildcard covers names of any depth, since a wildcard of the Gateway API matches several labels, and
// one of an Ingress one or several, as its controller likes.
func HostCovers(host, other string) bool {
	if domain, wildcard := strings.CutPrefix(host, "*"); wildcard {
		// domain begins with a dot, and there is something before it.
		return len(other) > len(domain) && strings.HasSuffix(other, domain)
	}
	return host == other
}

// HostsOverlap reports whether a request could be for both host names.
func HostsOverlap(a, b string) bool { return HostCovers(a, b) || HostCovers(b, a) }
