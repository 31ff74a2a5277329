// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Reasons of an Application's conditions about its class. With each of them the last good children stay.
const (
	// ReasonClassNotFound: spec.className names a class that does not exist. The sync continues once it does.
	ReasonClassNotFound = "ClassNotFound"
	// ReasonClassNotAllowed: the class does not select the namespace of the Application, or the controller cannot read
	// the namespace.
	ReasonClassNotAllowed = "ClassNotAllowed"
	// ReasonClassRequired: the Application names no class, no default class selects its namespace, and the
	// platform requires one.
	ReasonClassRequired = "ClassRequired"
	// ReasonClassLimitExceeded: the spec is valid, but asks for more than its class allows.
	ReasonClassLimitExceeded = "ClassLimitExceeded"
	// ReasonClassInvalid: the defaults of the class are invalid together with the spec, or the class cannot be decoded,
	// so that its limits are unknown.
	ReasonClassInvalid = "ClassInvalid"
)

// Condition types of an ApplicationClass, beside Ready.
const (
	// ConditionDefault is present while the class has the annotation of a default. True: Applications that name no
	// class have this one.
	ConditionDefault = "Default"
)

// Reasons of an ApplicationClass's conditions, beside Applied, RollingOut and Invalid.
const (
	// ReasonDefaultClass: the class is the default.
	ReasonDefaultClass = "Default"
	// ReasonNewerDefault: a class that was created later is marked as the default too, or one that was created in the same second and
	// comes first by name.
	ReasonNewerDefault = "NewerDefault"
)
