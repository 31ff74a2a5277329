// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// What each stage does, in plain words, where its code is, and the chapter of the book about it. A test looks for the files.

const kubernetes = "k8s.io/client-go";

/** The stages in the order of the flow. `unit` is what the total counts; `depth` what is in the stage. */
export const stages = [
  {
    id: "watch", title: "List / watch", unit: "watch events", depth: "open watches",
    text: [
      "The controller keeps one watch open for each resource. The API server sends every change over it as it happens. The watch begins with the whole state, streamed or as a list; each later change carries a resourceVersion, from which the next watch continues.",
      "Watches end now and then, and the next one continues where the last one ended. If the API server no longer has that version (410 Gone), the reflector relists.",
    ],
    code: [["pkg/informer/informers.go", "makes the informers: which resources, restricted to our label"], ["docs/informers/01-list-and-watch/README.md", "explains it, with a lab"], ["docs/informers/03-reflector/README.md", "explains it, with a lab"]],
    library: `${kubernetes}/tools/cache/reflector.go`,
  },
  {
    id: "fifo", title: "FIFO", unit: "events", depth: "waiting",
    text: [
      "The reflector appends events; the informer takes them out in order, in batches of up to 1,000 events about different objects. The queue is normally empty. Events that wait here arrive faster than the cache can take them.",
      "A slow handler does not hold up this queue: each handler has a buffer of its own, which grows instead. A slow transform or index function does. While fewer than 2,000 events wait, the reflector can append during processing; beyond that it waits.",
    ],
    code: [["pkg/informer/transform.go", "runs before an object is stored, and drops what no sync reads"], ["docs/informers/04-fifo/README.md", "explains it, with a lab"]],
    library: `${kubernetes}/tools/cache/the_real_fifo.go`,
  },
  {
    id: "store", title: "Store", unit: "updates", depth: "objects",
    text: [
      "The cache: the last known state of every object, with indexes. The informer updates it before it calls any handler, so a handler that reads the cache finds what it was called for, or something newer.",
      "Syncs read here. That is why Applications that do not change cost the API server nothing.",
    ],
    code: [["pkg/informer/index.go", "finds the children of an Application by owner or label"], ["pkg/informer/children.go", "one kind of child, kept as bytes and decoded for its readers"], ["docs/informers/05-indexer/README.md", "explains it, with a lab"]],
    library: `${kubernetes}/tools/cache/thread_safe_store.go`,
  },
  {
    id: "handler", title: "Handlers", unit: "calls",
    text: [
      "For each event a handler chooses the keys that it concerns: namespace and name of Applications. It does nothing else. A key too many costs one sync that finds nothing to do. A relist calls handlers for unchanged objects too, with equal versions.",
    ],
    code: [["pkg/controller/handlers.go", "an event becomes a key"], ["docs/informers/06-shared-informer/README.md", "explains it, with a lab"]],
    library: `${kubernetes}/tools/cache/shared_informer.go`,
  },
  {
    id: "queue", title: "Queue", unit: "keys queued", depth: "ready",
    text: [
      "A key is queued at most once, however many events ask for it, and no two workers have it at the same time. A key that is added while a worker has it is dirty and runs again afterwards.",
      "The key with the earliest deadline goes first. A change is due at once; an object that was merely listed may wait for 30 seconds. Keys of one namespace get a share of the workers and no more. A failed key comes back after 50 ms, then after twice that, up to 30 s. No key is ever dropped.",
    ],
    code: [["pkg/workqueue/queue.go", "the work queue, and how long failures back off"], ["pkg/workqueue/deadlines.go", "the order in it"], ["docs/informers/08-workqueue/README.md", "explains it, with a lab"]],
    library: `${kubernetes}/util/workqueue/queue.go`,
  },
  {
    id: "worker", title: "Workers", unit: "syncs", depth: "busy",
    text: [
      "Each worker takes a key, syncs it, and marks it done. A panic becomes a failure of that key alone.",
    ],
    code: [["pkg/controller/worker.go", "get, sync, done"], ["pkg/controller/sync.go", "syncHandler: the stages of a sync"], ["docs/informers/09-worker/README.md", "explains it, with a lab"]],
  },
  {
    id: "observe", title: "Observe", unit: "snapshots",
    text: [
      "Reads the Application and its children from the caches into one snapshot. The later stages use nothing else.",
    ],
    code: [["pkg/controller/observe.go", "from the caches to a snapshot"], ["docs/informers/07-lister/README.md", "explains it, with a lab"]],
  },
  {
    id: "consistency", title: "Consistency", unit: "answers",
    text: [
      "Caches lag behind the API server. If they have not seen what the last sync of this key wrote, a decision would repeat that write. So the sync ends here and comes back when the caches have caught up.",
    ],
    code: [["pkg/consistency/store.go", "remembers the resourceVersion of each write"], ["docs/informers/11-own-writes/README.md", "explains it, with a lab"]],
  },
  {
    id: "render", title: "Render", unit: "renderings",
    text: [
      "Computes the children that the Application should have, with exactly the fields that Fairlead decides on. The same input gives the same output: no clock, no network.",
    ],
    code: [["pkg/render/children.go", "which children, and who renders them"]],
  },
  {
    id: "plan", title: "Plan", unit: "plans",
    text: [
      "Compares the desired children with the live ones, as server-side apply would, and decides on one step for each child, with its reason.",
    ],
    code: [["pkg/plan/plan.go", "the decision"], ["pkg/plan/differ.go", "the comparison"], ["docs/informers/15-repair/README.md", "explains it, with a lab"]],
  },
  {
    id: "apply", title: "Apply", unit: "requests",
    text: [
      "The only stage that writes children. Each write carries the UID that the plan was made for, so it cannot hit another object of the same name. An Application that is as it should be gets no write.",
    ],
    code: [["pkg/apply/writer.go", "the only writer of children"], ["docs/informers/10-concurrency/README.md", "explains it, with a lab"]],
  },
  {
    id: "status", title: "Status", unit: "statuses",
    text: [
      "Computes the status from the snapshot and the results, and writes it only if it differs. Changes of counts and messages during a rollout are batched for one second.",
    ],
    code: [["pkg/status/status.go", "the computation"], ["pkg/controller/status.go", "the one write"]],
  },
  {
    id: "outcome", title: "Outcome", unit: "syncs ended",
    text: [
      "Decides what happens to the key: nothing more, a return after a delay, or a retry with back-off. Then the worker takes the next key.",
    ],
    code: [["pkg/controller/outcome.go", "done, back after a delay, or retried with back-off"]],
  },
];

const byID = new Map(stages.map((stage) => [stage.id, stage]));

/** A stage of a newer controller than this page is shown by its name. */
export const stageOf = (id) => byID.get(id) ?? { id, title: id, unit: "events", text: [], code: [] };
