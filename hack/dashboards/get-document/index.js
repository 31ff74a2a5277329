// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

module.exports = (node) => node?.ownerDocument ?? node?.document ?? node
