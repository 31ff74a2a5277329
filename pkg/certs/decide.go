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
	// MakeAll makes a new CA and a leaf of it at once, because there is nothing left that a client
	// would accept, so nothing that could be lost.
	MakeAll Action = "MakeAll"
	// MakeLeaf makes a new leaf of the CA.
	MakeLeaf Action = "MakeLeaf"
	// MakeNext makes the next CA, to be trusted before it signs.
	MakeNext Action = "MakeNext"
	// Promote makes the next CA the CA, with a new leaf of it.
	Promote Action = "Promote"
	// Tidy drops the CAs that nothing needs any more.
	Tidy Action = "Tidy"
)

// Input is all that a decision depends on.
type Input struct {
	Bundle Bundle
	Names  Names
	Policy Policy
	Now    time.Time
	// TrustedSince is since when every webhook configuration has all CAs of the bundle, as far as is
	// known. Zero: they do not, or it is not known.
	TrustedSince time.Time
}

// Decision is what to do now, and why. The caller performs the action, and decides again.
type Decision struct {
	Action Action
	// Reason is for people.
	Reason string
	// At is when the next decision may be another one, if nothing else changes before. Zero with every
	// action but Wait.
	At time.Time
}

// rule is one reason to do something. It returns Wait if it does not apply, with the time from
// which on it does, or the zero time if time does not matter to it.
type rule func(Input) Decision

// rules are asked in this order; the first that applies decides. So first comes what is broken
// for clients now, then what will be, then what is only untidy.
func rules() []rule {
	return []rule{
		leafUnusable,
		leafOfOtherNames,
		leafDue,
		caDue,
		leafOfOtherCA,
		untidy,
	}
}

// Decide says what is to be done next.
func Decide(in Input) Decision {
	wait := Decision{Action: Wait, Reason: "the certificates are good"}
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

// leafUnusable: no client accepts the leaf, so there is nothing to lose by another one at once.
// A clock that has jumped comes here too, at most once per jump: what is made anew is valid under
// the new time.
func leafUnusable(in Input) Decision {
	err := verify(in.Bundle, in.Now)
	if err == nil {
		return Decision{Action: Wait, At: expiry(in.Bundle.Leaf.Certificate)}
	}
	action := MakeAll
	if usable(in.Bundle.CA, in.Now) == nil {
		action = MakeLeaf
	} else if usable(in.Bundle.Next, in.Now) == nil {
		action = Promote
	}
	return Decision{Action: action, Reason: fmt.Sprintf("the leaf cannot be used: %v", err)}
}

// leafOfOtherNames: the Service, or the address, has another name now.
func leafOfOtherNames(in Input) Decision {
	if covers(in.Bundle.Leaf.Certificate, in.Names) || usable(in.Bundle.CA, in.Now) != nil {
		return Decision{Action: Wait} // Without a CA, caDue comes first.
	}
	return Decision{Action: MakeLeaf, Reason: "the leaf is for other names"}
}

// leafDue: two thirds of the leaf's life are over. A leaf that lives as long as its CA gains
// nothing from being made anew; caDue is then about to replace both.
func leafDue(in Input) Decision {
	leaf, ca := in.Bundle.Leaf.Certificate, in.Bundle.CA
	if usable(ca, in.Now) != nil || !leaf.NotAfter.Before(ca.Certificate.NotAfter) {
		return Decision{Action: Wait}
	}
	if at := due(leaf); in.Now.Before(at) {
		return Decision{Action: Wait, At: at}
	}
	return Decision{Action: MakeLeaf, Reason: "two thirds of the life of the leaf are over"}
}

// caDue: two thirds of the CA's life are over, or it can sign no more. The leaf is good, so there is
// time for the order that loses no request: make the next one, have it trusted, let it sign.
func caDue(in Input) Decision {
	reason := "two thirds of the life of the CA are over"
	if err := usable(in.Bundle.CA, in.Now); err != nil {
		reason = fmt.Sprintf("the CA cannot be used: %v", err)
	} else if at := due(in.Bundle.CA.Certificate); in.Now.Before(at) && usable(in.Bundle.Next, in.Now) != nil {
		return Decision{Action: Wait, At: at}
	}
	if usable(in.Bundle.Next, in.Now) != nil {
		return Decision{Action: MakeNext, Reason: reason}
	}
	return onceTrusted(in, Promote, reason)
}

// leafOfOtherCA: the leaf is trusted, but the CA that signed it is not the one that signs now. Only a
// repaired bundle is so.
func leafOfOtherCA(in Input) Decision {
	ca := in.Bundle.CA
	if usable(ca, in.Now) != nil || in.Bundle.Leaf.Certificate.CheckSignatureFrom(ca.Certificate) == nil {
		return Decision{Action: Wait}
	}
	return onceTrusted(in, MakeLeaf, "the leaf is of another CA")
}

// untidy: a CA has expired, and with it every leaf that it signed; or the next one cannot be used.
func untidy(in Input) Decision {
	if in.Bundle.Next != (KeyPair{}) && usable(in.Bundle.Next, in.Now) != nil {
		return Decision{Action: Tidy, Reason: "the next CA cannot be used"}
	}
	var first time.Time
	for _, ca := range in.Bundle.Previous {
		if in.Now.After(ca.NotAfter) {
			return Decision{Action: Tidy, Reason: "a CA has expired"}
		}
		if at := expiry(ca); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return Decision{Action: Wait, At: first}
}

// onceTrusted holds an action back until every API server had the time to trust the CAs.
func onceTrusted(in Input, action Action, reason string) Decision {
	if in.TrustedSince.IsZero() {
		return Decision{Action: Wait} // Being trusted is an event of its own.
	}
	if at := in.TrustedSince.Add(in.Policy.Overlap); in.Now.Before(at) {
		return Decision{Action: Wait, At: at}
	}
	return Decision{Action: action, Reason: reason}
}

// due is when two thirds of the life of a certificate are over.
func due(certificate *x509.Certificate) time.Time {
	return certificate.NotBefore.Add(certificate.NotAfter.Sub(certificate.NotBefore) * 2 / 3)
}

// expiry is the first moment at which a certificate has expired: NotAfter is the last at which it has
// not.
func expiry(certificate *x509.Certificate) time.Time {
	return certificate.NotAfter.Add(time.Nanosecond)
}
