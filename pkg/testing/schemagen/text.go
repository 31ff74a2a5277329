// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package schemagen

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"pgregory.net/rapid"
)

// longName is as long as a label may be.
var longName = strings.Repeat("a", 62) + "z"

// words have a meaning somewhere. Failures shrink towards the first that fits.
var words = []string{
	"a", "http", "/a", "1", "25%", "web", "metrics", "cpu", "memory", "web.example.com", "*.example.com", "10.0.0.0/8", "10.0.0.0/31", "::/0", "30s", "1ms", "0", "100m", "64Mi",
	"", "/", "/shop", "/cache", "/etc/web", "a=b", "A", "-1", "0%", "100%", "101%", "99999999999%", "1e3", "1e1.5", "1e999", ".5e-.5", "0.5", "1E", "100E", "1n", "01", "1.", ".5", "65536",
	"Always", "Never", "TCP", "UDP", "SCTP", "Exists", "In", "NotIn", "NoSchedule", "NoExecute", "DoNotSchedule", "RollingUpdate", "Recreate", "ClientIP", "None", "ClusterIP",
	"RuntimeDefault", "Unconfined", "ALL", "NET_BIND_SERVICE", "Memory", "metadata.name", "limits.cpu", "Utilization", "AverageValue", "Resource", "Pods", "External", "Object",
	"kubernetes.io/hostname", "topology.kubernetes.io/zone", "example.com/gpu", "hugepages-2Mi", "registry.example.com/web:1", "Gateway", "Service", "Deployment",
	"kubernetes.io/ingress.class", "nginx.ingress.kubernetes.io/configuration-snippet", "app.kubernetes.io/name", "apps.fairlead.dev/application",
	"99999d", "0s", "2562048h", "1h1ms", "::1", "300.0.0.1/8", "010.0.0.0/8", "..", "../a", "/a/../b", "a.b", "a-", strings.Repeat("a.", 126) + "a",
}

// oddities are texts that no user writes on purpose: control characters, characters of several bytes, characters with
// a longer upper case, a change of the text's direction, and a long text.
var oddities = []string{"é", "😀", "ß", "İ", "\u202egnp", "\u0000", "\n", "\u2028", "\ufeff", "\ufffd", "%", "%zz", "{{.}}", "$(A)", "'", "\"", strings.Repeat("語", 4096)}

// text draws a string that the schema allows, if it finds one.
func (d drawer) text(s *schema.Structural) any {
	if isEnumeration(s) {
		return oneOf(d.t, "one of the enumeration", s.ValueValidation.Enum).Object
	}
	candidates := fitting(s)
	switch oneOf(d.t, "kind of text", []int{0, 1, 2, 3, 4, 5, 6, 7}) {
	case 4:
		if pattern := patternOf(s); pattern != "" {
			return rapid.StringMatching(pattern).Draw(d.t, "text")
		}
	case 5:
		return longest(s, oneOf(d.t, "text", candidates))
	case 6:
		return oneOf(d.t, "text", oddities)
	}
	return oneOf(d.t, "text", candidates)
}

// fitting returns the words that the schema allows, or one that it does not allow if there is none.
func fitting(s *schema.Structural) []string {
	var all []string
	for _, word := range words {
		if fits(s, word) {
			all = append(all, word)
		}
	}
	if len(all) == 0 {
		return words[:1]
	}
	return all
}

// patternOf returns the pattern of a text, which may be in a rule: see hack/crd-schema/words.go.
func patternOf(s *schema.Structural) string {
	for _, rule := range s.XValidations {
		if pattern, found := strings.CutPrefix(strings.TrimPrefix(rule.Rule, "type(self) != string || "), "self.matches(r'"); found {
			return strings.TrimSuffix(pattern, "')")
		}
	}
	if s.ValueValidation == nil {
		return ""
	}
	return s.ValueValidation.Pattern
}

var patterns sync.Map

func fits(s *schema.Structural, text string) bool {
	v := s.ValueValidation
	if v == nil {
		return true
	}
	length := int64(utf8.RuneCountInString(text))
	if v.MinLength != nil && length < *v.MinLength || v.MaxLength != nil && length > *v.MaxLength {
		return false
	}
	wanted := patternOf(s)
	if wanted == "" {
		return true
	}
	pattern, found := patterns.Load(wanted)
	if !found {
		pattern, _ = patterns.LoadOrStore(wanted, regexp.MustCompile(wanted))
	}
	expression, _ := pattern.(*regexp.Regexp)
	return expression.MatchString(text)
}

// longest returns a text as long as the schema allows, or far too long for a person.
func longest(s *schema.Structural, text string) string {
	most := 2048
	if v := s.ValueValidation; v != nil && v.MaxLength != nil {
		most = int(*v.MaxLength)
	}
	room := most - utf8.RuneCountInString(text)
	if room <= 0 {
		return text
	}
	for _, long := range []string{
		strings.Repeat("a.", room/2) + text, strings.Repeat("a", room) + text, text + strings.Repeat("a", room), text + strings.Repeat("0", room),
	} {
		if fits(s, long) {
			return long
		}
	}
	return text
}

// variation returns a different value of the same kind for each number and mark, if the schema has that many.
func variation(s *schema.Structural, value any, i int, mark rune) any {
	if isEnumeration(s) {
		enum := s.ValueValidation.Enum
		return enum[i%len(enum)].Object
	}
	switch value := value.(type) {
	case int64:
		if v := s.ValueValidation; v != nil && v.Maximum != nil && value+int64(i) > int64(*v.Maximum) {
			return value - int64(i)
		}
		return value + int64(i)
	case string:
		return textVariation(s, value, fmt.Sprintf("%c%d", mark, i))
	default:
		return value
	}
}

// textVariation inserts the tag where the schema allows it, and in a host name where the rules do. A text of maximum
// length loses a part of its beginning.
func textVariation(s *schema.Structural, text, tag string) string {
	host, isWildcard := strings.CutPrefix(text, "*.")
	if isWildcard {
		return "*." + tag + "-" + host
	}
	for _, other := range []string{tag + "-" + text, text + tag, "/" + tag + text, tag, "/" + tag} {
		if fits(s, other) {
			return other
		}
	}
	runes := []rune(text)
	if cut := len(tag) + 2; len(runes) > cut {
		for _, other := range []string{tag + "-" + string(runes[cut:]), "/" + tag + string(runes[cut:])} {
			if fits(s, other) {
				return other
			}
		}
	}
	return text + tag
}

// recased swaps the case of all letters in the texts of an item.
func recased(item any) any {
	switch item := item.(type) {
	case string:
		return swapCase(item)
	case map[string]any:
		for key, value := range item {
			if text, ok := value.(string); ok {
				item[key] = swapCase(text)
			}
		}
	}
	return item
}

func swapCase(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, text)
}
