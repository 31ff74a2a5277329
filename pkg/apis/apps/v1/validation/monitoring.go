// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"regexp"
	"strconv"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// prometheusDuration is how the Prometheus Operator checks a duration.
var prometheusDuration = regexp.MustCompile(`^(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?$`)

func validateMonitoring(in input) field.ErrorList {
	monitoring, path := in.spec.Monitoring, in.path.Child("monitoring")
	if monitoring == nil {
		return nil
	}
	if len(in.spec.Ports) == 0 {
		return field.ErrorList{field.Forbidden(path, "monitoring needs at least one entry in ports")}
	}
	target := probed{ports: applicationPorts(in.spec), primary: in.spec.Ports[0].Name}
	errs := validateRoutePort(path.Child("port"), monitoring.Port, target)
	return append(errs, validateScrape(path, monitoring)...)
}

// validateScrape checks what does not depend on the ports.
func validateScrape(path *field.Path, monitoring *v1.Monitoring) field.ErrorList {
	var errs field.ErrorList
	if message := pathProblem(monitoring.Path, networkingv1.PathTypePrefix); message != "" {
		errs = append(errs, field.Invalid(path.Child("path"), monitoring.Path, message))
	}
	if !prometheusDuration.MatchString(monitoring.Interval) {
		errs = append(errs, field.Invalid(path.Child("interval"), monitoring.Interval, "must be a duration as Prometheus writes it: e.g. 30s or 1m"))
	} else if monitoring.Interval != "" && isShort(monitoring.Interval) {
		errs = append(errs, field.Invalid(path.Child("interval"), monitoring.Interval, "must be at least 5s: each scrape costs Prometheus, which serves others too"))
	}
	return errs
}

// minInterval is the shortest interval between two scrapes.
const minInterval = 5 * time.Second

// prometheusUnits are the units of Prometheus durations.
var prometheusUnits = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
	"d": 24 * time.Hour, "w": 7 * 24 * time.Hour, "y": 365 * 24 * time.Hour,
}

var prometheusPart = regexp.MustCompile(`(\d+)(ms|[ywdhms])`)

// isShort reports whether a duration of Prometheus is less than minInterval.
func isShort(duration string) bool {
	var total time.Duration
	for _, part := range prometheusPart.FindAllStringSubmatch(duration, -1) {
		unit := prometheusUnits[part[2]]
		count, err := strconv.ParseInt(part[1], 10, 64)
		if err != nil || count >= int64(minInterval/unit)+1 {
			return false // One long part is enough, and the sum might overflow.
		}
		total += time.Duration(count) * unit
	}
	return total < minInterval
}

// validateMonitoringDefaults skips the port, because a class cannot know the ports of its Applications.
func validateMonitoringDefaults(path *field.Path, monitoring *v1.Monitoring) field.ErrorList {
	if monitoring == nil {
		return nil
	}
	var errs field.ErrorList
	if monitoring.Port != "" {
		errs = invalid(path.Child("port"), monitoring.Port, validation.IsValidPortName(monitoring.Port))
	}
	return append(errs, validateScrape(path, monitoring)...)
}
