// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"errors"
	"testing"
	"time"
)

// TestTerms finds the writes of two runs of the controller in one another's term.
func TestTerms(t *testing.T) {
	t.Parallel()
	// sentBy is, in the order of arrival, who sent a write and when.
	type sentBy struct {
		identity string
		second   int
	}
	for _, test := range []struct {
		name   string
		writes []sentBy
		broken bool
	}{
		{"one after the other", []sentBy{{"a", 1}, {"a", 2}, {"b", 3}, {"c", 4}}, false},
		{"sent before and arrived late", []sentBy{{"a", 1}, {"b", 3}, {"a", 2}, {"b", 4}}, false},
		{"sent after the successor", []sentBy{{"a", 1}, {"b", 2}, {"a", 3}}, true},
		{"long after", []sentBy{{"a", 1}, {"b", 2}, {"c", 3}, {"a", 4}}, true},
		{"none", nil, false},
	} {
		var writes []write
		for _, w := range test.writes {
			writes = append(writes, write{identity: w.identity, sent: time.Unix(int64(w.second), 0)})
		}
		err := terms(writes)
		if broken := errors.As(err, new(*violation)); broken != test.broken {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
