// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// program is what happens to one namespace, one step after the other.
type program []step

// step is a verb and its arguments, as in "delete a orphan".
type step []string

func (s step) String() string { return strings.Join(s, " ") }

func (p program) String() string {
	var b strings.Builder
	for _, s := range p {
		fmt.Fprintf(&b, "\t\t%s\n", s)
	}
	return b.String()
}

// verb is one thing that can happen.
type verb struct {
	name string
	// arguments are the words to choose from, for each argument.
	arguments [][]string
	do        func(ctx context.Context, w *world, arguments []string) error
}

// verbs are all that can happen: what users and other controllers do, and then the faults.
func verbs() []verb { return slices.Concat(operations(), faults()) }

// oneIn makes verbs rare that disturb all programs of the cluster: of so many that are drawn one counts.
func (v verb) oneIn() int {
	switch v.name {
	case "api":
		return 10
	case "outage":
		return 25
	default:
		return 1
	}
}

// parse reads a program, a step a line.
func parse(text string) (program, error) {
	var p program
	for line := range strings.Lines(text) {
		s := step(strings.Fields(line))
		if len(s) == 0 {
			continue
		}
		v, err := s.verb()
		if err != nil {
			return nil, err
		}
		if len(s)-1 != len(v.arguments) {
			return nil, fmt.Errorf("%q: %s has %d arguments", s, v.name, len(v.arguments))
		}
		for i, word := range s[1:] {
			if !slices.Contains(v.arguments[i], word) {
				return nil, fmt.Errorf("%q: argument %d is one of %q", s, i+1, v.arguments[i])
			}
		}
		p = append(p, s)
	}
	return p, nil
}

// verb finds the verb of the step.
func (s step) verb() (verb, error) {
	for _, v := range verbs() {
		if v.name == s[0] {
			return v, nil
		}
	}
	return verb{}, fmt.Errorf("%q: no such verb", s)
}

// disturbsAll reports whether the program does something to the cluster.
func (p program) disturbsAll() bool {
	return slices.ContainsFunc(p, func(s step) bool {
		v, err := s.verb()
		return err == nil && v.oneIn() > 1
	})
}

// draw returns the program of a seed: always the same one. It begins with an Application, since nothing
// happens without one.
func draw(seed, length int) program {
	steps := rapid.Custom(func(t *rapid.T) program {
		p := program{{"create", "a", rapid.SampledFrom(presetNames()).Draw(t, "preset")}}
		for len(p) < length {
			v := rapid.SampledFrom(verbs()).Draw(t, "verb")
			if rapid.IntRange(1, v.oneIn()).Draw(t, "rare") > 1 {
				continue
			}
			s := step{v.name}
			for _, words := range v.arguments {
				s = append(s, rapid.SampledFrom(words).Draw(t, v.name))
			}
			p = append(p, s)
		}
		return p
	})
	return steps.Example(seed)
}
