// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Reasons of an Application's conditions that have to do with its class. In each case the last good
// children are kept.
const (
	// ReasonClassNotFound: spec.className names no ApplicationClass. It goes on once there is one.
	ReasonClassNotFound = "ClassNotFound"
	// ReasonClassNotAllowed: the class does not select the namespace of the Application, or the controller
	// cannot find out whether it does.
	ReasonClassNotAllowed = "ClassNotAllowed"
	// ReasonClassRequired: the Application names no class, no default class selects its namespace, and the
	// platform asks for one.
	ReasonClassRequired = "ClassRequired"
	// ReasonClassLimitExceeded: the spec is valid, but asks for more than its class allows.
	ReasonClassLimitExceeded = "ClassLimitExceeded"
	// ReasonClassInvalid: the spec is valid by itself, but not with the defaults of its class, which
	// are not; or the class cannot be decoded, so that its limits are unknown.
	ReasonClassInvalid = "ClassInvalid"
)

// Condition types of an ApplicationClass, beside Ready.
const (
	// ConditionDefault is there while the annotation asks for it. True: the class is the one of
	// Applications that name none.
	ConditionDefault = "Default"
)

// Reasons of an ApplicationClass's conditions, beside Applied, RollingOut and Invalid.
const (
	// ReasonDefaultClass: the class is the default.
	ReasonDefaultClass = "Default"
	// ReasonNewerDefault: a class that was created later is marked as the default too.
	ReasonNewerDefault = "NewerDefault"
)
