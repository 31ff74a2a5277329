// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// What each stage is, in plain words, and where its code is. A test of the page looks whether the files exist.

const kubernetes = "k8s.io/client-go";

/** The stages in the order of the flow. `unit` is what the total counts; `depth` what is in the stage. */
export const stages = [
  {
    id: "watch", title: "List / watch", unit: "watch events", depth: "open watches",
    text: [
      "One request for each resource stays open, and the API server sends every change down it as it happens. The first answer is the whole state, streamed or as a list; from there on each change carries the resourceVersion after which to go on.",
      "A watch ends now and then; the next one begins where it ended. Only when the API server no longer has that version (410 Gone) everything is listed again.",
    ],
    code: [["pkg/informer/informers.go", "makes the informers: which resources, restricted to our label"]],
    library: `${kubernetes}/tools/cache/reflector.go`,
  },
  {
    id: "fifo", title: "FIFO", unit: "events", depth: "waiting",
    text: [
      "The reflector puts events in at one end, the informer takes them out at the other, one by one and in order. It is normally empty: what waits here comes faster than the cache can take it. A slow handler holds nothing up here, for each has a buffer of its own.",
    ],
    code: [["pkg/informer/transform.go", "runs before an object is stored, and throws away what no sync reads"]],
    library: `${kubernetes}/tools/cache/the_real_fifo.go`,
  },
  {
    id: "store", title: "Store", unit: "updates", depth: "objects",
    text: [
      "The cache: the last known state of every object, with indexes. It changes before any handler is called, so a handler's reader finds at least what the handler was told.",
      "Syncs read here, and hardly anywhere else; that is why at rest they cost the API server nothing.",
    ],
    code: [["pkg/informer/index.go", "finds the children of an Application by owner or label"], ["pkg/informer/children.go", "one kind of child, kept as bytes and unpacked for who looks"]],
    library: `${kubernetes}/tools/cache/thread_safe_store.go`,
  },
  {
    id: "handler", title: "Handlers", unit: "calls",
    text: [
      "For each change a handler chooses the keys that it concerns: namespace and name of Applications. It decides nothing else. A key too many costs one sync that finds nothing to do.",
    ],
    code: [["pkg/controller/handlers.go", "an event becomes a key"]],
    library: `${kubernetes}/tools/cache/shared_informer.go`,
  },
  {
    id: "queue", title: "Queue", unit: "keys queued", depth: "ready",
    text: [
      "A key is in it at most once, however many events ask for it, and is never worked on twice at a time: what arrives meanwhile makes it dirty, and it comes again afterwards.",
      "The earliest deadline goes first. A change by somebody is due at once; what was merely listed may wait 30 seconds. Failed keys come back after 50 ms, then twice that, up to 30 s. No key is ever dropped.",
    ],
    code: [["pkg/controller/queue.go", "the work queue, and how long failures back off"], ["pkg/controller/deadlines.go", "the order in it"]],
    library: `${kubernetes}/util/workqueue/queue.go`,
  },
  {
    id: "worker", title: "Workers", unit: "syncs", depth: "busy",
    text: ["Each worker takes a key, syncs it, and says that it is done. A panic becomes a failure of that key alone."],
    code: [["pkg/controller/worker.go", "get, sync, done"], ["pkg/controller/sync.go", "the table of contents of a sync"]],
  },
  {
    id: "observe", title: "Observe", unit: "snapshots",
    text: ["Takes the Application and its children from the caches, as one value. Everything after this looks at nothing else."],
    code: [["pkg/controller/observe.go", "from the caches to a snapshot"]],
  },
  {
    id: "freshness", title: "Fresh?", unit: "answers",
    text: [
      "Caches lag behind. If they have not yet seen what the last sync of this key wrote, acting on them would do the same again: so this sync ends here, and comes back when they have.",
    ],
    code: [["pkg/consistency/store.go", "remembers the resourceVersion of each write"]],
  },
  {
    id: "render", title: "Render", unit: "renderings",
    text: ["Computes the children that there should be, with exactly the fields that Fairlead decides on. The same input gives the same output: no clock, no network."],
    code: [["pkg/render/children.go", "which children, and who renders them"]],
  },
  {
    id: "plan", title: "Plan", unit: "plans",
    text: ["Compares what should be with what is, child by child, as server-side apply would, and decides: keep, create, apply, delete, wait, refuse or hold. Each step has its reason."],
    code: [["pkg/plan/plan.go", "the decision"], ["pkg/plan/differ.go", "the comparison"]],
  },
  {
    id: "apply", title: "Apply", unit: "requests",
    text: ["The only writes. Each carries the UID that was planned for, so it cannot hit another object of the same name. An Application at rest gets none."],
    code: [["pkg/apply/writer.go", "the only writer of children"]],
  },
  {
    id: "status", title: "Status", unit: "statuses",
    text: ["Says what is: computed from the snapshot and the results, and written only if it differs. What merely moves during a rollout is gathered for a second."],
    code: [["pkg/status/status.go", "the computation"], ["pkg/controller/status.go", "the one write"]],
  },
  {
    id: "outcome", title: "Outcome", unit: "syncs ended",
    text: ["What becomes of the key: it has settled, it comes back after a while, or it failed and backs off. Then the worker takes the next one."],
    code: [["pkg/controller/outcome.go", "forget, look again, or back off"]],
  },
];

const byID = new Map(stages.map((stage) => [stage.id, stage]));

/** A stage of a newer controller than this page is shown by its name. */
export const stageOf = (id) => byID.get(id) ?? { id, title: id, unit: "events", text: [], code: [] };
