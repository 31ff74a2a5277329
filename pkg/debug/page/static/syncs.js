// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Orders the events of one key into syncs, each with what led to it.

/**
 * An event that came before a worker took the key is a cause of that sync; what came since waits for the next one. Those of
 * a sync have its ID, also when it has ended: what its outcome arranged.
 */
export function bySync({ syncs, events }) {
  const groups = new Map((syncs ?? []).map((sync) => [sync.id, { id: sync.id, sync, causes: [], events: [] }]));
  let waiting = [];
  for (const event of events ?? []) {
    const id = event.type === "Started" ? event.sequence : event.sync;
    if (!id) {
      waiting.push(event);
      continue;
    }
    if (!groups.has(id)) groups.set(id, { id, sync: null, causes: [], events: [] });
    const group = groups.get(id);
    if (event.type === "Started") {
      group.causes = waiting;
      waiting = [];
    }
    group.events.push(event);
  }
  return { groups: [...groups.values()].sort((a, b) => b.id - a.id), waiting };
}

/** Where the time went, from the queue to the status, in the order of the stages. */
export function spent(sync) {
  const parts = [{ stage: "queue", milliseconds: sync.waitedMilliseconds }, ...(sync.stages ?? [])];
  return parts.filter(({ milliseconds }) => milliseconds > 0);
}
