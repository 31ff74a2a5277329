// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// What the page knows: one state, and the functions that change it. Nothing here draws or waits.
import { nameOf } from "./format.js";

/** Everything that grows has an end. What is beyond it is counted, and the page says so. */
export const limits = { events: 2000, recent: 200, samples: 300, rows: 100 };

export function initialState(now) {
  return {
    connection: { state: "connecting", since: now, why: "" },
    notice: null, // what a person should know: { text, at }
    instance: "",
    started: "",
    time: "", // the controller's clock, at the last message
    working: true,
    sequence: 0,
    stages: new Map(),
    resources: [],
    queue: { ready: 0, processing: 0, dirty: 0, delayed: 0, workers: 0 },
    failing: [],
    events: [], // oldest first
    recent: new Map(), // key → its newest event; the key that moved last is last
    samples: [], // numbers over time, for the charts
    received: 0, // events that came over the stream
    missed: 0, // events that the controller dropped before they came here
    paused: null, // or { cursor: a sequence, held: what came since }
    filter: { namespace: "", resource: "", text: "" },
    selected: null, // or { stage } or { key: { namespace, name } }
    fetched: { of: "", data: null, error: "" }, // what the selected thing contains
    cache: { resource: "", namespace: "", index: "", value: "", object: null },
    asTable: false,
    onlyWrites: false, // of a followed key only the syncs that wrote or failed
    theme: "system",
  };
}

/** A snapshot replaces everything that came over the stream. */
export function takeSnapshot(state, snapshot, now) {
  const restarted = state.instance !== "" && state.instance !== snapshot.instance;
  const skipped = !restarted && state.instance !== "" && snapshot.events?.length > 0 && snapshot.events[0].sequence > state.sequence + 1;
  if (restarted) {
    state.notice = { text: "The controller was restarted. What was recorded before is gone; this is the new one.", at: now };
    state.paused = null;
  }
  if (restarted || skipped || state.instance === "") {
    state.events = [];
    state.recent = new Map();
    state.samples = [];
    state.sequence = 0;
  }
  if (skipped) state.missed += 1;
  state.instance = snapshot.instance;
  state.started = snapshot.started;
  take(state, snapshot, false);
}

/** A delta adds events and replaces the numbers, if it has any. */
export function takeDelta(state, delta) {
  take(state, delta, true);
}

/** Only the events of a delta follow each other; a snapshot has the newest ones of what is held. */
function take(state, message, follows) {
  if (state.paused) {
    hold(state.paused.held, message);
    return;
  }
  state.time = message.time;
  state.working = message.working;
  if (message.resources) state.resources = message.resources;
  if (message.queue) state.queue = message.queue;
  if (message.failing) state.failing = message.failing;
  if (message.stages) {
    state.stages = new Map(message.stages.map((stage) => [stage.id, stage]));
    sample(state);
  }
  addEvents(state, message.events ?? [], follows);
}

/** A message that comes while the page is paused waits, with the same limits. */
function hold(held, message) {
  for (const part of ["time", "working", "stages", "resources", "queue", "failing"]) {
    if (message[part] !== undefined) held.message[part] = message[part];
  }
  held.events.push(...(message.events ?? []));
  held.count += message.events?.length ?? 0;
  if (held.events.length > limits.events) held.events.splice(0, held.events.length - limits.events);
}

function addEvents(state, events, follows) {
  for (const event of events) {
    if (event.sequence <= state.sequence) continue; // A snapshot repeats the newest ones.
    if (follows) state.missed += event.sequence - state.sequence - 1;
    state.sequence = event.sequence;
    state.received += 1;
    state.events.push(event);
    if (event.key) {
      const key = nameOf(event.key);
      state.recent.delete(key); // so that it becomes the last
      state.recent.set(key, event);
    }
  }
  if (state.events.length > limits.events) state.events.splice(0, state.events.length - limits.events);
  for (const key of state.recent.keys()) {
    if (state.recent.size <= limits.recent) break;
    state.recent.delete(key);
  }
}

function sample(state) {
  const rates = {};
  for (const [id, stage] of state.stages) rates[id] = { rate: stage.rate ?? 0, depth: stage.depth ?? null, latency: stage.latency?.median ?? null };
  state.samples.push({ at: new Date(state.time).getTime() / 1000, stages: rates, delayed: state.queue.delayed });
  if (state.samples.length > limits.samples) state.samples.shift();
}

export function pause(state) {
  if (state.paused) return;
  state.paused = { cursor: state.events.at(-1)?.sequence ?? 0, held: { message: {}, events: [], count: 0 } };
}

/** Resume shows what came meanwhile. */
export function resume(state) {
  if (!state.paused) return;
  const { message, events } = state.paused.held;
  state.paused = null;
  if (message.time) take(state, { ...message, events }, false);
}

export function togglePause(state) {
  return state.paused ? resume(state) : pause(state);
}

/** Step moves the cursor among the events, which are those that the page shows. */
export function step(state, events, by) {
  pause(state);
  if (events.length === 0) return;
  // The page stands at the newest event up to the cursor, which may be one that a filter has hidden since.
  const at = Math.max(0, events.findLastIndex((event) => event.sequence <= state.paused.cursor));
  const next = Math.min(events.length - 1, Math.max(0, at + by));
  state.paused.cursor = events[next].sequence;
}

export function jump(state, sequence) {
  pause(state);
  state.paused.cursor = sequence;
}

export function connect(state, connection, now) {
  if (connection === "live" && state.connection.state === "lost") {
    state.notice ??= { text: "The connection is back.", at: now };
  }
  if (state.connection.state !== connection) state.connection = { state: connection, since: now, why: "" };
}

export function select(state, selected) {
  state.selected = selected;
  state.fetched = { of: "", data: null, error: "" };
  state.cache = { resource: "", namespace: "", index: "", value: "", object: null };
}
