// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"crypto/x509"
	"fmt"
	"time"
)

// Action is one step in creating, rotating or repairing certificates.
type Action string

const (
	// Wait means that there is nothing to do before Decision.At.
	Wait Action = "Wait"
	// Regenerate creates a new CA and issues a leaf at once, because clients accept nothing that is left.
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

// Input is everything that a decision depends on.
type Input struct {
	Bundle Bundle
	Names  Names
	Policy Policy
	Now    time.Time
	// TrustedSince is the time since which every webhook configuration is known to have all CAs of the bundle. It is
	// zero if one of them may lack a CA.
	TrustedSince time.Time
}

// Decision is the next action and its reason. The caller performs the action and decides again.
type Decision struct {
	Action Action
	// Reason explains the action in logs.
	Reason string
	// At is when time alone changes the decision. Only Wait has one.
	At time.Time
}

// rule is one reason to act. If it does not apply, it returns Wait with the time from which it will apply, or zero if
// time does not change that.
type rule func(Input) Decision

// rules returns the rules in order; the first that applies decides. What clients notice now comes first, then what
// they will notice, and pruning last.
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

// leafUnusable applies if no client accepts the leaf, so that it can be replaced at once. A clock that jumped causes
// this too, at most once per jump: the new leaf is valid at the new time.
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

// leafNamesMismatch applies if the leaf lacks the current name of the Service, or the current address.
func leafNamesMismatch(in Input) Decision {
	if covers(in.Bundle.Leaf.Certificate, in.Names) || checkSigner(in.Bundle.CA, in.Now) != nil {
		return Decision{Action: Wait} // Without a CA, caDue comes first.
	}
	return Decision{Action: IssueLeaf, Reason: "the names of the leaf do not match"}
}

// leafDue applies when the leaf has reached two thirds of its lifetime. A leaf that expires with its CA is left to
// caDue, which replaces both: a new leaf could not live longer.
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

// caDue applies when the CA has reached two thirds of its lifetime, or can no longer sign. The leaf is still valid,
// so there is time for the order that loses no request: create the next CA, let clients trust it, let it sign.
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

// leafIssuerMismatch applies if clients trust the leaf, but another CA than the current one issued it. Only a
// repaired bundle is in this state.
func leafIssuerMismatch(in Input) Decision {
	ca := in.Bundle.CA
	if checkSigner(ca, in.Now) != nil || in.Bundle.Leaf.Certificate.CheckSignatureFrom(ca.Certificate) == nil {
		return Decision{Action: Wait}
	}
	return onceTrusted(in, IssueLeaf, "another CA issued the leaf")
}

// hasExpiredCA applies if a CA has expired, and with it every leaf that it signed, or if the next CA cannot be used.
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

// due returns when a certificate reaches two thirds of its lifetime.
func due(certificate *x509.Certificate) time.Time {
	return certificate.NotBefore.Add(certificate.NotAfter.Sub(certificate.NotBefore) * 2 / 3)
}

// expiry returns the first moment at which a certificate has expired. At NotAfter it is still valid.
func expiry(certificate *x509.Certificate) time.Time {
	return certificate.NotAfter.Add(time.Nanosecond)
}
