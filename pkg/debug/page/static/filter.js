// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// What the filter leaves, and in which order.
import { limits } from "./model.js";
import { nameOf } from "./format.js";

const contains = (text, part) => text.toLowerCase().includes(part.toLowerCase());

function nameFits(filter, name) {
  if (filter.namespace && name?.namespace !== filter.namespace) return false;
  return !filter.text || contains(nameOf(name), filter.text.trim());
}

export const isFiltering = (filter) => Boolean(filter.namespace || filter.resource || filter.text.trim());

/** An event fits if its key does, or the object that it happened to. */
export function eventFits(filter, event) {
  if (filter.resource && event.resource !== filter.resource) return false;
  if (!filter.namespace && !filter.text.trim()) return true;
  return (event.key && nameFits(filter, event.key)) || (event.object && nameFits(filter, event.object)) || false;
}

export const keyFits = (filter, key) => nameFits(filter, key);

/** The events that the history steps through: those of the followed key or the selected stage, if there is one. */
export function shownEvents(state) {
  const { fetched, filter, selected } = state;
  const followed = selected?.key ? nameOf(selected.key) : "";
  // Of one key the controller holds more than the page.
  if (followed && fetched.data?.events) return fetched.data.events;
  return state.events.filter((event) => {
    if (followed) return nameOf(event.key) === followed;
    if (selected?.stage && event.stage !== selected.stage) return false;
    return eventFits(filter, event);
  });
}

/** Failing keys first, then the ones that moved last. Returns at most limits.rows of each, and how many there are. */
export function shownKeys(state) {
  const { filter } = state;
  const failing = state.failing.filter((key) => keyFits(filter, key));
  const known = new Set(state.failing.map(nameOf));
  const recent = [];
  for (const event of [...state.recent.values()].reverse()) {
    if (known.has(nameOf(event.key)) || !keyFits(filter, event.key)) continue;
    if (filter.resource && event.resource && event.resource !== filter.resource) continue;
    recent.push(event);
  }
  return { failing: failing.slice(0, limits.rows), recent: recent.slice(0, limits.rows), total: failing.length + recent.length };
}

/** The choices of the filter: what has been seen. */
export function choices(state) {
  const namespaces = new Set(state.failing.map((key) => key.namespace));
  for (const event of state.recent.values()) namespaces.add(event.key.namespace);
  for (const resource of state.resources) if (resource.namespace) namespaces.add(resource.namespace);
  if (state.filter.namespace) namespaces.add(state.filter.namespace);
  const resources = new Set(state.resources.map((resource) => resource.resource));
  if (state.filter.resource) resources.add(state.filter.resource);
  return { namespaces: [...namespaces].filter(Boolean).sort(), resources: [...resources].sort() };
}
