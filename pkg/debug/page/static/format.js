// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Numbers, times and names as people read them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const count = (n) => whole.format(n ?? 0);

/** A rate: one decimal while it is small, since 0.3 a second is not nothing. */
export function rate(n) {
  if (!n) return "0";
  return n < 0.05 ? "<0.1" : n < 10 ? n.toFixed(1) : whole.format(n);
}

/** A duration in milliseconds with the unit that fits it. */
export function duration(ms) {
  if (ms === undefined || ms === null) return "–";
  if (ms < 0.001) return ms > 0 ? "<1 µs" : "0 ms";
  if (ms < 1) return `${Math.max(1, Math.round(ms * 1000))} µs`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

const two = (n) => String(n).padStart(2, "0");

/** The time of day, with milliseconds: events of one change are that close together. */
export function clock(time, withMilliseconds = true) {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return "";
  const day = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return withMilliseconds ? `${day}.${String(at.getMilliseconds()).padStart(3, "0")}` : day;
}

/** How long ago, or until then. Both are the controller's times. */
export function distance(time, now) {
  const ms = new Date(time) - new Date(now);
  if (Number.isNaN(ms)) return "";
  if (Math.abs(ms) < 1000) return "now";
  return ms < 0 ? `${duration(-ms)} ago` : `in ${duration(ms)}`;
}

const binary = ["B", "KiB", "MiB", "GiB"];

export function bytes(n) {
  let size = n ?? 0;
  let unit = 0;
  for (; size >= 1024 && unit < binary.length - 1; unit++) size /= 1024;
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${binary[unit]}`;
}

/** namespace/name, as kubectl and the logs write it. */
export const nameOf = (name) => (name ? (name.namespace ? `${name.namespace}/${name.name}` : name.name) : "");

/** The words of an identifier: DeploymentUpdated → Deployment updated. */
export function words(identifier) {
  return (identifier ?? "").replace(/([a-z])([A-Z])/g, (_, before, after) => `${before} ${after.toLowerCase()}`);
}

/** The resource without its group. */
export const short = (resource) => (resource ?? "").split(".")[0];

/** RFC 3339 with nanoseconds → milliseconds with fractions, which Date alone would cut. */
export function milliseconds(time) {
  const found = /\.(\d+)/.exec(time ?? "");
  const at = Date.parse(time);
  return found ? Math.floor(at / 1000) * 1000 + Number(`0.${found[1]}`) * 1000 : at;
}
