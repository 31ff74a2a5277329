// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Events as sentences.
import { bytes, clock, count, duration, nameOf, short, words } from "./format.js";

/** The resource's name in the singular, well enough for a sentence: deployments.apps → deployment. */
export function kind(resource) {
  const [plural, subresource] = short(resource?.split("/")[0]) ? [short(resource.split("/")[0]), resource.split("/")[1]] : ["object"];
  const singular = plural.endsWith("ies") ? `${plural.slice(0, -3)}y` : /(sses|xes|ches)$/.test(plural) ? plural.slice(0, -2) : plural.replace(/s$/, "");
  return subresource ? `${singular} ${subresource}` : singular;
}

const children = (n) => `${count(n)} ${n === 1 ? "child" : "children"}`;
const times = (n) => (n === 1 ? "once" : n === 2 ? "twice" : `${count(n)} times`);
const changed = { ADDED: "added", MODIFIED: "changed", DELETED: "deleted" };
const wrote = { create: "Created", apply: "Applied", patch: "Patched", update: "Updated", delete: "Deleted", get: "Read" };

/** The object, told apart from the key only where it has another name. */
function object(event) {
  const name = event.object && nameOf(event.object) !== nameOf(event.key) ? ` ${event.object.name}` : "";
  return `${kind(event.resource)}${name}`;
}

const ofWatch = {
  Listed: (e) => `Listed ${e.resource}: ${count(e.count)} objects`,
  WatchStarted: (e) => `Watch of ${e.resource} opened${e.oldResourceVersion ? `, after version ${e.oldResourceVersion}` : ", beginning with the whole state"}`,
  WatchEvent: (e) => `Event of the watch: ${object(e)} ${changed[e.reason] ?? e.reason}`,
  Bookmark: (e) => `Bookmark of ${e.resource}: all changes have arrived up to version ${e.resourceVersion}`,
  InitialEventsEnd: (e) => `The whole state of ${e.resource} has arrived`,
  WatchEnded: (e) => `Watch of ${e.resource} ended${e.reason ? `: ${e.reason}` : ""}`,
  Requested: (e) => `HTTP ${e.verb} of ${e.resource}${e.code ? ` answered ${e.code}` : ""}${e.bytes ? `, ${bytes(e.bytes)}` : ""}`,
};

const ofKey = {
  Handled: (e) => `Handler called: ${object(e)} ${words(e.reason).toLowerCase()}`,
  Enqueued: (e) => `Queued: ${words(e.reason)}`,
  Delayed: (e) => `Comes back${e.due ? ` ${later(e)}` : ""}${e.reason ? `: ${words(e.reason).toLowerCase()}` : ""}`,
  Retrying: (e) => `Retries with back-off${e.due ? ` ${later(e)}` : ""}${e.failures ? `, failed ${times(e.failures)} in a row` : ""}`,
  Started: (e) => `A worker took the key${e.milliseconds === undefined ? "" : ` after ${duration(e.milliseconds)} in the queue`}`,
};

const ofSync = {
  Observed: (e) => `Read the Application and ${children(e.count ?? 0)} from the caches`,
  Unchanged: () => "Nothing has changed since the last successful sync",
  NotFound: () => "The Application no longer exists",
  Fresh: () => "The caches have seen our last writes",
  Stale: (e) => `The cache${e.resource ? ` of ${e.resource}` : ""} has not seen our last write yet`,
  Rendered: (e) => `Rendered ${children(e.count ?? 0)}`,
  Planned: (e) => (e.count ? `${count(e.count)} ${e.count === 1 ? "child needs" : "children need"} a change` : "No child needs a change"),
  Step: (e) => `${e.result} ${object(e)}${e.reason ? `: ${e.reason}` : ""}`,
  Wrote: (e) => (e.result && e.result !== "Success" ? `${words(e.verb)} of ${object(e)} was refused: ${words(e.result)}` : `${wrote[e.verb] ?? e.verb} ${object(e)}`),
  Status: (e) => ({ Written: "Status written", Unchanged: "Status unchanged: not written", Deferred: "Status change batched: written within a second", Failed: "Status could not be written" })[e.result] ?? `Status: ${e.result}`,
  Synced: (e) => `Sync ended: ${words(e.result)}`,
};

const sentences = { ...ofWatch, ...ofKey, ...ofSync };

function later(event) {
  const wait = new Date(event.due) - new Date(event.time);
  return wait < 1 ? "at once" : `in ${duration(wait)}`;
}

/** A type of a newer controller than this page is shown by its name. */
export const sentence = (event) => sentences[event.type]?.(event) ?? [words(event.type), event.reason].filter(Boolean).join(": ");

/** What is worth a second line: versions, codes, where it went wrong. */
export function details(event) {
  const parts = [];
  if (event.oldResourceVersion && event.resourceVersion) parts.push(`version ${event.oldResourceVersion} → ${event.resourceVersion}`);
  else if (event.resourceVersion && event.type !== "Bookmark") parts.push(`version ${event.resourceVersion}`);
  if (event.type === "Wrote" && event.code) parts.push(`HTTP ${event.code}`);
  if (event.type === "Enqueued" && event.due && new Date(event.due) - new Date(event.time) >= 1000) parts.push(`may wait until ${clock(event.due, false)}`);
  if (event.stage !== "queue" && event.failures) parts.push(`failed ${times(event.failures)} in a row`);
  return parts;
}

const badResults = new Set(["Failed", "Blocked", "Invalid"]);
const warnTypes = new Set(["Stale", "Retrying", "WatchEnded"]);

/** bad, warn, good or nothing. */
export function tone(event) {
  if (event.error || badResults.has(event.result)) return "bad";
  if (event.type === "Wrote") return event.result && event.result !== "Success" ? "bad" : event.verb === "get" ? "" : "good";
  if (warnTypes.has(event.type) || event.result === "Stale") return "warn";
  return "";
}

export const verdictTone = (verdict) => ({ Succeeded: "good", Stale: "warn", Blocked: "bad", Failed: "bad", Invalid: "bad" })[verdict] ?? "";
