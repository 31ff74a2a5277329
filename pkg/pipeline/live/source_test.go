// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import "fairlead.dev/fairlead/pkg/pipeline"

var _ Source = (*pipeline.Recorder)(nil)
