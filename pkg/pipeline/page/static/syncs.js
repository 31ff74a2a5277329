// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Orders the events of one key into syncs, each with what led to it.

const arranged = new Set(["Delayed", "Retrying"]);

/**
 * An event that came before a worker took the key is a cause of that sync; what came since waits for the next one. When the
 * key comes back is what the sync before has arranged.
 */
export function bySync({ syncs, events }) {
  const groups = new Map((syncs ?? []).map((sync) => [sync.id, { id: sync.id, sync, causes: [], events: [] }]));
  let waiting = [];
  let last;
  for (const event of events ?? []) {
    const id = event.type === "Started" ? event.sequence : event.sync || (arranged.has(event.type) ? last : undefined);
    if (!id) {
      waiting.push(event);
      continue;
    }
    last = id;
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
