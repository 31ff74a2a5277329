// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// The kubelet alternates between its own message, which has this prefix, and the registry's.
	backOffPrefix = regexp.MustCompile(`^Back-off pulling image ".*?": (\w+: )?`)
	rpcError      = regexp.MustCompile(`rpc error: code = \w+ desc = `)
	// A failed connection has another local port at each attempt.
	localPort = regexp.MustCompile(`(\S+):\d+->`)
	// A URL should have no credentials, but some do.
	credentials = regexp.MustCompile(`://[^/@\s]+@`)
	podName     = regexp.MustCompile(`^pods ".*?" is forbidden: `)
	invalidPod  = regexp.MustCompile(`^Pod ".*?" is invalid: `)
)

// Sanitize makes a message of the kubelet, the registry or the scheduler fit for a status: one line of at most limit
// bytes, without credentials from URLs, and the same at each attempt.
func Sanitize(message string, limit int) string {
	message = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(message, "?"))
	message = strings.Join(strings.Fields(message), " ")
	message = backOffPrefix.ReplaceAllString(message, "")
	message = rpcError.ReplaceAllString(message, "")
	message = localPort.ReplaceAllString(message, "$1->")
	message = credentials.ReplaceAllString(message, "://***@")
	return TruncateMiddle(message, limit)
}

// WithoutPodName removes the name of a pod that could not be created. The next attempt has another name.
func WithoutPodName(message string) string {
	return invalidPod.ReplaceAllString(podName.ReplaceAllString(message, ""), "the pod is invalid: ")
}

// TruncateMiddle cuts out the middle of text, so that at most limit bytes of JSON remain. Callers wrap an error by
// writing before it, so the cause is often at the end.
func TruncateMiddle(text string, limit int) string {
	if len(text) <= limit {
		return Truncate(text, limit)
	}
	const mark = " … "
	head := (limit - len(mark)) / 3
	tail := len(text) - (limit - len(mark) - head)
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return Truncate(text[:head]+mark+text[tail:], limit)
}
