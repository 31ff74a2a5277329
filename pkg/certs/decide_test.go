// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"strings"
	"testing"
	"time"
)

func TestDecide(t *testing.T) {
	first := fresh(t, start)
	stranger := fresh(t, start)
	withNext := do(t, first, CreateNextCA, start.Add(245*day))
	withNext = do(t, withNext, IssueLeaf, start.Add(245*day))
	promoted := do(t, withNext, Promote, start.Add(246*day))
	leafDueAt := due(first.Leaf.Certificate)
	caDueAt := due(first.CA.Certificate)

	for name, c := range map[string]struct {
		bundle Bundle
		now    time.Time
		change func(*Input)
		want   Action
		reason string
		at     time.Time
	}{
		"nothing there": {now: start, want: Regenerate, reason: "there is none"},
		"just made":     {bundle: first, now: start, want: Wait, at: leafDueAt},

		"leaf not yet due":            {bundle: first, now: leafDueAt.Add(-time.Second), want: Wait, at: leafDueAt},
		"leaf due":                    {bundle: first, now: leafDueAt, want: IssueLeaf, reason: "two thirds"},
		"leaf expired":                {bundle: first, now: start.Add(91 * day), want: IssueLeaf, reason: "expired"},
		"leaf missing":                {bundle: Bundle{CA: first.CA}, now: start, want: IssueLeaf, reason: "there is none"},
		"leaf without its key":        {bundle: Bundle{CA: first.CA, Leaf: KeyPair{Certificate: first.Leaf.Certificate}}, now: start, want: IssueLeaf, reason: "key is missing"},
		"leaf of a stranger":          {bundle: Bundle{CA: first.CA, Leaf: stranger.Leaf}, now: start, want: IssueLeaf, reason: "unknown authority"},
		"leaf is a CA":                {bundle: Bundle{CA: first.CA, Leaf: first.CA}, now: start, want: IssueLeaf, reason: "names of the leaf"},
		"clock behind by a little":    {bundle: first, now: start.Add(-10 * time.Minute), want: Wait, at: leafDueAt},
		"clock behind by much":        {bundle: first, now: start.Add(-day), want: Regenerate, reason: "not yet valid"},
		"only the leaf not yet valid": {bundle: do(t, first, IssueLeaf, start.Add(20*day)), now: start.Add(day), want: IssueLeaf, reason: "not yet valid"},
		"everything long expired":     {bundle: first, now: start.Add(1000 * day), want: Regenerate, reason: "expired"},
		"leaf expired, no CA, but the next one": {
			bundle: Bundle{Leaf: withNext.Leaf, Next: withNext.Next}, now: start.Add(246 * day), want: Promote, reason: "unknown authority",
		},

		"other names": {
			bundle: first, now: start, change: func(in *Input) { in.Names = ServiceNames("renamed", "fairlead-system") },
			want: IssueLeaf, reason: "names of the leaf",
		},
		"fewer names": {
			bundle: first, now: start, change: func(in *Input) { in.Names.DNSNames = in.Names.DNSNames[:1] },
			want: Wait, at: leafDueAt,
		},
		"other names, and a CA that cannot sign": {
			bundle: Bundle{Leaf: first.Leaf, CA: KeyPair{Certificate: first.CA.Certificate}}, now: start,
			change: func(in *Input) { in.Names = ServiceNames("renamed", "fairlead-system") },
			want:   CreateNextCA, reason: "key is missing",
		},

		"CA due": {
			bundle: do(t, first, IssueLeaf, caDueAt.Add(-day)), now: caDueAt, want: CreateNextCA, reason: "two thirds",
		},
		"CA gone, leaf good": {bundle: Bundle{Leaf: first.Leaf, Previous: first.CAs()}, now: start, want: CreateNextCA, reason: "there is none"},
		"next CA not trusted": {
			bundle: withNext, now: start.Add(246 * day), change: func(in *Input) { in.TrustedSince = time.Time{} },
			want: Wait, at: due(withNext.Leaf.Certificate),
		},
		"next CA not trusted for long": {
			bundle: withNext, now: start.Add(246 * day), change: func(in *Input) { in.TrustedSince = in.Now.Add(-time.Minute) },
			want: Wait, at: start.Add(246*day + 59*time.Minute),
		},
		"next CA trusted":        {bundle: withNext, now: start.Add(246 * day), want: Promote, reason: "two thirds"},
		"next CA without key":    {bundle: Bundle{Leaf: first.Leaf, CA: first.CA, Next: KeyPair{Certificate: stranger.CA.Certificate}}, now: start, want: Prune, reason: "next CA"},
		"promoted":               {bundle: promoted, now: start.Add(246 * day), want: Wait, at: due(promoted.Leaf.Certificate)},
		"previous CA still good": {bundle: do(t, promoted, IssueLeaf, start.Add(364*day)), now: start.Add(364 * day), want: Wait, at: expiry(first.CA.Certificate)},
		"previous CA expired":    {bundle: do(t, promoted, IssueLeaf, start.Add(364*day)), now: start.Add(366 * day), want: Prune, reason: "a CA has expired"},

		"leaf of another CA that is trusted": {
			bundle: Bundle{Leaf: stranger.Leaf, CA: first.CA, Previous: stranger.CAs()}, now: start.Add(day), want: IssueLeaf, reason: "another CA",
		},
		"leaf of another CA, new one not trusted": {
			bundle: Bundle{Leaf: stranger.Leaf, CA: first.CA, Previous: stranger.CAs()}, now: start.Add(day),
			change: func(in *Input) { in.TrustedSince = time.Time{} },
			want:   Wait, at: leafDueAt,
		},
		"nobody trusts the next CA until the end": {
			bundle: do(t, withNext, IssueLeaf, start.Add(300*day)), now: start.Add(360 * day),
			change: func(in *Input) { in.TrustedSince = time.Time{} },
			want:   Wait, at: expiry(first.CA.Certificate), // The leaf lives as long as its CA: a new one gains nothing.
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputAt(c.bundle, c.now)
			if c.change != nil {
				c.change(&in)
			}
			got := Decide(in)
			if got.Action != c.want || !strings.Contains(got.Reason, c.reason) || !got.At.Equal(c.at) {
				t.Errorf("got %s at %s because %q\nwant %s at %s because %q", got.Action, got.At, got.Reason, c.want, c.at, c.reason)
			}
		})
	}
}

// A year and a half without a disturbance, with a decision whenever Decide asks for one.
func TestTheLifeOfABundle(t *testing.T) {
	var b Bundle
	var happened []string
	now := start
	for now.Before(start.Add(500 * day)) {
		in := inputAt(b, now)
		in.TrustedSince = now.Add(-in.Policy.Overlap) // As if injected at once and looked at later.
		d := Decide(in)
		if d.Action == Wait {
			if !d.At.After(now) {
				t.Fatalf("%s: asked to wait until %s", now, d.At)
			}
			now = d.At
			continue
		}
		happened = append(happened, string(d.Action))
		b = do(t, b, d.Action, now)
		if got := len(b.CAs()); got > 2 {
			t.Errorf("%s: %d CAs after %s, want at most 2", now, got, d.Action)
		}
	}
	want := "Regenerate IssueLeaf IssueLeaf IssueLeaf IssueLeaf CreateNextCA Promote IssueLeaf IssueLeaf Prune IssueLeaf IssueLeaf CreateNextCA Promote"
	if got := strings.Join(happened, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPolicyValidation(t *testing.T) {
	good := DefaultPolicy()
	if err := good.validate(); err != nil {
		t.Errorf("the default policy: %v", err)
	}
	for name, change := range map[string]func(*Policy){
		"LeafValidity":     func(p *Policy) { p.LeafValidity = p.CAValidity / 3 }, // No room for Overlap.
		"Backdate":         func(p *Policy) { p.Backdate = p.LeafValidity },       // A new leaf would be due at once.
		"must be positive": func(p *Policy) { *p = Policy{} },
	} {
		bad := good
		change(&bad)
		if err := bad.validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: got %v, want an error about %s", bad, err, name)
		}
	}
}
