// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSentence(t *testing.T) {
	for given, want := range map[string]string{"": "", "  ": "", "x": "x.", "x.": "x.", "x!": "x!", "x…": "x…", " ä x ": "ä x."} {
		if got := Sentence(given); got != want {
			t.Errorf("%q: %q", given, got)
		}
	}
	for given, want := range map[string]string{"": "", "x y": "X y", "ä": "Ä", "X": "X"} {
		if got := Capitalize(given); got != want {
			t.Errorf("%q: %q", given, got)
		}
	}
}

func TestEnumerate(t *testing.T) {
	for want, parts := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := Enumerate(parts); got != want {
			t.Errorf("%q are enumerated as %q, want %q", parts, got, want)
		}
	}
}

func TestTruncateCountsJSON(t *testing.T) {
	for _, given := range []string{strings.Repeat("<", 100), strings.Repeat("é", 100), "a\x00" + strings.Repeat("\"", 100), strings.Repeat("x", 100)} {
		for _, most := range []int{0, 2, 3, 40, 99} {
			got := Truncate(given, most)
			if encoded, _ := json.Marshal(got); len(encoded)-len(`""`) > most {
				t.Errorf("Truncate(%.5q…, %d) takes %d bytes of JSON", given, most, len(encoded)-2)
			}
			if most >= 3 && !strings.HasSuffix(got, "…") {
				t.Errorf("Truncate(%.5q…, %d) = %q, want it to say that something is missing", given, most, got)
			}
		}
	}
}

func TestSanitize(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"lines", "a\r\n\tb\x00c\u202Ed", "a b c d"},
		{"not UTF-8", "a\xffb", "a?b"},
		{"long", strings.Repeat("x", 300), strings.Repeat("x", 83) + " … " + strings.Repeat("x", 168)},
		{"long, of wide characters", strings.Repeat("界", 100), strings.Repeat("界", 27) + " … " + strings.Repeat("界", 56)},
		{"as it is", "not found", "not found"},
	} {
		got := Sanitize(test.text, 256)
		if got != test.want || len(got) > 256 {
			t.Errorf("%s: %q (%d bytes), want %q", test.name, got, len(got), test.want)
		}
	}
}

func TestShorten(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"It fits twenty chars.":              "It fits twenty…",
		"Exactly twenty chars":               "Exactly twenty chars",
		"A clause, and more of it":           "A clause, and more…",
		"A clause (that … is cut already)":   "A clause (that…",
		"A cut in between … and more":        "A cut in between…",
		"Supercalifragilisticexpialidocious": "Supercalifragilisti…",
		"ééééééééééééééééééééé":              "ééééééééééééééééééé…",
	} {
		if got := Shorten(text, 20); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
