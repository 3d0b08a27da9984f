import { count, flag, listOf, numbers, optional, record, type Shape, text } from './body-shape.ts';

const object = record({
  apiVersion: text(),
  kind: text(),
  name: text(),
  namespace: optional(text()),
});

const child = record({
  id: text(),
  kind: text(),
  apiVersion: text(),
  namespace: text(),
  cluster: optional(text()),
  name: text(),
  verdict: text(),
  message: text(),
  detail: text(),
  digest: text(),
});

const request = record({ verb: text(), object: text(), code: count, durationMs: count });

const reconcile = record({
  number: count,
  time: text(),
  durationMs: count,
  queuedMs: count,
  trigger: record({ kind: text(), text: text(), objects: listOf(object) }),
  revision: text(),
  children: listOf(child),
  requests: listOf(request),
  phases: listOf(record({ name: text(), durationMs: count })),
  status: text(),
  isReady: flag,
  end: text(),
  reason: text(),
});

/** More records than a runtime keeps of a resource are none of a runtime. */
const maxRecords = 1_000;

/** What a runtime answers about a resource. It may be another version, or another program at its address. */
export const recordsPageShape: Shape = record({
  process: text(),
  records: listOf(reconcile, maxRecords),
});

/** What it answers about its work queues. */
export const queuesShape: Shape = record({ queues: numbers });
