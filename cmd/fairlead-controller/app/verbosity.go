// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
)

// maxVerbosity is the highest log level. From level 8 on, client-go logs the bodies of requests and responses: among
// them the keys of the certificates, the Secrets that pods use, and the tokens of clients that read the metrics.
const maxVerbosity = 7

// limitVerbosity lowers the levels of the flags to maxVerbosity, and reports whether any was higher. It covers what
// is logged without a context.
func limitVerbosity(logging *logsapi.LoggingConfiguration) (lowered bool) {
	limit := func(level *logsapi.VerbosityLevel) {
		if *level > maxVerbosity {
			*level, lowered = maxVerbosity, true
		}
	}
	limit(&logging.Verbosity)
	for i := range logging.VModule {
		limit(&logging.VModule[i].Verbosity)
	}
	return lowered
}

// withoutBodies limits the logger of the context to maxVerbosity, for callers of Run with their own logger.
func withoutBodies(ctx context.Context) context.Context {
	logger := klog.FromContext(ctx)
	if !logger.V(maxVerbosity + 1).Enabled() {
		return ctx
	}
	return klog.NewContext(ctx, logger.WithSink(limitedSink{logger.GetSink()}))
}

// limitedSink logs nothing above maxVerbosity.
type limitedSink struct{ klog.LogSink }

func (s limitedSink) Enabled(level int) bool {
	return level <= maxVerbosity && s.LogSink.Enabled(level)
}

func (s limitedSink) WithValues(keysAndValues ...any) klog.LogSink {
	return limitedSink{s.LogSink.WithValues(keysAndValues...)}
}

func (s limitedSink) WithName(name string) klog.LogSink {
	return limitedSink{s.LogSink.WithName(name)}
}

// WithCallDepth preserves the lines of callers that log through helpers.
func (s limitedSink) WithCallDepth(depth int) klog.LogSink {
	if sink, ok := s.LogSink.(interface{ WithCallDepth(int) klog.LogSink }); ok {
		return limitedSink{sink.WithCallDepth(depth)}
	}
	return s
}
