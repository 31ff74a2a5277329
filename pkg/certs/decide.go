// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"crypto/x509"
	"fmt"
	"time"
)

// Action is one step of making, rotating or repairing certificates.
type Action string

const (
	// Wait: nothing is to be done before Decision.At.
	Wait Action = "Wait"
	// Regenerate creates a new CA and issues a leaf at once, because clients would accept nothing that is left.
	Regenerate Action = "Regenerate"
	// IssueLeaf issues a new leaf.
	IssueLeaf Action = "IssueLeaf"
	// CreateNextCA creates the next CA. Clients must trust it before it signs.
	CreateNextCA Action = "CreateNextCA"
	// Promote makes the next CA the current one and issues a leaf.
	Promote Action = "Promote"
	// Prune removes CAs that are no longer needed.
	Prune Action = "Prune"
)

// Input is all that a decision depends on.
type Input struct {
	Bundle Bundle
	Names  Names
	Policy Policy
	Now    time.Time
	// TrustedSince is since when every webhook configuration is known to have all CAs of the bundle; zero if
	// one of them may not.
	TrustedSince time.Time
}

// Decision is the next action and its reason. The caller performs the action and decides again.
type Decision struct {
	Action Action
	// Reason is for logs.
	Reason string
	// At is when the decision changes although nothing else does. It is zero with every action but Wait.
	At time.Time
}

// rule is one reason to act. It returns Wait if it does not apply, with the time from which it will, or zero if it does
// not depend on time.
type rule func(Input) Decision

// rules returns the rules in order; the first that applies decides: first what is broken for clients now, then what will
// be, then what only needs pruning.
func rules() []rule {
	return []rule{
		leafUnusable,
		leafNamesMismatch,
		leafDue,
		caDue,
		leafIssuerMismatch,
		hasExpiredCA,
	}
}

// Decide returns the next action.
func Decide(in Input) Decision {
	wait := Decision{Action: Wait, Reason: "the certificates are up to date"}
	for _, applies := range rules() {
		d := applies(in)
		if d.Action != Wait {
			return d
		}
		if !d.At.IsZero() && (wait.At.IsZero() || d.At.Before(wait.At)) {
			wait.At = d.At
		}
	}
	return wait
}

// leafUnusable: no client accepts the leaf, so it can be replaced at once. A clock that jumped causes this too, at most
// once per jump: the new leaf is valid at the new time.
func leafUnusable(in Input) Decision {
	err := verify(in.Bundle, in.Now)
	if err == nil {
		return Decision{Action: Wait, At: expiry(in.Bundle.Leaf.Certificate)}
	}
	action := Regenerate
	if checkSigner(in.Bundle.CA, in.Now) == nil {
		action = IssueLeaf
	} else if checkSigner(in.Bundle.Next, in.Now) == nil {
		action = Promote
	}
	return Decision{Action: action, Reason: fmt.Sprintf("the leaf cannot be used: %v", err)}
}

// leafNamesMismatch: the Service or the address has another name now.
func leafNamesMismatch(in Input) Decision {
	if covers(in.Bundle.Leaf.Certificate, in.Names) || checkSigner(in.Bundle.CA, in.Now) != nil {
		return Decision{Action: Wait} // Without a CA, caDue comes first.
	}
	return Decision{Action: IssueLeaf, Reason: "the names of the leaf do not match"}
}

// leafDue: the leaf has reached two thirds of its lifetime. A new leaf would not live longer than its CA; if the old one
// lives as long, caDue replaces both.
func leafDue(in Input) Decision {
	leaf, ca := in.Bundle.Leaf.Certificate, in.Bundle.CA
	if checkSigner(ca, in.Now) != nil || !leaf.NotAfter.Before(ca.Certificate.NotAfter) {
		return Decision{Action: Wait}
	}
	if at := due(leaf); in.Now.Before(at) {
		return Decision{Action: Wait, At: at}
	}
	return Decision{Action: IssueLeaf, Reason: "the leaf has reached two thirds of its lifetime"}
}

// caDue: the CA has reached two thirds of its lifetime, or can no longer sign. The leaf is valid, so there is time for
// the order that loses no request: create the next CA, let clients trust it, let it sign.
func caDue(in Input) Decision {
	reason := "the CA has reached two thirds of its lifetime"
	if err := checkSigner(in.Bundle.CA, in.Now); err != nil {
		reason = fmt.Sprintf("the CA cannot be used: %v", err)
	} else if at := due(in.Bundle.CA.Certificate); in.Now.Before(at) && checkSigner(in.Bundle.Next, in.Now) != nil {
		return Decision{Action: Wait, At: at}
	}
	if checkSigner(in.Bundle.Next, in.Now) != nil {
		return Decision{Action: CreateNextCA, Reason: reason}
	}
	return onceTrusted(in, Promote, reason)
}

// leafIssuerMismatch: the leaf is trusted, but the current CA did not issue it. Only a repaired bundle has this.
func leafIssuerMismatch(in Input) Decision {
	ca := in.Bundle.CA
	if checkSigner(ca, in.Now) != nil || in.Bundle.Leaf.Certificate.CheckSignatureFrom(ca.Certificate) == nil {
		return Decision{Action: Wait}
	}
	return onceTrusted(in, IssueLeaf, "another CA issued the leaf")
}

// hasExpiredCA: a CA has expired, and with it every leaf that it signed; or the next CA cannot be used.
func hasExpiredCA(in Input) Decision {
	if in.Bundle.Next != (KeyPair{}) && checkSigner(in.Bundle.Next, in.Now) != nil {
		return Decision{Action: Prune, Reason: "the next CA cannot be used"}
	}
	var first time.Time
	for _, ca := range in.Bundle.Previous {
		if in.Now.After(ca.NotAfter) {
			return Decision{Action: Prune, Reason: "a CA has expired"}
		}
		if at := expiry(ca); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return Decision{Action: Wait, At: first}
}

// onceTrusted delays an action until every API server has had time to trust the CAs.
func onceTrusted(in Input, action Action, reason string) Decision {
	if in.TrustedSince.IsZero() {
		return Decision{Action: Wait} // The rotator decides again once they are trusted.
	}
	if at := in.TrustedSince.Add(in.Policy.Overlap); in.Now.Before(at) {
		return Decision{Action: Wait, At: at}
	}
	return Decision{Action: action, Reason: reason}
}

// due is when a certificate reaches two thirds of its lifetime.
func due(certificate *x509.Certificate) time.Time {
	return certificate.NotBefore.Add(certificate.NotAfter.Sub(certificate.NotBefore) * 2 / 3)
}

// expiry is the first moment at which a certificate has expired: NotAfter is the last at which it has
// not.
func expiry(certificate *x509.Certificate) time.Time {
	return certificate.NotAfter.Add(time.Nanosecond)
}
