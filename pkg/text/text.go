// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package text makes messages fit for a status: whole sentences of bounded length. Messages of other components become
// one line that stays the same while nothing changes. It also shows how to write a command line as a list.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence ends text with a period, if it has no end. It does not capitalize text, which may begin with a name.
func Sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "…") {
		return text
	}
	return text + "."
}

// Capitalize capitalizes the first letter of text.
func Capitalize(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// Enumerate joins the parts of a sentence: a, b and c.
func Enumerate(parts []string) string {
	last := len(parts) - 1
	if last < 1 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// Truncate shortens text to at most limit bytes of JSON, between two characters, and marks the cut.
func Truncate(text string, limit int) string {
	const mark = "…"
	text = strings.ToValidUTF8(text, "?")
	size, end := 0, 0
	for i, r := range text {
		if size <= limit-len(mark) {
			end = i
		}
		if size += jsonSizeOf(r); size > limit {
			if limit < len(mark) {
				return ""
			}
			return text[:end] + mark
		}
	}
	return text
}

// Shorten shortens text to at most limit characters, between two words if that keeps most of it, and marks the cut.
func Shorten(text string, limit int) string {
	runes := []rune(strings.ToValidUTF8(text, "?"))
	if len(runes) <= limit {
		return string(runes)
	}
	cut := string(runes[:limit-1])
	if space := strings.LastIndexByte(cut, ' '); space > len(cut)*2/3 {
		cut = cut[:space]
	}
	return strings.TrimRight(cut, " ,;:…") + "…"
}

// JSONSize returns how many bytes the texts take in JSON, without quotes.
func JSONSize(texts ...string) int {
	n := 0
	for _, text := range texts {
		for _, r := range text {
			n += jsonSizeOf(r)
		}
	}
	return n
}

// jsonSizeOf returns how many bytes a character takes in JSON. The API server escapes the special characters of HTML.
func jsonSizeOf(r rune) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t':
		return len(`\n`)
	case r < ' ', r == 0x7f, r == '<', r == '>', r == '&', r == '\u2028', r == '\u2029', r == utf8.RuneError:
		return len(`\u0000`)
	default:
		return utf8.RuneLen(r)
	}
}
