// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Where everything of the drawing is, for a width in pixels. The flow is a loop: out of the API server along the upper row
// to the queue, back along the lower row, through the sync, into the API server. Text keeps its size; gaps give way.

const margin = 2;
const upper = { y: 18, height: 86 };
const lower = { y: 152, height: 124 };
export const height = 324;

const row = ["watch", "fifo", "store", "handler", "queue"];
const sync = ["observe", "consistency", "render", "plan", "apply", "status"];

export function layout(width) {
  const roomy = width >= 1000;
  const gap = roomy ? 34 : 18;
  const api = { x: margin, y: upper.y, width: roomy ? 104 : 74, height: lower.y + lower.height - upper.y };
  // The way back from the outcome to the queue runs along the right edge.
  const right = width - margin - (roomy ? 26 : 16);
  const nodes = new Map();

  const left = api.x + api.width + gap;
  const each = (right - left - gap * (row.length - 1)) / row.length;
  row.forEach((id, i) => nodes.set(id, { x: left + i * (each + gap), y: upper.y, width: each, height: upper.height }));

  const queue = nodes.get("queue");
  nodes.set("worker", { x: queue.x, y: lower.y + 20, width: queue.width, height: 84 });
  const group = { x: left, y: lower.y, width: queue.x - gap - left, height: lower.height };
  const padding = roomy ? 14 : 6;
  const between = roomy ? 16 : 8;
  const inner = (group.width - 2 * padding - between * (sync.length - 1)) / sync.length;
  sync.forEach((id, i) => nodes.set(id, {
    x: group.x + group.width - padding - inner - i * (inner + between), y: lower.y + 34, width: inner, height: 74, small: true,
  }));
  nodes.set("outcome", { x: group.x + padding, y: lower.y + lower.height + 14, width: Math.max(220, inner * 2 + between), height: 28, pill: true });
  return { width, height, roomy, api, group, nodes, links: links(nodes, api, group), returns: returning(nodes) };
}

const middle = (box) => box.y + box.height / 2;

function links(nodes, api, group) {
  const at = (id) => nodes.get(id);
  const forth = (from, to, y = middle(to)) => `M${from.x + from.width} ${y}H${to.x - 3}`;
  const back = (from, to, y = middle(from)) => `M${from.x} ${y}H${to.x + to.width + 3}`;
  const list = [{ id: "watch", path: forth(api, at("watch")) }];
  for (let i = 1; i < row.length; i++) list.push({ id: row[i], path: forth(at(row[i - 1]), at(row[i])) });
  const queue = at("queue");
  const worker = at("worker");
  list.push({ id: "worker", path: `M${worker.x + worker.width / 2} ${queue.y + queue.height}V${worker.y - 3}` });
  list.push({ id: "observe", path: back(worker, at("observe"), middle(at("observe"))) });
  for (let i = 1; i < sync.length; i++) list.push({ id: sync[i], path: back(at(sync[i - 1]), at(sync[i])) });
  list.push({ id: "apply", writes: true, path: back(at("status"), api) });
  const status = at("status");
  list.push({ id: "outcome", path: `M${status.x + status.width / 2} ${status.y + status.height}V${at("outcome").y - 3}` });
  // What a sync reads, it reads from the store.
  const store = at("store");
  const observe = at("observe");
  const from = store.x + store.width / 2;
  const to = observe.x + observe.width / 2;
  const turn = (store.y + store.height + group.y) / 2;
  list.push({ id: "reads", reads: true, path: `M${from} ${store.y + store.height}V${turn}H${to}V${observe.y - 3}` });
  return list;
}

/** The way of a key that comes back: from the outcome along the bottom and up into the queue. */
function returning(nodes) {
  const queue = nodes.get("queue");
  const outcome = nodes.get("outcome");
  const y = middle(outcome);
  const edge = queue.x + queue.width + 12;
  const corner = 8;
  return {
    path: `M${outcome.x + outcome.width} ${y}H${edge - corner}Q${edge} ${y} ${edge} ${y - corner}V${middle(queue) + corner}Q${edge} ${middle(queue)} ${edge - corner} ${middle(queue)}H${queue.x + queue.width + 3}`,
    label: { x: queue.x + queue.width / 2, y: y - 9 },
  };
}
