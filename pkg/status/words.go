// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// Before the registry's words the kubelet puts, every other time, its own.
	backOffPrefix = regexp.MustCompile(`^Back-off pulling image ".*?": (\w+: )?`)
	rpcError      = regexp.MustCompile(`rpc error: code = \w+ desc = `)
	// A connection that fails has another local port at each try.
	localPort = regexp.MustCompile(`(\S+):\d+->`)
	// Nobody should have credentials in a URL, but some do.
	credentials = regexp.MustCompile(`://[^/@\s]+@`)
	podName     = regexp.MustCompile(`^pods ".*?" is forbidden: `)
)

// words makes the message of the kubelet, the registry or the scheduler fit for a status: of one line, of
// bounded length, without secrets that an address may carry, and the same at each try.
func words(message string) string {
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
	return cut(squeeze(message, maxWords), maxWords)
}

// withoutPodName takes away the name of a pod that was not made: the next one has another.
func withoutPodName(message string) string { return podName.ReplaceAllString(message, "") }

// squeeze shortens a text in its middle. What others wrap around an error stands before it, so the cause
// is often at the end.
func squeeze(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const mark = " … "
	head := (most - len(mark)) / 3
	tail := len(text) - (most - len(mark) - head)
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + mark + text[tail:]
}
