// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"regexp"
	"strconv"
	"strings"
)

const (
	// forShell are the characters that mean something to a shell outside of quotes, and forShellInQuotes those in double quotes.
	forShell         = "$`|&;<>()*?[~#!"
	forShellInQuotes = "$`"
	// escapable are the characters that a backslash escapes in double quotes.
	escapable = "$`\"\\\n"
)

// assignment is a word that sets a variable for the command behind it.
var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// ShellWords splits a command line into words as a POSIX shell does, without the quotes. It returns nil if a quote is open at the end. The
// line needs a shell if it has more than words, such as pipes and variables.
func ShellWords(line string) (words []string, needsShell bool) {
	var word strings.Builder
	var quote byte
	begun := false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		begun = false
		word.Reset()
	}
	for i := 0; i < len(line); i++ {
		letter := line[i]
		switch {
		case quote != 0 && letter == quote:
			quote = 0
			continue
		case letter == '\\' && quote != '\'' && i+1 < len(line):
			if line[i+1] == '\n' { // The line goes on.
				i++
				continue
			}
			i++
			if quote != 0 && !strings.ContainsRune(escapable, rune(line[i])) {
				word.WriteByte('\\')
			}
			letter = line[i]
		case quote == '"':
			needsShell = needsShell || strings.IndexByte(forShellInQuotes, letter) >= 0
		case quote != 0:
		case letter == '"' || letter == '\'':
			quote, begun = letter, true
			continue
		case letter == ' ' || letter == '\t' || letter == '\n':
			needsShell = needsShell || letter == '\n' && (begun || len(words) > 0) && strings.TrimSpace(line[i:]) != ""
			end()
			continue
		default:
			needsShell = needsShell || strings.IndexByte(forShell, letter) >= 0 || !begun && len(words) == 0 && assignment.MatchString(line[i:])
		}
		begun = true
		word.WriteByte(letter)
	}
	if quote != 0 {
		return nil, true
	}
	end()
	return words, needsShell
}

var (
	// plainItem is what YAML takes for a string without quotes, unless likeNumber or likeOther matches: YAML 1.1 has words for true and false.
	plainItem  = regexp.MustCompile(`^[A-Za-z0-9_./+-][A-Za-z0-9_./+@=%^-]*$`)
	likeNumber = regexp.MustCompile(`^[-+.]*\d[0-9a-fA-FxX_.oO+-]*$`)
	likeOther  = regexp.MustCompile(`(?i)^(y|n|yes|no|true|false|on|off|null|[-+]?\.inf|\.nan|-|---)$`)
)

// FlowList is a YAML list of strings on one line. Those that YAML would take for something else are in quotes.
func FlowList(items []string) string {
	quoted := make([]string, 0, len(items))
	for _, item := range items {
		if !plainItem.MatchString(item) || likeNumber.MatchString(item) || likeOther.MatchString(item) {
			item = quoteItem(item)
		}
		quoted = append(quoted, item)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// quoteItem prefers the quotes that need no escapes.
func quoteItem(item string) string {
	double := strconv.Quote(item)
	if double[1:len(double)-1] != item && !strings.ContainsAny(item, "\n\r\t") {
		return "'" + strings.ReplaceAll(item, "'", "''") + "'"
	}
	return double
}
